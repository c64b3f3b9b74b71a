//! The results of a measurement.

use std::num::NonZeroU32;

use super::failure::CaseFailure;
use super::run::WorkerRun;
use crate::clients::RoleFailure;
use crate::verdict::{Judgement, TimeUse, WindowEvidence};
use gpubench_contract::{Budget, FailedAlternating, SanitizerReport, Sharing, StopReason};
use gpubench_protocol::window::{Gate, Numbering};
use gpubench_stats::TimingAudit;

/// The results of one case.
#[derive(Debug)]
pub struct Measured {
    /// Number of calls in a window, each with its own tensors.
    pub calls: NonZeroU32,
    /// How much longer a call takes alone than among them, if it was timed.
    pub sharing: Option<Sharing>,
    /// The judgement.
    pub judgement: Judgement,
    /// What the message says about the tensors of a wrong call, if they were kept.
    pub kept_call: Option<String>,
    /// What each worker did, in order.
    pub workers: Vec<WorkerRun>,
    /// Windows of the control worker after the last worker under test has ended. Empty for a case
    /// that failed before.
    pub controls_afterwards: Vec<WindowEvidence>,
    /// The comparison of the claims with the referee's clock, if it has a bound.
    pub balance: Option<TimingAudit>,
    /// Wall time of a call that does nothing in nanoseconds, if calls were timed from outside.
    pub empty_call_ns: Option<f64>,
    /// What held its calls back.
    pub gate: Gate,
    /// The time budgets, the time of the warm-up, and rests. `None` if no call was timed.
    pub budget: Option<Budget>,
    /// Why sampling stopped.
    pub stop: Option<StopReason>,
    /// What compute-sanitizer found, if it observed the call.
    pub sanitizer: Option<SanitizerReport>,
    /// The evidence of the judgement, if it is kept.
    pub evidence: Option<serde_json::Value>,
    /// How it failed in alternation, if it passed alone.
    pub failed_alternating: Option<FailedAlternating>,
    /// Notices about the measurement, even of a case that passed.
    pub notices: Vec<String>,
}

impl Measured {
    /// Returns the windows of all workers, including warm-up and early checks, in order.
    pub fn windows(&self) -> impl Iterator<Item = &WindowEvidence> {
        self.workers.iter().flat_map(|run| &run.windows)
    }

    /// Returns the windows whose time counts.
    pub(super) fn sampled(&self) -> Vec<&WindowEvidence> {
        self.windows()
            .filter(|window| window.time_use == TimeUse::Counts)
            .collect()
    }

    /// Returns the control windows between the sampled ones.
    pub fn controls(&self) -> impl Iterator<Item = &WindowEvidence> {
        self.workers.iter().flat_map(|run| &run.controls.windows)
    }

    /// Returns the failure of a case that did not pass, with what was done meanwhile, such as `the
    /// calls were audited`.
    pub(super) fn failure(&self, during: &str) -> Option<CaseFailure> {
        let Judgement { verdict, cause, .. } = &self.judgement;
        // Only a case that passed has no cause.
        Some(CaseFailure {
            verdict: *verdict,
            cause: (*cause)?,
            message: format!("while {during}: {}", self.message().unwrap_or_default()),
        })
    }

    /// Returns the message of the judgement, and below it where the tensors of a wrong call are.
    pub(super) fn message(&self) -> Option<String> {
        let message = self.judgement.message.clone()?;
        Some(match &self.kept_call {
            Some(kept) => format!("{message}\n{kept}"),
            None => message,
        })
    }

    /// Returns the number of samples of all workers.
    pub fn sample_count(&self) -> usize {
        self.workers.iter().map(|run| run.samples.values.len()).sum()
    }
}

/// The results of cases that were measured alternately.
#[derive(Debug)]
pub struct MeasuredInTurns {
    /// The result of each case; an error if it could not be measured and its kernels are not to
    /// blame.
    pub arms: Vec<Result<Measured, RoleFailure>>,
    /// First numbers for another measurement of the case.
    pub next: Numbering,
    /// The state of author, referee and control worker after the case.
    pub roles: RolesAfterwards,
}

/// The state of author, referee and control worker after a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolesAfterwards {
    /// They have released the case's buffers.
    AtRest,
    /// Unknown. The next case needs new processes.
    Unknown,
}

/// A case that ended in a certain way.
#[cfg(test)]
pub(super) fn ended((verdict, cause): (gpubench_contract::Verdict, Option<gpubench_contract::Cause>)) -> Measured {
    Measured {
        calls: NonZeroU32::MIN,
        sharing: None,
        judgement: Judgement {
            verdict,
            cause,
            message: cause.map(|cause| format!("it was {cause}")),
            grade: gpubench_contract::Grade::Sealed,
            grade_reason: None,
            window: None,
        },
        kept_call: None,
        workers: Vec::new(),
        evidence: None,
        controls_afterwards: Vec::new(),
        balance: None,
        empty_call_ns: None,
        gate: Gate::Stream,
        budget: None,
        stop: None,
        sanitizer: None,
        failed_alternating: None,
        notices: Vec::new(),
    }
}
