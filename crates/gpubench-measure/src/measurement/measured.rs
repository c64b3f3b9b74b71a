//! The results of a measurement.

use std::num::NonZeroU32;
use std::ops::Range;

use super::energy::CallEnergy;
use crate::clients::RoleFailure;
use crate::verdict::{Judgement, WindowEvidence};
use gpubench_contract::{Budget, FailedAlternating, SanitizerReport, Sharing, StopReason};
use gpubench_device::Count;
use gpubench_protocol::window::Numbering;
use gpubench_protocol::wire::DeviceWork;
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
    /// All windows, including warm-up and early checks.
    pub windows: Vec<WindowEvidence>,
    /// The warm-up windows of each worker.
    pub warm_ups: Vec<Range<usize>>,
    /// Number of samples of each worker, in order.
    pub worker_samples: Vec<usize>,
    /// Control windows between the sampled ones.
    pub control_windows: Vec<WindowEvidence>,
    /// Position of each worker's first window in `control_windows`.
    pub control_turns: Vec<usize>,
    /// Windows of the control worker after the last worker under test has ended. Empty for a case
    /// that failed before.
    pub controls_afterwards: Vec<WindowEvidence>,
    /// The comparison of the claims with the referee's clock, if it has a bound.
    pub balance: Option<TimingAudit>,
    /// Samples: times in nanoseconds, each the mean of a window's calls, or counts.
    pub samples: Vec<f64>,
    /// Times of the steps of the call's plan in nanoseconds, by window.
    pub parts_ns: Vec<Vec<f64>>,
    /// Times of the first of several calls when it is made alone, in nanoseconds.
    pub singles_ns: Vec<f64>,
    /// What the device did in calls that were traced, as the workers report it.
    pub device_work: Vec<DeviceWork>,
    /// The parts of the last count.
    pub counts: Vec<Count>,
    /// Host times of the sampled windows in nanoseconds.
    pub host_ns: Vec<f64>,
    /// Overhead of an empty measurement in nanoseconds: the median of the workers' claims.
    pub event_overhead_ns: Option<f64>,
    /// Wall time of a call that does nothing in nanoseconds, if calls were timed from outside.
    pub empty_call_ns: Option<f64>,
    /// The energy of a call, if it was asked for and could be measured.
    pub energy: Option<CallEnergy>,
    /// The time budgets, the time of the warm-up, and rests. `None` if no call was timed.
    pub budget: Option<Budget>,
    /// Why sampling stopped.
    pub stop: Option<StopReason>,
    /// What compute-sanitizer found, if it observed the call.
    pub sanitizer: Option<SanitizerReport>,
    /// How it failed in alternation, if it passed alone.
    pub failed_alternating: Option<FailedAlternating>,
    /// Notices about the measurement, even of a case that passed.
    pub notices: Vec<String>,
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
        singles_ns: Vec::new(),
        parts_ns: Vec::new(),
        device_work: Vec::new(),
        judgement: Judgement {
            verdict,
            cause,
            message: cause.map(|cause| format!("it was {cause}")),
            grade: gpubench_contract::Grade::Sealed,
            grade_reason: None,
            window: None,
        },
        windows: Vec::new(),
        warm_ups: Vec::new(),
        worker_samples: Vec::new(),
        control_windows: Vec::new(),
        control_turns: Vec::new(),
        controls_afterwards: Vec::new(),
        counts: Vec::new(),
        balance: None,
        samples: Vec::new(),
        host_ns: Vec::new(),
        event_overhead_ns: None,
        empty_call_ns: None,
        energy: None,
        budget: None,
        stop: None,
        sanitizer: None,
        failed_alternating: None,
        notices: Vec::new(),
    }
}
