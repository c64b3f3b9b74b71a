//! Ahead-of-time compilation: the kernels of every case, for a device that this machine lacks.

use camino::Utf8Path;
use gpubench::catalog::{Catalog, OccupancyQuery};

use crate::archive::{ArchiveError, Contents};
use crate::broker::cases::{Case, CaseDevice, Disposition, Naming};
use crate::broker::choice::chosen::every_case;
use crate::broker::code::kernels::{self, KernelBuild};
use crate::broker::code::occupancy::Occupancies;
use crate::broker::libraries::authors::Authors;
use crate::broker::recording::recordings::{Subject, record_cases};
use crate::cdylibs::{Built, packages_of};
use gpubench_contract::Cause;
use gpubench_device::compilers::Compiler;
use gpubench_device::{Facts, FrozenFile};
use gpubench_diagnostic::{Failure, Interrupted, print_warning};
use gpubench_measure::clients::Interrupt;
use gpubench_measure::measurement::CaseFailure;

/// A target of ahead-of-time compilation.
pub(crate) struct AheadTarget {
    /// The name: `sm_90`, or a level of processors.
    pub(crate) name: String,
    /// The device that plans are recorded for.
    pub(crate) facts: Facts,
    /// The compiler.
    pub(crate) compiler: Box<dyn Compiler>,
}

/// The result of compiling for one target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ahead {
    /// Number of compiled kernels.
    pub(crate) kernels: usize,
    /// Number of sources, or instantiations of them, with compile errors.
    pub(crate) sources_that_do_not_compile: usize,
}

/// Records every case for the target's device and adds the compiled kernels to an archive. Prints a
/// warning for each case or kernel that cannot be recorded or compiled; it fails when the archive
/// runs.
///
/// # Errors
/// The user interrupts, two cases have the same name, or a file cannot be read.
pub(crate) fn compile_ahead(
    target: &AheadTarget,
    built: &Built,
    catalogs: &[Catalog],
    authors: &mut Authors<'_>,
    contents: &mut Contents,
    interrupt: &Interrupt,
) -> Result<Ahead, Failure> {
    let mut cases = every_case(built, catalogs, CaseDevice::from_facts(&target.facts))?;
    cases.retain(|case| case.disposition == Disposition::Run);
    let cache = kernels::cache_below(&built.target_directory);
    let naming = Naming::for_packages(packages_of(&built.libraries).len());
    let mut ahead = Ahead::default();
    for (library, catalog) in catalogs.iter().enumerate() {
        let of_library: Vec<&Case> = cases.iter().filter(|case| case.library == library).collect();
        // The occupancy rarely decides which kernels a plan launches, and a run records the plan
        // again.
        let mut ask = |_: &FrozenFile, _: &OccupancyQuery| Ok(1);
        let build = KernelBuild {
            compiler: &*target.compiler,
            catalog,
            cache: &cache,
            interrupt,
            most: None,
        };
        let occupancies = Occupancies::new(build, &mut ask);
        let recorded = record_cases(
            &of_library,
            library,
            &target.facts,
            authors,
            occupancies,
            Subject::Benchmarks,
        )?;
        for (case, failure) in of_library.iter().zip(&recorded) {
            // A case that skips itself needs no kernels.
            if let Err(failure) = failure
                && failure.verdict.is_failure()
            {
                warn(&target.name, Some(&case.name_as(naming)), failure);
            }
        }
        let recordings = || recorded.iter().flatten().map(|recorded| &recorded.recording);
        let modules = build.compile(recordings());
        kernels::notices(&modules).for_each(|notice| print_warning(&notice));
        if interrupt.is_set() {
            return Err(Interrupted.into());
        }
        for failure in kernels::failures(&modules) {
            ahead.sources_that_do_not_compile += usize::from(failure.cause == Cause::CompileFailed);
            warn(&target.name, None, failure);
        }
        for (source, names, image) in kernels::images(&modules, recordings()) {
            let image = Utf8Path::from_path(image).ok_or_else(|| ArchiveError::not_utf8(image))?;
            ahead.kernels += names.len();
            let source = &catalog.sources[source as usize];
            contents.add_kernels(source, names, &target.name, target.compiler.identity(), image)?;
        }
    }
    Ok(ahead)
}

/// Warns of a failure. Prints compiler messages and missing device features in full, and only the
/// first line of other messages: the run prints the rest.
fn warn(target: &str, case: Option<&str>, failure: &CaseFailure) {
    let message = match failure.cause {
        Cause::CompileFailed | Cause::Unsupported => &*failure.message,
        _ => failure.message.lines().next().unwrap_or_default(),
    };
    match case {
        Some(case) => print_warning(&format_args!("`{case}` has no kernels for {target}: {message}")),
        None => print_warning(&format_args!("not compiled for {target}: {message}")),
    }
}
