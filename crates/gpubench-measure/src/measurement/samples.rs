//! The samples of an arm, by worker.

use std::num::NonZeroU32;
use std::ops::Range;
use std::time::Duration;

use crate::clients::WorkerPast;
use crate::verdict::WindowEvidence;
use gpubench_contract::StopReason;
use gpubench_protocol::wire::{CountProgress, Measurand};
use gpubench_stats::Spent;

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
    /// Time spent on its warm-up windows.
    pub(super) warmed_up: Spent,
    /// The range of its samples.
    samples: Range<usize>,
    /// Wall time of the windows with samples and early checks, without rests of the device.
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
            warmed_up: Spent::default(),
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

    /// Returns the time spent on the samples of the current worker, each of `calls` calls.
    pub(super) fn spent_by_present_worker(&self, calls: NonZeroU32) -> Spent {
        Spent {
            wall: self.turn().sampled_for,
            device: self.time_of(self.of_present_worker(), calls),
        }
    }

    /// Returns the time spent on all samples, each of `calls` calls.
    pub(super) fn spent(&self, calls: NonZeroU32) -> Spent {
        Spent {
            wall: self.turns.iter().map(|turn| turn.sampled_for).sum(),
            device: self.time_of(&self.values, calls),
        }
    }

    /// Returns the time of samples of `calls` calls. Counts have none.
    fn time_of(&self, samples: &[f64], calls: NonZeroU32) -> Duration {
        match self.measurand {
            Measurand::Time => Spent::device_ns(samples.iter().sum::<f64>() * f64::from(calls.get())),
            Measurand::Instructions | Measurand::Hardware => Duration::ZERO,
        }
    }

    /// Returns the time that the warm-up windows of all workers took on the device.
    pub(super) fn warmed_up(&self) -> Duration {
        self.turns.iter().map(|turn| turn.warmed_up.device).sum()
    }

    /// Returns why each worker stopped, for those that have enough samples.
    pub(super) fn stops(&self) -> Vec<StopReason> {
        self.turns.iter().filter_map(|turn| turn.stop).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(measurand: Measurand) -> Samples {
        let mut samples = Samples::of_measurand(measurand);
        for turn in [&[100.0, 200.0][..], &[300.0, 400.0]] {
            samples.begin_turn();
            samples.values.extend(turn);
            let turn = samples.turn_mut();
            turn.samples.end += 2;
            turn.sampled_for = Duration::from_secs(1);
            turn.warmed_up.device = Duration::from_millis(3);
        }
        samples
    }

    #[test]
    fn the_time_on_the_device_is_that_of_all_calls_of_the_samples() {
        let samples = sampled(Measurand::Time);
        let ten = NonZeroU32::new(10).expect("ten");
        let spent = |wall, device| Spent {
            wall: Duration::from_secs(wall),
            device: Duration::from_micros(device),
        };
        assert_eq!(samples.spent(ten), spent(2, 10));
        assert_eq!(samples.spent_by_present_worker(ten), spent(1, 7));
        assert_eq!(samples.warmed_up(), Duration::from_millis(6));
    }

    #[test]
    fn samples_that_are_thrown_away_take_no_time_on_the_device() {
        let mut samples = sampled(Measurand::Time);
        samples.throw_away(1);
        let device = samples.spent_by_present_worker(NonZeroU32::MIN).device;
        assert_eq!(device, Duration::from_nanos(300));
    }

    #[test]
    fn counts_are_no_time() {
        let samples = sampled(Measurand::Instructions);
        assert_eq!(samples.spent(NonZeroU32::MIN).device, Duration::ZERO);
    }
}
