//! What a verdict is drawn from.

use std::ops::Range;
use std::time::Duration;

use gpubench::catalog::Tensor;

use crate::clients::End;
use gpubench_device::ClockBound;
use gpubench_protocol::wire::{Claim, WindowFacts};
use gpubench_sandbox::Confinement;

/// Everything known of a case when its worker has been let go.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    /// The case's tensors.
    pub tensors: &'a [Tensor],
    /// Bytes of its scratch allocations.
    pub scratch: &'a [u64],
    /// Its windows in order.
    pub windows: &'a [WindowEvidence],
    /// How the case came to its end.
    pub ending: Ending,
    /// Which of the case's fresh workers was the last one, counted from 1.
    pub worker: usize,
    /// Number of the window that this worker was to begin last; 0 where it did not come so far.
    pub last_call: u32,
    /// Whose code ran in the worker.
    pub execution: &'a Execution,
    /// Whether the referee's clock bounds the worker's claims.
    pub clock_bound: &'a ClockBound,
    /// The least time a call can take, in nanoseconds, by [`floor_ns`](super::floor_ns).
    pub floor_ns: Option<f64>,
    /// Which of `windows` warmed a worker up.
    pub warm_ups: &'a [Range<usize>],
    /// The control worker's part.
    pub control: ControlWindows<'a>,
    /// Other processes that compute on the device, where that is known.
    pub other_clients: Option<u32>,
    /// Which sandboxes round other code than the worker's host code are not closed, and why.
    pub open_sandboxes: &'a [String],
}

impl<'a> Evidence<'a> {
    /// The windows that warmed no worker up.
    pub fn sampled(&self) -> Vec<&'a WindowEvidence> {
        sampled(self.windows, self.warm_ups)
    }
}

/// The windows of a case that warmed no worker up.
pub fn sampled<'a>(windows: &'a [WindowEvidence], warm_ups: &[Range<usize>]) -> Vec<&'a WindowEvidence> {
    let warms_up = |position: usize| warm_ups.iter().any(|warm_up| warm_up.contains(&position));
    let windows = windows.iter().enumerate();
    windows
        .filter(|(position, _)| !warms_up(*position))
        .map(|(_, window)| window)
        .collect()
}

/// The same of each worker that was warmed up, or of all where none was.
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

/// What is known of the tool's own part of a window.
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlWindows<'a> {
    /// Control windows, interleaved with the sampled ones.
    pub windows: &'a [WindowEvidence],
    /// Where those of each worker begin among them.
    pub turns: &'a [usize],
    /// Windows of the control worker behind the end of the worker under test, which has no part in
    /// them. Cases that fail have none.
    pub alone: &'a [WindowEvidence],
    /// What two events with nothing between them are apart at least in the control worker, in
    /// nanoseconds: no call takes less.
    pub shortest_claim_ns: Option<f64>,
    /// Workers of another side that lived meanwhile, beside the one under test.
    pub rivals: usize,
    /// Why there are no more of them, where the control worker failed.
    pub loss: Option<&'a str>,
}

impl<'a> ControlWindows<'a> {
    /// Those before the first worker's, which are none, then those of each worker, then none
    /// without end.
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

/// Whose code ran in the worker, and what it was closed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Execution {
    /// The tool's, which replayed a plan.
    Sealed,
    /// The user's host code, in a sandbox.
    Hosted(Confinement),
}

/// One window: the referee's facts, and the worker's claim where it came to one.
#[derive(Clone, Debug)]
pub struct WindowEvidence {
    /// What the referee found.
    pub facts: Box<WindowFacts>,
    /// What the worker says.
    pub claim: Option<Box<Claim>>,
}

/// How a case came to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// By the stop rule, or by a failure that the windows show.
    Stopped,
    /// The worker ended by itself, having last written `log`.
    WorkerEnded {
        /// How.
        end: End,
        /// The last of its output.
        log: String,
    },
    /// The device refused to launch the call.
    Refused {
        /// The driver's words.
        why: String,
    },
    /// A window was not done in time; the worker was killed.
    TimedOut {
        /// How long it was given.
        within: Duration,
    },
    /// The user's host code could not be set up.
    SetUpFailed {
        /// What it said.
        message: String,
    },
    /// The worker broke the protocol.
    BrokeProtocol {
        /// How.
        what: String,
    },
}
