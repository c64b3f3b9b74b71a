//! What was measured of a case.

use std::ops::Range;

use crate::clients::RoleFailure;
use crate::verdict::{Judgement, WindowEvidence};
use gpubench_contract::StopReason;
use gpubench_protocol::window::Numbering;
use gpubench_stats::TimingAudit;

/// What was measured.
#[derive(Debug)]
pub struct Measured {
    /// The verdict on it.
    pub judgement: Judgement,
    /// Every window, warm-up and early checks included.
    pub windows: Vec<WindowEvidence>,
    /// Which of them warmed a worker up.
    pub warm_ups: Vec<Range<usize>>,
    /// How many of the samples are each worker's, in order.
    pub worker_samples: Vec<usize>,
    /// Control windows, interleaved with the sampled ones.
    pub control_windows: Vec<WindowEvidence>,
    /// Where those of each worker begin among them.
    pub control_turns: Vec<usize>,
    /// Windows of the control worker after the end of the last worker under test; none of a case that
    /// failed before.
    pub controls_alone: Vec<WindowEvidence>,
    /// What the referee's clock says of the claims, where it bounds them.
    pub balance: Option<TimingAudit>,
    /// Samples in nanoseconds.
    pub samples: Vec<f64>,
    /// Host times of the sampled windows in nanoseconds.
    pub host_ns: Vec<f64>,
    /// Overhead of an empty measurement: the median of what the workers claim.
    pub event_overhead_ns: Option<f64>,
    /// Why sampling stopped.
    pub stop: Option<StopReason>,
    /// What a person must know of how it came about, even of a case that passed.
    pub notices: Vec<String>,
}

/// What was measured on both sides.
#[derive(Debug)]
pub struct MeasuredInTurns {
    /// The side that is judged.
    pub candidate: Measured,
    /// The other, where there is one; or why it could not be measured for no fault of its kernels.
    pub baseline: Option<Result<Measured, RoleFailure>>,
    /// Where the numbers of another measurement of the case would go on.
    pub next: Numbering,
    /// In what state it leaves author, referee and control worker.
    pub roles: RolesAfterwards,
}

/// What author, referee and control worker are in the middle of after a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolesAfterwards {
    /// Nothing: they have let go of its buffers.
    AtRest,
    /// It is not known, and the next case needs new ones.
    Unknown,
}
