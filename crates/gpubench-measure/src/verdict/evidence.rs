//! The evidence for a verdict.

use std::num::NonZeroU32;
use std::time::Duration;

use gpubench::catalog::Tensor;
use gpubench::codec;
use serde::{Deserialize, Serialize, Serializer};

use crate::clients::End;
use gpubench_contract::MetricKind;
use gpubench_device::ClockBound;
use gpubench_protocol::window::Gate;
use gpubench_protocol::wire::{Claim, Differences, WindowFacts};
use gpubench_sandbox::Confinement;

/// All evidence about a case after its workers have ended.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence<'a> {
    /// The tensors of the case.
    #[serde(serialize_with = "encoded")]
    pub tensors: &'a [Tensor],
    /// Number of calls in a window, each with its own tensors.
    pub calls: NonZeroU32,
    /// Sizes of the scratch allocations in bytes.
    pub scratch: &'a [u64],
    /// What each worker did, in order.
    pub runs: Vec<RunEvidence<'a>>,
    /// How the case ended.
    pub ending: Ending,
    /// What the worker claims: times or counts.
    pub metric: MetricKind,
    /// Whose code ran in the worker.
    pub execution: &'a Execution,
    /// What holds its calls back until *go*.
    pub gate: Gate,
    /// Whether the referee's clock bounds the worker's claims.
    pub clock_bound: &'a ClockBound,
    /// The least time that the calls of a window can take, in nanoseconds, from
    /// [`floor_ns`](super::floor_ns).
    pub floor_ns: Option<f64>,
    /// What else ran on the device.
    pub surroundings: Surroundings<'a>,
    /// Open sandboxes of user code other than the worker's host code, with the reasons.
    pub open_sandboxes: &'a [String],
}

/// The tensors in the runtime's encoding.
fn encoded<S: Serializer>(tensors: &[Tensor], serializer: S) -> Result<S::Ok, S::Error> {
    codec::encode(&tensors.to_vec()).serialize(serializer)
}

/// A [`Confinement`] in a record.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Confinement", rename_all = "kebab-case")]
enum ConfinementRecord {
    Closed,
    Open(String),
}

impl<'a> Evidence<'a> {
    /// Returns the windows of all workers, in order.
    pub fn windows(&self) -> impl Iterator<Item = &'a WindowEvidence> {
        self.runs.iter().flat_map(|run| run.windows)
    }

    /// Returns the windows whose time counts.
    pub fn sampled(&self) -> Vec<&'a WindowEvidence> {
        self.windows()
            .filter(|window| window.time_use == TimeUse::Counts)
            .collect()
    }

    /// Returns the control windows between the sampled ones.
    pub fn controls(&self) -> impl Iterator<Item = &'a WindowEvidence> {
        self.runs.iter().flat_map(|run| run.controls)
    }
}

/// The windows of one worker.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct RunEvidence<'a> {
    /// The windows with its calls, in order.
    pub windows: &'a [WindowEvidence],
    /// Control windows between the sampled ones.
    pub controls: &'a [WindowEvidence],
    /// Control windows with the twin of the first of several calls.
    pub single_controls: &'a [WindowEvidence],
    /// Number of the last window that it had to begin; 0 if it had none.
    pub last_call: u32,
}

/// What ran on the device besides the worker under test.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Surroundings<'a> {
    /// Windows of the control worker after the worker under test has ended. Empty for cases that
    /// fail.
    pub controls_afterwards: &'a [WindowEvidence],
    /// Shortest time between two events with nothing between them in the control worker, in
    /// nanoseconds. No call takes less.
    pub shortest_claim_ns: Option<f64>,
    /// Why control windows are missing, if the control worker failed.
    pub loss: Option<&'a str>,
    /// Number of other workers under test that lived at the same time.
    pub rivals: usize,
    /// Number of other processes that compute on the device, if known.
    pub other_clients: Option<u32>,
}

/// Whose code ran in the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Execution {
    /// The tool's code, which replayed a plan.
    Sealed,
    /// The user's host code, with the state of its sandbox.
    Hosted(#[serde(with = "ConfinementRecord")] Confinement),
}

/// The referee's facts about one window, and the worker's claim if it made one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WindowEvidence {
    /// The referee's facts.
    pub facts: Box<WindowFacts>,
    /// The worker's claim.
    pub claim: Option<Box<Claim>>,
    /// What its time is used for. Its outputs always count.
    pub time_use: TimeUse,
    /// Which process ran it, and when.
    pub span: Option<WindowSpan>,
    /// Number of the window that its inputs were made for, perhaps in an earlier worker. For
    /// figures; no verdict uses it.
    #[serde(skip)]
    pub inputs: u32,
    /// Where its wrong outputs differ from the expected ones, for people. No verdict uses it.
    #[serde(skip)]
    pub differences: Vec<Differences>,
    /// Why the check rejects the outputs, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<String>,
}

/// The process that ran a window, and when it could work on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowSpan {
    /// The worker's process id.
    pub process: u32,
    /// Before the order to queue the call was sent, in nanoseconds of `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// After its claim was received, likewise.
    pub ended_ns: u64,
    /// The timed call by the referee's host, likewise: from the last look that did not find *go* to
    /// the look that found *returned*. `None` where a stream held the call back, whose host code
    /// ran before, and where the host did not look for *go*.
    pub timed_ns: Option<(u64, u64)>,
    /// What the worker submitted to its device meanwhile, counted from outside. `None` if it was
    /// not counted.
    pub submissions: Option<u64>,
}

/// What the time of a window is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeUse {
    /// It counts like all times of its kind.
    Counts,
    /// The end of the warm-up.
    WarmUp,
    /// Nothing: its sample was thrown away, because the device throttled.
    ThrownAway,
    /// The energy of calls.
    Energy,
}

impl WindowEvidence {
    /// Returns the evidence of a window whose time counts.
    pub fn new(facts: Box<WindowFacts>, claim: Option<Box<Claim>>) -> WindowEvidence {
        WindowEvidence {
            inputs: facts.window,
            facts,
            claim,
            time_use: TimeUse::Counts,
            span: None,
            differences: Vec::new(),
            rejection: None,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
