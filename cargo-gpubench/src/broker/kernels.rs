//! Compiling the kernels that the recorded cases use: every source once, several at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpubench::catalog::{Catalog, Fill, Recording};
use gpubench::plan::{KernelRef, Step};

use super::failure::CaseFailure;
use crate::build::kernels::{HostCompiler, KernelBuildError};
use crate::verdict::Cause;

/// Compiled sources of one library by their positions in its catalog.
pub(super) type Modules = BTreeMap<u32, Result<Module, CaseFailure>>;

/// A source of which at least one kernel may be used.
#[derive(Debug)]
pub(super) struct Module {
    library: Option<PathBuf>,
    /// The failures of the kernels that the library lacks.
    rejected: BTreeMap<String, CaseFailure>,
}

/// The library that has a kernel, or why there is none.
pub(super) fn library_of<'a>(modules: &'a Modules, kernel: &KernelRef) -> Result<&'a Path, CaseFailure> {
    let missing = || CaseFailure::error(Cause::Internal, "its kernels were not compiled");
    let module = modules.get(&kernel.source).ok_or_else(missing)?;
    let module = module.as_ref().map_err(CaseFailure::clone)?;
    match module.rejected.get(&kernel.name) {
        Some(failure) => Err(failure.clone()),
        None => module.library.as_deref().ok_or_else(missing),
    }
}

/// Every failure, of whole sources and of single kernels, once.
pub(super) fn failures(modules: &Modules) -> impl Iterator<Item = &CaseFailure> {
    modules.values().flat_map(|module| {
        let (of_source, of_names) = match module {
            Ok(module) => (None, Some(module.rejected.values())),
            Err(failure) => (Some(failure), None),
        };
        of_source.into_iter().chain(of_names.into_iter().flatten())
    })
}

/// The kernels of a recording, those that generate its inputs included.
pub(super) fn kernels_of(recording: &Recording) -> impl Iterator<Item = &KernelRef> {
    let launched = recording.plan.steps.iter().filter_map(|step| match step {
        Step::Launch(launch) => Some(&launch.kernel),
        Step::Memset { .. } | Step::Copy { .. } => None,
    });
    let generating = recording.tensors.iter().filter_map(|tensor| match &tensor.fill {
        Fill::Kernel(kernel) => Some(kernel),
        _ => None,
    });
    launched.chain(generating)
}

/// Compiles what a library's recordings use. A source or a kernel that does not compile has its failure; the others go on.
pub(super) fn compile<'a>(
    compiler: &HostCompiler,
    catalog: &Catalog,
    recordings: impl Iterator<Item = &'a Recording>,
    cache: &Path,
) -> Modules {
    let mut wanted: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for kernel in recordings.flat_map(kernels_of) {
        wanted.entry(kernel.source).or_default().insert(&kernel.name);
    }
    let jobs: Vec<(u32, Vec<String>)> = wanted
        .into_iter()
        .map(|(source, names)| (source, names.into_iter().map(str::to_owned).collect()))
        .collect();
    let (next, modules) = (AtomicUsize::new(0), Mutex::new(Modules::new()));
    std::thread::scope(|scope| {
        for _ in 0..crate::device::cpu::available_threads().get().min(jobs.len()) {
            scope.spawn(|| {
                while let Some((position, names)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let compiled = compile_source(compiler, catalog, *position, names, cache);
                    modules
                        .lock()
                        .unwrap_or_else(|poisoned| poisoned.into_inner())
                        .insert(*position, compiled);
                }
            });
        }
    });
    modules.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn compile_source(
    compiler: &HostCompiler,
    catalog: &Catalog,
    position: u32,
    names: &[String],
    cache: &Path,
) -> Result<Module, CaseFailure> {
    let source = catalog.sources.get(position as usize);
    let source = source.ok_or_else(|| CaseFailure::error(Cause::PlanInvalid, "it names a source that there is not"))?;
    let compiled = compiler
        .compile_separately(source, names, cache)
        .map_err(|error| failure(&error))?;
    let rejected = compiled
        .rejected
        .into_iter()
        .map(|(name, error)| (name, failure(&error)))
        .collect();
    Ok(Module {
        library: compiled.library,
        rejected,
    })
}

fn failure(error: &KernelBuildError) -> CaseFailure {
    let cause = match error {
        KernelBuildError::Refused { .. } => Cause::Unsupported,
        KernelBuildError::UnknownKernel { .. } => Cause::PlanInvalid,
        _ => Cause::CompileFailed,
    };
    CaseFailure::error(cause, crate::error::chain(error))
}
