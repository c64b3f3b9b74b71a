//! The samples of an arm, by worker.

use std::num::NonZeroU32;
use std::ops::Range;
use std::time::Duration;

use crate::clients::WorkerPast;
use crate::verdict::WindowEvidence;
use gpubench_contract::StopReason;
use gpubench_protocol::wire::{CountProgress, Measurand};

/// The samples of an arm so far.
#[derive(Debug, Default)]
pub(super) struct Samples {
    /// What the samples measure.
    measurand: Measurand,
    /// Claims: times of one call in nanoseconds, or counts.
    pub(super) values: Vec<f64>,
    /// Host times of one call, in nanoseconds.
    pub(super) host_ns: Vec<f64>,
    /// The turns of all workers so far, including the current one.
    turns: Vec<Turn>,
}

/// The samples and limits of one worker.
#[derive(Debug)]
pub(super) struct Turn {
    /// Whether its worker has been measured before.
    pub(super) past: WorkerPast,
    /// Claims of its warm-up windows in nanoseconds.
    pub(super) warm_up_ns: Vec<f64>,
    pub(super) warmed_for: Duration,
    /// The range of its samples.
    samples: Range<usize>,
    pub(super) sampled_for: Duration,
    /// Windows since its last early check. It starts at the maximum, because each worker has at
    /// least one early check and the first may be due at once.
    pub(super) since_early: u32,
    /// Why it has enough samples, if it has.
    pub(super) stop: Option<StopReason>,
}

impl Samples {
    /// Begins the turn of the next worker.
    pub(super) fn begin_turn(&mut self) {
        let taken = self.values.len();
        self.turns.push(Turn {
            past: WorkerPast::New,
            warm_up_ns: Vec::new(),
            warmed_for: Duration::ZERO,
            samples: taken..taken,
            sampled_for: Duration::ZERO,
            since_early: u32::MAX,
            stop: None,
        });
    }

    /// Returns no samples of what `measurand` says.
    pub(super) fn of_measurand(measurand: Measurand) -> Samples {
        Samples {
            measurand,
            ..Samples::default()
        }
    }

    /// Adds the sample of a window with `calls` calls, if the worker made a claim: their mean time,
    /// or a count unless further calls are needed for it.
    pub(super) fn keep(&mut self, window: &WindowEvidence, calls: NonZeroU32) {
        let (Some(claim), Some(elapsed_ns)) = (window.claim.as_deref(), window.elapsed_ns()) else {
            return;
        };
        match (self.measurand, claim.progress) {
            (Measurand::Time, _) => {
                let calls = f64::from(calls.get());
                self.values.push(elapsed_ns / calls);
                self.host_ns.push(claim.host_ns / calls);
            }
            (Measurand::Instructions | Measurand::Hardware, CountProgress::Complete) => self.values.push(claim.count),
            (Measurand::Instructions | Measurand::Hardware, _) => {}
        }
        self.turn_mut().samples.end = self.values.len();
    }

    /// Adds a sample whose count comes later. Returns its position.
    pub(super) fn keep_for_later(&mut self) -> usize {
        // All are equal until then, as most counts are in the end.
        self.values.push(1.0);
        self.turn_mut().samples.end = self.values.len();
        self.values.len() - 1
    }

    /// Sets a sample.
    pub(super) fn set(&mut self, position: usize, value: f64) {
        self.values[position] = value;
    }

    /// Throws the latest samples of the current worker away. It then needs more.
    pub(super) fn throw_away(&mut self, samples: usize) {
        let left = self.values.len().saturating_sub(samples).max(self.turn().samples.start);
        self.values.truncate(left);
        self.host_ns.truncate(left);
        let turn = self.turn_mut();
        turn.samples.end = left;
        turn.stop = None;
    }

    /// Returns the current worker's turn.
    pub(super) fn turn(&self) -> &Turn {
        self.turns.last().expect("a turn has begun")
    }

    pub(super) fn turn_mut(&mut self) -> &mut Turn {
        self.turns.last_mut().expect("a turn has begun")
    }

    /// Returns the number of turns so far.
    pub(super) fn turns(&self) -> usize {
        self.turns.len()
    }

    /// Returns the position of the current worker in the arm, counted from 0.
    pub(super) fn position(&self) -> usize {
        self.turns.len().saturating_sub(1)
    }

    /// Returns the samples of each worker.
    pub(super) fn by_worker(&self) -> Vec<&[f64]> {
        self.turns.iter().map(|turn| self.of(turn)).collect()
    }

    /// Returns the samples of the current worker.
    pub(super) fn of_present_worker(&self) -> &[f64] {
        self.of(self.turn())
    }

    fn of(&self, turn: &Turn) -> &[f64] {
        &self.values[turn.samples.clone()]
    }

    /// Returns the time that all samples took.
    pub(super) fn sampled_for(&self) -> Duration {
        self.turns.iter().map(|turn| turn.sampled_for).sum()
    }

    /// Returns why each worker stopped, for those that have enough samples.
    pub(super) fn stops(&self) -> Vec<StopReason> {
        self.turns.iter().filter_map(|turn| turn.stop).collect()
    }
}
