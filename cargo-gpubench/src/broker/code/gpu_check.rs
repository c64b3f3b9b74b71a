//! Checks of the CPU device also compile the kernels for a GPU, which refuses more.

use gpubench::catalog::{Benchmark, DeviceKind, Recording, Requirement};

use super::kernels::{KernelBuild, Modules, wanted_names};
use crate::broker::options::{Action, RunOptions};
use gpubench_contract::Cause;
use gpubench_device::Facts;
use gpubench_device::compilers::{GpuCheck, GpuVerdict, Wanted};
use gpubench_diagnostic::Failure;
use gpubench_measure::measurement::CaseFailure;
use gpubench_sandbox::this_program;

/// Returns the check that a run makes: with `--test`, on the CPU device.
///
/// # Errors
/// A GPU compiler that the user named is not one.
pub(crate) fn gpu_check(options: &RunOptions, facts: &Facts) -> Result<Option<GpuCheck>, Failure> {
    let is_needed = options.action == Action::Test && facts.device.kind == DeviceKind::Cpu && !options.is_debugged();
    let find = || GpuCheck::find(this_program(), &options.device.compilers);
    Ok(is_needed.then(find).transpose()?)
}

/// Returns whether a benchmark may run on a GPU.
pub(crate) fn may_run_on_a_gpu(benchmark: &Benchmark) -> bool {
    !benchmark.requirements.contains(&Requirement::Device(DeviceKind::Cpu))
}

impl KernelBuild<'_> {
    /// Compiles the kernels of recordings for a GPU, too, and rejects those that its compiler
    /// refuses. Returns notices for the user.
    pub(crate) fn check<'r>(
        &self,
        check: &GpuCheck,
        modules: &mut Modules,
        recordings: impl Iterator<Item = &'r Recording>,
    ) -> Vec<String> {
        let mut jobs = wanted_names(recordings);
        for (position, names) in &mut jobs {
            let module = modules.get(position).and_then(|module| module.as_ref().ok());
            names.retain(|name| module.is_some_and(|module| !module.rejects(name)));
        }
        let verdicts = self.for_each_source(&jobs, |position, names| {
            let source = self.catalog.sources.get(position as usize)?;
            Some(check.judge(Wanted {
                source,
                names,
                cache: self.cache,
                interrupt: self.interrupt.flag(),
            }))
        });
        let mut notices = Vec::new();
        for (position, verdict) in verdicts {
            match (verdict, modules.get_mut(&position)) {
                (Some(GpuVerdict::Refused(refused)), Some(Ok(module))) => {
                    for (name, message) in refused {
                        module.reject(name, CaseFailure::error(Cause::CompileFailed, message));
                    }
                }
                (Some(GpuVerdict::Unchecked(notice)), _) => notices.push(notice),
                _ => {}
            }
        }
        notices
    }
}
