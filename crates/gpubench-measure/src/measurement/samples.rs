//! The samples of an arm, and each worker's part of them.

use std::ops::Range;
use std::time::Duration;

use gpubench_contract::StopReason;
use gpubench_protocol::wire::Claim;

/// The samples of an arm so far.
#[derive(Debug, Default)]
pub(super) struct Samples {
    /// In nanoseconds.
    pub(super) ns: Vec<f64>,
    /// What passed on the host, in nanoseconds.
    pub(super) host_ns: Vec<f64>,
    /// Every worker's part so far, the present one's included.
    turns: Vec<Turn>,
}

/// One worker's part.
#[derive(Debug)]
pub(super) struct Turn {
    /// What its warm-up windows claim, and how long they took.
    pub(super) warm_up_ns: Vec<f64>,
    pub(super) warmed_for: Duration,
    /// Which of the arm's samples are its own, and how long they took.
    samples: Range<usize>,
    pub(super) sampled_for: Duration,
    /// Windows since it was last checked early. At least one of its windows is: the first may be
    /// due at once.
    pub(super) since_early: u32,
    /// Why it has samples enough, where it has.
    pub(super) stop: Option<StopReason>,
}

impl Samples {
    /// Another worker has its turn.
    pub(super) fn begin_turn(&mut self) {
        let taken = self.ns.len();
        self.turns.push(Turn {
            warm_up_ns: Vec::new(),
            warmed_for: Duration::ZERO,
            samples: taken..taken,
            sampled_for: Duration::ZERO,
            since_early: u32::MAX,
            stop: None,
        });
    }

    /// Keeps what the present worker claims of a window.
    pub(super) fn keep(&mut self, claim: &Claim) {
        self.ns.push(claim.elapsed_ns);
        self.host_ns.push(claim.host_ns);
        self.turn_mut().samples.end = self.ns.len();
    }

    /// The present worker's turn.
    pub(super) fn turn(&self) -> &Turn {
        self.turns.last().expect("a turn has begun")
    }

    pub(super) fn turn_mut(&mut self) -> &mut Turn {
        self.turns.last_mut().expect("a turn has begun")
    }

    /// Turns that have begun.
    pub(super) fn turns(&self) -> usize {
        self.turns.len()
    }

    /// Position of the present worker among the arm's, counted from 0.
    pub(super) fn position(&self) -> usize {
        self.turns.len().saturating_sub(1)
    }

    /// The samples of each worker, in nanoseconds.
    pub(super) fn by_worker(&self) -> Vec<&[f64]> {
        self.turns.iter().map(|turn| self.of(turn)).collect()
    }

    /// The samples of the present worker.
    pub(super) fn of_present_worker(&self) -> &[f64] {
        self.of(self.turn())
    }

    fn of(&self, turn: &Turn) -> &[f64] {
        &self.ns[turn.samples.clone()]
    }

    /// How long all samples took.
    pub(super) fn sampled_for(&self) -> Duration {
        self.turns.iter().map(|turn| turn.sampled_for).sum()
    }

    /// Why each worker that has samples enough stopped.
    pub(super) fn stops(&self) -> Vec<StopReason> {
        self.turns.iter().filter_map(|turn| turn.stop).collect()
    }
}
