//! Recording the selected cases and compiling what their recordings use, before anything is measured.

use gpubench::catalog::OccupancyQuery;
use gpubench::plan::KernelRef;

use super::authors::Authors;
use super::recordings::{Interrupted, RecordedCase, record_cases};
use crate::broker::cases::{Case, Disposition};
use crate::broker::code::kernels::{self, Modules};
use crate::broker::code::occupancy::{AskDevice, Occupancies};
use crate::broker::reporting::Reporting;
use crate::broker::selected::Selected;
use gpubench_contract::Cause;
use gpubench_device::SealedFile;
use gpubench_device::compilers::Compiler;
use gpubench_measure::clients::Interrupt;
use gpubench_measure::measurement::CaseFailure;
use gpubench_protocol::wire::SourceModule;
use gpubench_report::Phase;

/// A case that can be measured.
#[derive(Debug)]
pub(in crate::broker) struct PreparedCase {
    /// Its recording.
    pub(in crate::broker) recorded: RecordedCase,
    /// The compiled sources that its plan uses, by their positions in the catalog.
    pub(in crate::broker) modules: Vec<SourceModule>,
    /// Those that its generators and its reference use.
    pub(in crate::broker) own_modules: Vec<SourceModule>,
}

/// Prepares every case that is to run, in the order of the cases. A case that is skipped has nothing; one that cannot be prepared has its
/// failure, and the others go on.
pub(in crate::broker) fn prepare(
    selected: &Selected<'_>,
    authors: &mut Authors<'_>,
    compiler: &dyn Compiler,
    ask_device: &mut AskDevice<'_>,
    reporting: &mut Reporting,
    interrupt: &Interrupt,
) -> Result<Vec<Option<Result<PreparedCase, CaseFailure>>>, Interrupted> {
    let mut prepared: Vec<_> = selected.cases.iter().map(|_| None).collect();
    let cache = selected
        .target_directory
        .join("gpubench")
        .join("kernels")
        .into_std_path_buf();
    for (library, catalog) in selected.catalogs.iter().enumerate() {
        let (positions, cases): (Vec<usize>, Vec<&Case>) = selected
            .cases
            .iter()
            .enumerate()
            .filter(|(_, case)| case.disposition == Disposition::Run && selected.library_of(case) == library)
            .unzip();
        reporting.phase(Phase::Recording);
        let mut ask = |module: &SealedFile, query: &OccupancyQuery| ask_device(module, query);
        let mut occupancies = Occupancies::new(catalog, compiler, &cache, interrupt, &mut ask);
        let facts = selected.facts;
        let recorded = record_cases(&cases, library, catalog, facts, authors, &mut occupancies, interrupt)?;
        reporting.phase(Phase::Compiling);
        let recordings = recorded.iter().flatten().map(|recorded| &recorded.recording);
        let modules = kernels::compile(compiler, catalog, recordings, &cache, interrupt);
        if interrupt.is_set() {
            return Err(Interrupted);
        }
        for (position, recorded) in positions.into_iter().zip(recorded) {
            prepared[position] = Some(recorded.and_then(|recorded| with_modules(recorded, &modules)));
        }
    }
    Ok(prepared)
}

/// What compilers say of cases that cannot be prepared, each text once.
pub(in crate::broker) fn compile_errors(prepared: &[Option<Result<PreparedCase, CaseFailure>>]) -> Vec<&str> {
    let failures = prepared.iter().flatten().filter_map(|case| case.as_ref().err());
    let mut errors = Vec::new();
    for failure in failures.filter(|failure| failure.cause == Cause::CompileFailed) {
        if !errors.contains(&failure.message.as_str()) {
            errors.push(&failure.message);
        }
    }
    errors
}

/// A recorded case with the modules it uses, or the failure of the first that did not compile.
fn with_modules(recorded: RecordedCase, compiled: &Modules) -> Result<PreparedCase, CaseFailure> {
    let modules = modules_of(kernels::kernels_under_test(&recorded.recording), compiled)?;
    let own_modules = modules_of(kernels::own_kernels(&recorded.recording), compiled)?;
    Ok(PreparedCase {
        recorded,
        modules,
        own_modules,
    })
}

/// The modules that some kernels come from, each once.
fn modules_of<'a>(
    kernels: impl Iterator<Item = &'a KernelRef>,
    compiled: &Modules,
) -> Result<Vec<SourceModule>, CaseFailure> {
    let mut used: Vec<SourceModule> = Vec::new();
    for kernel in kernels {
        let library = kernels::library_of(compiled, kernel)?;
        if !used.iter().any(|(source, _)| *source == kernel.source) {
            used.push((kernel.source, library.clone()));
        }
    }
    Ok(used)
}
