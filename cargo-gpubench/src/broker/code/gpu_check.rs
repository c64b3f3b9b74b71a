//! Checks of the CPU device also compile the kernels for a GPU, which refuses more.

use std::collections::BTreeMap;

use gpubench::catalog::{Benchmark, DeviceKind, Recording, Requirement};
use gpubench::plan::KernelRef;

use super::kernels::{KernelBuild, Modules, kernels_under_test, own_kernels, wanted_names};
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

/// The kernels that a GPU compiler refuses. Only cases that may run on a GPU fail because of them.
#[derive(Debug, Default)]
pub(crate) struct GpuRefusals(BTreeMap<KernelRef, CaseFailure>);

impl GpuRefusals {
    /// Returns the failure of a benchmark's recording with a refused kernel.
    pub(crate) fn of(&self, benchmark: &Benchmark, recording: &Recording) -> Option<&CaseFailure> {
        if !may_run_on_a_gpu(benchmark) {
            return None;
        }
        kernels_under_test(recording)
            .chain(own_kernels(recording))
            .find_map(|kernel| self.0.get(kernel))
    }
}

impl KernelBuild<'_> {
    /// Compiles the kernels of recordings for a GPU, too. Returns what its compiler refuses, and
    /// notices for the user.
    pub(crate) fn check<'r>(
        &self,
        check: &GpuCheck,
        modules: &Modules,
        recordings: impl Iterator<Item = &'r Recording>,
    ) -> (GpuRefusals, Vec<String>) {
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
                most: self.most,
            }))
        });
        let (mut refusals, mut notices) = (GpuRefusals::default(), Vec::new());
        for (source, verdict) in verdicts {
            match verdict {
                Some(GpuVerdict::Refused(refused)) => refusals.0.extend(refused.into_iter().map(|(name, message)| {
                    let failure = CaseFailure::error(Cause::CompileFailed, message);
                    (KernelRef { source, name }, failure)
                })),
                Some(GpuVerdict::Unchecked(notice)) => notices.push(notice),
                Some(GpuVerdict::Accepted) | None => {}
            }
        }
        (refusals, notices)
    }
}
