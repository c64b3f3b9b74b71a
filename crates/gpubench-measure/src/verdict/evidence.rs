//! The evidence for a verdict.

use std::num::NonZeroU32;
use std::ops::Range;
use std::time::Duration;

use gpubench::catalog::Tensor;

use crate::clients::End;
use gpubench_device::ClockBound;
use gpubench_protocol::window::Gate;
use gpubench_protocol::wire::{Claim, Measurand, WindowFacts};
use gpubench_sandbox::Confinement;

/// All evidence about a case after its workers have ended.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    /// The tensors of the case.
    pub tensors: &'a [Tensor],
    /// Number of calls in a window, each with its own tensors.
    pub calls: NonZeroU32,
    /// Sizes of the scratch allocations in bytes.
    pub scratch: &'a [u64],
    /// The windows of the case, in order.
    pub windows: &'a [WindowEvidence],
    /// How the case ended.
    pub ending: Ending,
    /// Number of the case's last worker, counted from 1.
    pub worker: usize,
    /// Number of the last window that this worker had to begin; 0 if it had none.
    pub last_call: u32,
    /// What the worker claims: times or counts.
    pub measurand: Measurand,
    /// Whose code ran in the worker.
    pub execution: &'a Execution,
    /// What holds its calls back until *go*.
    pub gate: Gate,
    /// Whether the referee's clock bounds the worker's claims.
    pub clock_bound: &'a ClockBound,
    /// The least time that the calls of a window can take, in nanoseconds, from
    /// [`floor_ns`](super::floor_ns).
    pub floor_ns: Option<f64>,
    /// Ranges of `windows` that are warm-up, one for each worker.
    pub warm_ups: &'a [Range<usize>],
    /// The control windows.
    pub control: ControlWindows<'a>,
    /// Number of other processes that compute on the device, if known.
    pub other_clients: Option<u32>,
    /// Open sandboxes of user code other than the worker's host code, with the reasons.
    pub open_sandboxes: &'a [String],
}

impl<'a> Evidence<'a> {
    /// Returns the windows that are not warm-up and whose time counts.
    pub fn sampled(&self) -> Vec<&'a WindowEvidence> {
        sampled(self.windows, self.warm_ups)
    }
}

/// Returns the windows of a case that are not warm-up and whose time counts.
pub fn sampled<'a>(windows: &'a [WindowEvidence], warm_ups: &[Range<usize>]) -> Vec<&'a WindowEvidence> {
    let warms_up = |position: usize| warm_ups.iter().any(|warm_up| warm_up.contains(&position));
    let windows = windows.iter().enumerate();
    windows
        .filter(|(position, window)| !warms_up(*position) && window.time_use == TimeUse::Counts)
        .map(|(_, window)| window)
        .collect()
}

/// Returns the windows that are not warm-up by worker. The first slice has the windows before the
/// first warm-up.
pub fn sampled_by_worker<'a>(
    windows: &'a [WindowEvidence],
    warm_ups: &[Range<usize>],
) -> impl Iterator<Item = &'a [WindowEvidence]> {
    let begins = std::iter::once(0).chain(warm_ups.iter().map(|warm_up| warm_up.end));
    let ends = warm_ups.iter().map(|warm_up| warm_up.start).chain([windows.len()]);
    begins
        .zip(ends)
        .map(move |(begin, end)| windows.get(begin..end).unwrap_or_default())
}

/// The control windows of a case.
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlWindows<'a> {
    /// Control windows between the sampled ones.
    pub windows: &'a [WindowEvidence],
    /// Position of each worker's first window in `windows`.
    pub turns: &'a [usize],
    /// Control windows with the twin of the first of several calls.
    pub singles: &'a [WindowEvidence],
    /// Windows of the control worker after the worker under test has ended. Empty for cases that
    /// fail.
    pub afterwards: &'a [WindowEvidence],
    /// Shortest time between two events with nothing between them in the control worker, in
    /// nanoseconds. No call takes less.
    pub shortest_claim_ns: Option<f64>,
    /// Number of other workers under test that lived at the same time.
    pub rivals: usize,
    /// Why control windows are missing, if the control worker failed.
    pub loss: Option<&'a str>,
}

impl<'a> ControlWindows<'a> {
    /// Returns the control windows by worker. The first slice, for no worker, is empty; empty
    /// slices follow the last worker without end.
    pub fn by_worker(&self) -> impl Iterator<Item = &'a [WindowEvidence]> + use<'a> {
        let (windows, turns) = (self.windows, self.turns);
        let begins = std::iter::once(0).chain(turns.iter().copied());
        let ends = turns.iter().copied().chain([windows.len()]);
        let of_workers = begins
            .zip(ends)
            .map(move |(begin, end)| windows.get(begin..end).unwrap_or_default());
        of_workers.chain(std::iter::repeat(&[][..]))
    }
}

/// Whose code ran in the worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Execution {
    /// The tool's code, which replayed a plan.
    Sealed,
    /// The user's host code, with the state of its sandbox.
    Hosted(Confinement),
}

/// The referee's facts about one window, and the worker's claim if it made one.
#[derive(Clone, Debug)]
pub struct WindowEvidence {
    /// The referee's facts.
    pub facts: Box<WindowFacts>,
    /// The worker's claim.
    pub claim: Option<Box<Claim>>,
    /// What its time is used for. Its outputs always count.
    pub time_use: TimeUse,
    /// Which process ran it, and when.
    pub span: Option<WindowSpan>,
}

/// The process that ran a window, and when it could work on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSpan {
    /// The worker's process id.
    pub process: u32,
    /// Before the order to queue the call was sent, in nanoseconds of `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// After its claim was received, likewise.
    pub ended_ns: u64,
    /// The timed call by the referee's host, likewise: from the last look that did not find *go* to
    /// the look that found *returned*. `None` where a stream held the call back, whose host code
    /// ran before.
    pub timed_ns: Option<(u64, u64)>,
    /// What the worker submitted to its device meanwhile, counted from outside. `None` if it was
    /// not counted.
    pub submissions: Option<u64>,
}

/// What the time of a window is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUse {
    /// It counts like all times of its kind.
    Counts,
    /// Nothing: its sample was thrown away, because the device throttled.
    ThrownAway,
    /// The energy of calls.
    Energy,
}

impl WindowEvidence {
    /// Returns the evidence of a window whose time counts.
    pub fn new(facts: Box<WindowFacts>, claim: Option<Box<Claim>>) -> WindowEvidence {
        WindowEvidence {
            facts,
            claim,
            time_use: TimeUse::Counts,
            span: None,
        }
    }

    /// Returns the time of the calls in nanoseconds: as the worker claims it, or by the clock of
    /// the referee's host if the worker's stream did not hold them back. 0 if it was not taken.
    pub fn elapsed_ns(&self) -> Option<f64> {
        let claim = self.claim.as_deref()?;
        Some(match self.facts.gate {
            Gate::Stream => claim.elapsed_ns,
            Gate::Host => self.facts.call_ns as f64,
        })
    }
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The stop rule or a failed window ended it.
    Stopped,
    /// The worker's process ended.
    WorkerEnded {
        /// How it ended.
        end: End,
        /// The end of its output.
        log: String,
    },
    /// The device rejected the call.
    Refused {
        /// The driver's message.
        why: String,
    },
    /// A window exceeded its time limit, and the worker was killed.
    TimedOut {
        /// The limit.
        within: Duration,
    },
    /// The set-up of the user's host code failed.
    SetUpFailed {
        /// Its error.
        message: String,
    },
    /// The worker broke the protocol.
    BrokeProtocol {
        /// The violation.
        what: String,
    },
}
