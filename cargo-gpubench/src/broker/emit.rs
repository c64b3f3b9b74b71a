//! `cargo gpubench emit`: prints the kernels of cases as PTX or SASS.

mod error;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use gpubench::catalog::{Catalog, Execution, OccupancyQuery};

use super::ahead::warn;
use super::archive::facts_for_recording;
use super::cases::{Case, CaseDevice, CaseSelection, Disposition, Naming};
use super::choice::cases_of;
use super::code::compilers::gpu_compilers;
use super::code::kernels::{self, KernelBuild, Modules};
use super::code::occupancy::Occupancies;
use super::device_choice::gpu_at_hand;
use super::options::{DeviceOptions, OutputOptions};
use super::process::{catch_interrupts, prepare_for_roles};
use super::recording::authors::{AuthorSettings, Authors};
use super::recording::recordings::{RecordedCase, record_cases};
use super::status::{first_of, status};
use crate::archive::typical_device;
use crate::build::{BuildOptions, Built, build_cdylibs};
use error::NotEmitted;
use gpubench_contract::units::counted;
use gpubench_device::compilers::{Compiler, Disassembler, GpuCompiler, Listing};
use gpubench_device::cuda::{Architecture, KernelImage};
use gpubench_device::{Facts, FrozenFile};
use gpubench_diagnostic::{ExitCode, Failure, InternalError, Interrupted, print_warning};
use gpubench_measure::clients::{Interrupt, Output};
use gpubench_report::OutputTarget;

/// The options of `cargo gpubench emit`.
#[derive(Clone, Debug)]
pub struct EmitOptions {
    /// The language to print.
    pub language: Language,
    /// The kernels to print.
    pub scope: KernelScope,
    /// The architecture to compile for; by default, that of this machine's GPU.
    pub architecture: Option<Architecture>,
    /// The GPU, and the named compilers.
    pub device: DeviceOptions,
    /// The selected cases.
    pub cases: CaseSelection,
    /// What to build and how.
    pub build: BuildOptions,
    /// Time limit for a library to list or record a benchmark.
    pub within: Duration,
    /// What to show.
    pub output: OutputOptions,
    /// Where the text goes.
    pub target: OutputTarget,
}

/// A language of compiled kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// PTX.
    Ptx,
    /// SASS.
    Sass,
}

/// The kernels to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelScope {
    /// Those that the selected cases measure.
    Measured,
    /// All kernels in their sources.
    All,
}

/// Prints the kernels of the selected cases.
///
/// # Errors
/// A crate cannot be built or listed, there is no GPU and no architecture is named, or a kernel
/// cannot be compiled or printed.
pub fn emit(options: &EmitOptions) -> Result<ExitCode, Failure> {
    options.target.ensure_writable()?;
    let listing = match options.language {
        Language::Ptx => Listing::Ptx,
        Language::Sass => Listing::Sass(Disassembler::find(&options.device.compilers)?),
    };
    let compilers = gpu_compilers(&options.device.compilers)?;
    let interrupt = catch_interrupts()?;
    let built = build_cdylibs(&options.build, interrupt.flag())?;
    built.notices.iter().for_each(|notice| print_warning(notice));
    prepare_for_roles();
    let (architecture, facts) = target(options, &interrupt)?;
    let compiler = GpuCompiler::new(architecture, compilers);
    let settings = AuthorSettings {
        within: options.within,
        output: Output::Captured,
        interrupt: &interrupt,
    };
    let (mut authors, catalogs) = Authors::start(&built.libraries, settings)?;
    let cases = cases_of(&built, &catalogs, CaseDevice::of(&facts), &options.cases)?;
    let emission = Emission {
        options,
        listing,
        built: &built,
        compiler: match options.language {
            Language::Ptx => compiler.to_ptx(),
            Language::Sass => compiler,
        },
        facts,
        interrupt: &interrupt,
    };
    emission.print(&cases, &catalogs, &mut authors)
}

/// Returns the architecture to compile for, and the device that plans are recorded for.
fn target(options: &EmitOptions, interrupt: &Interrupt) -> Result<(Architecture, Facts), Failure> {
    let named = options
        .architecture
        .map(|architecture| (architecture, typical_device(architecture.capability)));
    let (architecture, device) = match named {
        Some(named) => named,
        None => {
            let facts = gpu_at_hand(&options.device, interrupt)?;
            (Architecture::of_capability(facts.device.capability), facts.device)
        }
    };
    Ok((architecture, facts_for_recording(device)))
}

/// The printing of the kernels of some libraries.
struct Emission<'a> {
    options: &'a EmitOptions,
    listing: Listing,
    built: &'a Built,
    compiler: GpuCompiler,
    facts: Facts,
    interrupt: &'a Interrupt,
}

/// The text so far.
#[derive(Debug, Default)]
struct Emitted {
    text: String,
    kernels: usize,
    /// Cases, or kernels of theirs, that failed.
    failures: usize,
}

impl Emission<'_> {
    fn print(&self, cases: &[Case], catalogs: &[Catalog], authors: &mut Authors<'_>) -> Result<ExitCode, Failure> {
        let (verbosity, target) = (self.options.output.verbosity, self.compiler.target());
        status(verbosity, "Compiling", format_args!("kernels for {target}"));
        self.compiler.notices().iter().for_each(|notice| print_warning(notice));
        let mut emitted = Emitted::default();
        for (library, catalog) in catalogs.iter().enumerate() {
            let package = &self.built.libraries[library].package;
            let of_library: Vec<&Case> = cases.iter().filter(|case| case.package == *package).collect();
            self.add_library(library, catalog, &of_library, authors, &mut emitted)?;
        }
        match emitted {
            Emitted {
                kernels: 0,
                failures: 0,
                ..
            } => Err(NotEmitted::NoKernels { target }.into()),
            Emitted {
                kernels,
                failures,
                text,
            } => {
                if kernels > 0 {
                    self.options.target.write(&text)?;
                    let file = self.options.target.file();
                    let place = file.map_or_else(|| "standard output".to_owned(), ToString::to_string);
                    let what = format_args!("{} for {target} to {place}", counted(kernels as u64, "kernel"));
                    status(verbosity, "Emitted", what);
                }
                match failures {
                    0 => Ok(ExitCode::Success),
                    _ => Err(NotEmitted::Failed { target }.into()),
                }
            }
        }
    }

    /// Records and compiles the cases of a library, and adds the text of their kernels.
    fn add_library(
        &self,
        library: usize,
        catalog: &Catalog,
        cases: &[&Case],
        authors: &mut Authors<'_>,
        emitted: &mut Emitted,
    ) -> Result<(), Failure> {
        let cache = kernels::cache_below(&self.built.target_directory);
        let build = KernelBuild {
            compiler: &self.compiler,
            catalog,
            cache: &cache,
            interrupt: self.interrupt,
        };
        let recorded = self.record(library, cases, authors, build, emitted)?;
        let modules = build.compile(recorded.iter().map(|case| &case.recording));
        kernels::notices(&modules).for_each(|notice| print_warning(&notice));
        if self.interrupt.is_set() {
            return Err(Interrupted.into());
        }
        for failure in kernels::failures(&modules) {
            emitted.failures += 1;
            warn(&self.compiler.target(), None, failure);
        }
        let package = &self.built.libraries[library].package;
        self.add_sources(package, catalog, &recorded, &modules, emitted)
    }

    /// Returns the recordings of the cases that launch kernels of their own. Warns of the others.
    fn record(
        &self,
        library: usize,
        cases: &[&Case],
        authors: &mut Authors<'_>,
        build: KernelBuild<'_>,
        emitted: &mut Emitted,
    ) -> Result<Vec<RecordedCase>, Failure> {
        let naming = Naming::for_packages(self.built.libraries.len());
        let (running, skipped): (Vec<&Case>, Vec<&Case>) =
            cases.iter().partition(|case| case.disposition == Disposition::Run);
        for case in skipped {
            left_out(&case.name_as(naming), case.disposition.reason().unwrap_or_default());
        }
        // The occupancy rarely decides which kernels a plan launches.
        let mut ask = |_: &FrozenFile, _: &OccupancyQuery| Ok(1);
        let occupancies = Occupancies::new(build, &mut ask);
        let (mut recorded, mut hosted) = (Vec::new(), Vec::new());
        for (case, recording) in running
            .iter()
            .zip(record_cases(&running, library, &self.facts, authors, occupancies)?)
        {
            match recording {
                Ok(case) if case.recording.execution == Execution::Sealed => recorded.push(case),
                Ok(_) => hosted.push(case.name_as(naming)),
                Err(skipped) if !skipped.verdict.is_failure() => {
                    left_out(&case.name_as(naming), &skipped.message);
                }
                Err(failure) => {
                    emitted.failures += 1;
                    warn(&self.compiler.target(), Some(&case.name_as(naming)), &failure);
                }
            }
        }
        if !hosted.is_empty() {
            print_warning(&format_args!(
                "left out {}: host code launches the kernels of a hosted benchmark, so they are not known (hint: `cuobjdump -sass` \
                 prints those in a library)",
                first_of(&hosted, 3)
            ));
        }
        Ok(recorded)
    }

    fn add_sources(
        &self,
        package: &str,
        catalog: &Catalog,
        recorded: &[RecordedCase],
        modules: &Modules,
        emitted: &mut Emitted,
    ) -> Result<(), Failure> {
        let mut measured: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
        for kernel in recorded
            .iter()
            .flat_map(|case| kernels::kernels_under_test(&case.recording))
        {
            measured.entry(kernel.source).or_default().insert(&kernel.name);
        }
        for (position, compiled, path) in kernels::images(modules, recorded.iter().map(|case| &case.recording)) {
            let Some(names) = measured.get(&position) else {
                continue;
            };
            let names: Vec<String> = names
                .iter()
                .filter(|name| compiled.iter().any(|compiled| compiled == *name))
                .map(|name| (*name).to_owned())
                .collect();
            if names.is_empty() {
                continue;
            }
            let source = &catalog.sources[position as usize];
            let wanted = match self.options.scope {
                KernelScope::Measured => Some(&*names),
                KernelScope::All => None,
            };
            let text = self.text_of(&source.name, path, wanted)?;
            let compiler = match source.form.is_compiled() {
                true => format!(", by {}", self.compiler.made_by(path)),
                false => String::new(),
            };
            let target = self.compiler.target();
            let heading = format_args!("// {} of {package}, for {target}{compiler}", source.name);
            // Writing to a text cannot fail.
            let _ = write!(emitted.text, "{heading}\n\n{}\n\n", text.trim());
            emitted.kernels += names.len();
        }
        Ok(())
    }

    fn text_of(&self, source: &str, path: &Path, wanted: Option<&[String]>) -> Result<String, Failure> {
        let bytes = fs_err::read(path).map_err(InternalError::because("cannot read compiled kernels"))?;
        let image = KernelImage::decode(&bytes).map_err(|source| NotEmitted::Damaged {
            path: path.to_owned(),
            source,
        })?;
        let text = self.listing.of(&image, wanted, self.interrupt.flag());
        let text = text.map_err(|no_listing| NotEmitted::Unprintable {
            source_name: source.to_owned(),
            source: no_listing,
        })?;
        Ok(text)
    }
}

fn left_out(case: &str, reason: &str) {
    print_warning(&format_args!("left out `{case}`: {reason}"));
}
