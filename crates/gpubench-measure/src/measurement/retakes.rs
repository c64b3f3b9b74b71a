//! Samples that are thrown away because the device throttled, and taken again.

use std::time::Duration;

use gpubench_device::telemetry::Throttling;
use gpubench_stats::StopRule;

/// The pause before a sample is taken again, at first and at most. It grows by half each time.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Attempts as long as the device has throttled in every sample of the case. A device that always
/// throttles must not lose its samples.
const FIRST_ATTEMPTS: usize = 3;

/// What to do about the latest samples of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retake {
    /// Number of samples to throw away.
    pub(super) samples: usize,
    /// Time for the device to recover.
    pub(super) pause: Duration,
}

/// How many samples of a case may still be taken again.
#[derive(Debug)]
pub(super) struct Retakes {
    left: usize,
    /// Attempts left while no sample was free of throttling. `None` after the first one that was.
    attempts: Option<usize>,
    pause: Duration,
}

impl Retakes {
    /// Returns the limit of a case: as many retakes as it must have samples.
    pub(super) fn of_case(stop: &StopRule) -> Retakes {
        Retakes {
            left: stop.min_samples,
            attempts: Some(FIRST_ATTEMPTS),
            pause: FIRST_PAUSE,
        }
    }

    /// Returns what to throw away after a sample, given what is known about throttling. `most` is
    /// the number of samples that can be thrown away.
    pub(super) fn after_sample(&mut self, throttling: Throttling, most: usize) -> Option<Retake> {
        match throttling {
            Throttling::Unknown => None,
            Throttling::Absent => {
                self.attempts = None;
                self.pause = FIRST_PAUSE;
                None
            }
            Throttling::Found(found) => self.retake(found.min(most)),
        }
    }

    fn retake(&mut self, samples: usize) -> Option<Retake> {
        let may = samples > 0 && samples <= self.left && self.attempts != Some(0);
        may.then(|| {
            self.left -= samples;
            self.attempts = self.attempts.map(|attempts| attempts - 1);
            let pause = self.pause;
            self.pause = pause.mul_f64(1.5).min(LONGEST_PAUSE);
            Retake { samples, pause }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retakes(min_samples: usize) -> Retakes {
        Retakes::of_case(&StopRule {
            min_samples,
            ..StopRule::default()
        })
    }

    /// Returns how many of the samples were taken again, given what is found after each.
    fn taken_again(retakes: &mut Retakes, found: impl IntoIterator<Item = Throttling>) -> usize {
        let after = found.into_iter().filter_map(|found| retakes.after_sample(found, 100));
        after.map(|retake| retake.samples).sum()
    }

    #[test]
    fn a_throttled_sample_is_taken_again_after_pauses_that_grow() {
        let mut retakes = retakes(20);
        assert_eq!(retakes.after_sample(Throttling::Absent, 1), None);
        let pauses: Vec<u128> = (0..8)
            .map(|_| retakes.after_sample(Throttling::Found(1), 1).unwrap().pause.as_micros())
            .collect();
        assert_eq!(pauses, [5_000, 7_500, 11_250, 16_875, 25_312, 37_968, 50_000, 50_000]);
        assert_eq!(retakes.after_sample(Throttling::Absent, 1), None);
        let after_recovery = retakes.after_sample(Throttling::Found(1), 1).unwrap();
        assert_eq!(after_recovery.pause, FIRST_PAUSE);
    }

    #[test]
    fn a_device_that_always_throttles_keeps_its_samples_after_a_few_attempts() {
        assert_eq!(taken_again(&mut retakes(20), [Throttling::Found(1); 100]), 3);
    }

    #[test]
    fn no_more_samples_are_taken_again_than_a_case_must_have() {
        let mut retakes = retakes(20);
        let mostly_throttled = [Throttling::Absent].into_iter().chain([Throttling::Found(1); 100]);
        assert_eq!(taken_again(&mut retakes, mostly_throttled), 20);
        assert_eq!(taken_again(&mut retakes, [Throttling::Absent, Throttling::Found(1)]), 0);
    }

    #[test]
    fn a_reading_covers_several_samples_but_only_those_of_this_worker_can_go() {
        let mut retakes = retakes(20);
        let retake = retakes.after_sample(Throttling::Found(8), 3).unwrap();
        assert_eq!(retake.samples, 3);
        assert_eq!(retakes.after_sample(Throttling::Found(8), 0), None);
        assert_eq!(retakes.after_sample(Throttling::Found(18), 100), None, "too many");
    }

    #[test]
    fn without_readings_nothing_is_taken_again() {
        assert_eq!(taken_again(&mut retakes(20), [Throttling::Unknown; 10]), 0);
    }
}
