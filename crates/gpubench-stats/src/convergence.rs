//! The rule that stops sampling.

use std::time::Duration;

use super::interquartile_mean::{mean_between_quartiles, variance_of_mean};
use super::interval::order_statistic_interval;
use super::moments::Moments;
use super::quantile::{quantile, sorted};
use super::spent::Spent;
use gpubench_contract::StopReason;

/// Decides when to stop sampling. It is a pure function of the samples and the time spent on them,
/// so the same samples always stop at the same point.
///
/// Only `max_samples` can stop sampling before `min_samples`, so a slow kernel takes longer than
/// `sample_time` and `max_time`. The rule is applied after every sample. Because of these repeated
/// looks at the data, the interval that stops a run covers slightly less than 95 %. It is not the
/// interval that is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct StopRule {
    /// The target coefficient of variation. Short kernels never reach it: on an H200, it is 6 to 11
    /// % at 4 µs.
    pub target_cv: f64,
    /// The target half-width of the 95 % interval of the median, relative to the median.
    pub median_interval: f64,
    /// Minimum number of samples.
    pub min_samples: usize,
    /// Number of samples before spread and interval count, if it is larger than `min_samples`.
    pub spread_from: usize,
    /// Maximum number of samples.
    pub max_samples: usize,
    /// Time on the device that is enough.
    pub sample_time: Duration,
    /// Maximum wall time.
    pub max_time: Duration,
    /// Resolution of the samples, such as the step of the device's clock. An interval cannot become
    /// narrower.
    pub step: f64,
    /// When the coefficient of variation counts as stable. `None` for never.
    pub plateau: Option<Plateau>,
    /// How well the mean between the quartiles is to be known before spread and interval count.
    pub precision: Option<Precision>,
}

/// How well the mean between the quartiles of the samples is to be known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Its standard error, relative to it.
    pub error: f64,
    /// Number of samples that are enough, however much they vary.
    pub enough: usize,
}

impl Precision {
    fn is_reached(self, sorted: &[f64]) -> bool {
        let center = mean_between_quartiles(sorted).abs();
        sorted.len() >= self.enough || variance_of_mean(sorted, center).sqrt() <= self.error
    }
}

/// When the estimate of the coefficient of variation counts as stable.
///
/// The spread of samples does not shrink with their number, so a noisy kernel never reaches a
/// target below its spread. NVBench therefore stops when the estimate itself no longer moves. This
/// rule compares the estimates after each of the last `samples` samples: their spread must be less
/// than `spread`, relative to their mean. NVBench uses 5 % over up to 512 estimates. With 2 % over
/// 64, a kernel with a spread of 10 % stops after a few hundred samples, and its median is known to
/// about 1.5 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Number of most recent estimates to compare.
    pub samples: usize,
    /// Maximum standard deviation of the estimates, relative to their mean.
    pub spread: f64,
}

impl Default for Plateau {
    fn default() -> Plateau {
        Plateau {
            samples: 64,
            spread: 0.02,
        }
    }
}

impl Default for StopRule {
    /// Stops when the interval is narrow or the spread is stable, without limits.
    fn default() -> StopRule {
        StopRule {
            target_cv: 0.0,
            median_interval: 0.01,
            min_samples: 1,
            spread_from: 0,
            max_samples: usize::MAX,
            sample_time: Duration::MAX,
            max_time: Duration::MAX,
            step: 0.0,
            plateau: Some(Plateau::default()),
            precision: None,
        }
    }
}

#[cfg(test)]
impl StopRule {
    /// Returns a rule with the limits of a typical run.
    pub(super) fn usual() -> StopRule {
        StopRule {
            target_cv: 0.01,
            min_samples: 20,
            max_samples: 1_000,
            max_time: Duration::from_secs(2),
            ..StopRule::default()
        }
    }
}

impl StopRule {
    /// Returns why sampling can stop, or `None` if it must continue. `spent` is the time spent on
    /// the samples. Call it after every sample. It makes one pass and one sort, which take some
    /// 20 µs for hundreds of samples. It never stops before the first sample. Samples that are not
    /// finite only stop at the limits.
    pub fn decide(&self, samples: &[f64], spent: Spent) -> Option<StopReason> {
        if samples.is_empty() {
            return None;
        }
        self.converged(samples).or_else(|| self.at_limit(samples.len(), spent))
    }

    fn converged(&self, samples: &[f64]) -> Option<StopReason> {
        if samples.len() < self.min_samples.max(self.spread_from) {
            return None;
        }
        let sorted = sorted(samples)?;
        if self.precision.is_some_and(|precision| !precision.is_reached(&sorted)) {
            return None;
        }
        if Moments::from_samples(samples)
            .cv()
            .is_some_and(|cv| cv < self.target_cv)
        {
            return Some(StopReason::TargetCv);
        }
        self.interval_is_narrow(&sorted)
            .or_else(|| self.cv_is_stable(samples).then_some(StopReason::Plateau))
    }

    fn interval_is_narrow(&self, sorted: &[f64]) -> Option<StopReason> {
        let median = quantile(sorted, 0.5)?;
        let reach = order_statistic_interval(sorted)?.reach_from(median);
        if reach <= self.median_interval * median.abs() {
            Some(StopReason::MedianInterval)
        } else if reach <= self.step {
            Some(StopReason::ClockTick)
        } else {
            None
        }
    }

    fn cv_is_stable(&self, samples: &[f64]) -> bool {
        let Some(plateau) = self.plateau else { return false };
        let Some(first) = samples.len().checked_sub(plateau.samples) else {
            return false;
        };
        if first < self.min_samples.max(self.spread_from) || plateau.samples < 2 {
            return false;
        }
        let mut moments = Moments::from_samples(&samples[..first]);
        let mut estimates = Moments::default();
        for sample in &samples[first..] {
            moments.push(*sample);
            let Some(cv) = moments.cv() else { return false };
            estimates.push(cv);
        }
        estimates.cv().is_some_and(|spread| spread < plateau.spread)
    }

    fn at_limit(&self, samples: usize, spent: Spent) -> Option<StopReason> {
        if samples >= self.max_samples {
            Some(StopReason::MaxSamples)
        } else if samples < self.min_samples {
            None
        } else if spent.device >= self.sample_time {
            Some(StopReason::SampleTime)
        } else if spent.wall >= self.max_time {
            Some(StopReason::MaxTime)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SOON: Spent = Spent {
        wall: Duration::from_millis(1),
        device: Duration::ZERO,
    };

    fn after(wall: Duration) -> Spent {
        Spent { wall, ..SOON }
    }

    /// Returns samples spread evenly over `center` ± `half_width`, in seeded random order.
    fn spread(n: usize, center: f64, half_width: f64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(5);
        (0..n)
            .map(|_| center + half_width * (2.0 * random.f64() - 1.0))
            .collect()
    }

    /// Applies the rule after every sample, as the broker does.
    fn run(rule: &StopRule, samples: &[f64]) -> (usize, Option<StopReason>) {
        for n in 0..=samples.len() {
            if let Some(reason) = rule.decide(&samples[..n], SOON) {
                return (n, Some(reason));
            }
        }
        (samples.len(), None)
    }

    #[test]
    fn spread_and_interval_count_only_once_the_mean_is_known_or_there_are_enough_samples() {
        let samples = spread(1_000, 1e6, 9e3);
        let with = |error, enough| {
            let rule = StopRule {
                precision: Some(Precision { error, enough }),
                ..StopRule::usual()
            };
            run(&rule, &samples).0
        };
        assert_eq!(run(&StopRule::usual(), &samples).0, 20);
        assert_eq!(with(0.01, 900), 20);
        let known = with(0.001, 900);
        assert!((21..200).contains(&known), "{known}");
        assert_eq!(with(0.0, 40), 40);
    }

    #[test]
    fn the_limits_hold_however_well_the_mean_is_known() {
        let rule = StopRule {
            precision: Some(Precision {
                error: 0.0,
                enough: usize::MAX,
            }),
            max_samples: 30,
            ..StopRule::usual()
        };
        assert_eq!(run(&rule, &spread(100, 1e6, 5e3)), (30, Some(StopReason::MaxSamples)));
    }

    #[test]
    fn steady_samples_stop_at_the_minimum_number() {
        let samples = spread(100, 1e6, 5e3);
        assert_eq!(run(&StopRule::usual(), &samples), (20, Some(StopReason::TargetCv)));
    }

    #[test]
    fn a_narrow_interval_stops_even_if_the_spread_is_large() {
        let (n, reason) = run(&StopRule::usual(), &spread(1_000, 1e4, 400.0));
        assert_eq!(reason, Some(StopReason::MedianInterval));
        assert!((21..200).contains(&n), "{n}");
    }

    #[test]
    fn an_interval_of_one_tick_stops_if_one_percent_is_less_than_a_tick() {
        let samples: Vec<f64> = (0..60).map(|i| [992.0, 1024.0, 1056.0][i % 3]).collect();
        let rule = StopRule {
            step: 32.0,
            ..StopRule::usual()
        };
        assert_eq!(run(&rule, &samples), (20, Some(StopReason::ClockTick)));
        assert!(run(&StopRule::usual(), &samples).0 > 20);
    }

    #[test]
    fn a_noisy_kernel_stops_when_its_spread_is_stable() {
        let samples = spread(1_000, 1e4, 4e3);
        let (n, reason) = run(&StopRule::usual(), &samples);
        assert_eq!(reason, Some(StopReason::Plateau));
        assert!((84..600).contains(&n), "{n}");
        let without = StopRule {
            plateau: None,
            ..StopRule::usual()
        };
        assert_eq!(run(&without, &samples), (1_000, Some(StopReason::MaxSamples)));
    }

    #[test]
    fn a_spread_that_still_grows_is_no_plateau() {
        let rule = StopRule {
            max_samples: 400,
            ..StopRule::usual()
        };
        let growing: Vec<f64> = (0..400).map(|i| 1e3 * 1.03f64.powi(i)).collect();
        assert_eq!(run(&rule, &growing), (400, Some(StopReason::MaxSamples)));
    }

    #[test]
    fn the_time_limit_respects_the_minimum_number_of_samples_but_the_maximum_number_does_not() {
        let rule = StopRule::usual();
        let spread: Vec<f64> = (0..20).map(|i| 1e9 * f64::from(1 + i % 5)).collect();
        assert_eq!(rule.decide(&spread[..19], after(Duration::from_secs(60))), None);
        assert_eq!(
            rule.decide(&spread, after(Duration::from_secs(2))),
            Some(StopReason::MaxTime)
        );
        assert_eq!(rule.decide(&spread, after(Duration::from_secs(1))), None);
        let few = StopRule {
            max_samples: 3,
            ..StopRule::usual()
        };
        assert_eq!(run(&few, &[1.0, 2.0, 3.0]), (3, Some(StopReason::MaxSamples)));
    }

    #[test]
    fn enough_time_on_the_device_stops_from_the_minimum_number_of_samples_on() {
        let rule = StopRule {
            sample_time: Duration::from_millis(100),
            ..StopRule::usual()
        };
        let spread: Vec<f64> = (0..20).map(|i| 1e6 * f64::from(1 + i % 5)).collect();
        let on_device = |ms| Spent {
            wall: Duration::from_secs(1),
            device: Duration::from_millis(ms),
        };
        assert_eq!(rule.decide(&spread, on_device(99)), None);
        assert_eq!(rule.decide(&spread, on_device(100)), Some(StopReason::SampleTime));
        assert_eq!(rule.decide(&spread[..19], on_device(1_000)), None);
        assert_eq!(StopRule::usual().decide(&spread, on_device(100_000)), None, "no limit");
        let both = Spent {
            wall: Duration::from_secs(2),
            ..on_device(100)
        };
        assert_eq!(rule.decide(&spread, both), Some(StopReason::SampleTime));
        // Whichever comes first.
        let late = after(Duration::from_secs(2));
        assert_eq!(rule.decide(&spread, late), Some(StopReason::MaxTime));
        assert_eq!(rule.decide(&[1e6; 20], on_device(1)), Some(StopReason::TargetCv));
    }

    #[test]
    fn spread_and_interval_count_only_from_their_minimum_on() {
        let rule = StopRule {
            min_samples: 2,
            spread_from: 30,
            ..StopRule::usual()
        };
        assert_eq!(run(&rule, &[1e6; 60]), (30, Some(StopReason::TargetCv)));
        let by_interval = StopRule { target_cv: 0.0, ..rule };
        assert_eq!(run(&by_interval, &[1e6; 60]), (30, Some(StopReason::MedianInterval)));
        let later = StopRule {
            min_samples: 40,
            ..rule
        };
        assert_eq!(run(&later, &[1e6; 60]), (40, Some(StopReason::TargetCv)));
        // From the minimum number on, the time limit stops sampling whatever the spread.
        assert_eq!(
            rule.decide(&[1e6; 2], after(Duration::from_secs(2))),
            Some(StopReason::MaxTime)
        );
    }

    #[test]
    fn the_far_end_of_an_interval_decides_its_width() {
        // Eleven of twenty samples are close together, and nine far above or below.
        for far in [1.5e4, 0.5e4] {
            let samples: Vec<f64> = (0..20).map(|i| if i < 11 { 1e4 + f64::from(i) } else { far }).collect();
            let rule = StopRule {
                plateau: None,
                target_cv: 0.0,
                ..StopRule::usual()
            };
            assert_eq!(rule.decide(&samples, SOON), None, "{far}");
            let stepped = StopRule { step: 32.0, ..rule };
            assert_eq!(stepped.decide(&samples, SOON), None, "{far}");
        }
    }

    #[test]
    fn the_first_samples_are_no_plateau() {
        // The spread never changes, so the estimates are stable at once.
        let samples: Vec<f64> = (0..200).map(|i| if i % 2 == 0 { 1e4 } else { 2e4 }).collect();
        let rule = StopRule {
            min_samples: 10,
            median_interval: 0.0,
            target_cv: 0.0,
            ..StopRule::usual()
        };
        let (at, reason) = run(&rule, &samples);
        assert_eq!((at, reason), (74, Some(StopReason::Plateau)));
        let later = StopRule {
            spread_from: 50,
            ..rule
        };
        assert_eq!(run(&later, &samples), (114, Some(StopReason::Plateau)));
    }

    #[test]
    fn sampling_never_stops_before_the_first_sample() {
        assert_eq!(StopRule::usual().decide(&[], after(Duration::from_secs(60))), None);
    }

    #[test]
    fn zeros_stop_by_their_interval_because_their_spread_is_undefined() {
        assert_eq!(
            run(&StopRule::usual(), &[0.0; 30]),
            (20, Some(StopReason::MedianInterval))
        );
    }

    #[test]
    fn samples_that_are_not_finite_only_stop_at_the_limits() {
        let samples = [f64::NAN; 1_000];
        assert_eq!(run(&StopRule::usual(), &samples), (1_000, Some(StopReason::MaxSamples)));
    }

    #[test]
    fn json_and_display_have_the_same_words() {
        for reason in [
            StopReason::TargetCv,
            StopReason::MedianInterval,
            StopReason::ClockTick,
            StopReason::Plateau,
            StopReason::MaxSamples,
            StopReason::SampleTime,
            StopReason::MaxTime,
        ] {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.to_string());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_samples_panic_and_the_limits_always_stop(
            bits in prop::collection::vec(any::<u64>(), 1..80), wall in 0u64..4, device in 0u64..4, tick in any::<f64>(),
        ) {
            let samples: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
            let sample_time = Duration::from_secs(1);
            let rule = StopRule { step: tick, max_samples: 50, sample_time, ..StopRule::usual() };
            let [wall, device] = [wall, device].map(Duration::from_secs);
            let reason = rule.decide(&samples, Spent { wall, device });
            let is_up = device >= rule.sample_time || wall >= rule.max_time;
            if samples.len() >= 50 || samples.len() >= rule.min_samples && is_up {
                prop_assert!(reason.is_some());
            } else if samples.len() < rule.min_samples {
                prop_assert_eq!(reason, None);
            }
        }

        #[test]
        fn the_unit_of_time_does_not_matter(seed in any::<u64>(), exponent in -20i32..20) {
            let mut random = fastrand::Rng::with_seed(seed);
            let samples: Vec<f64> = (0..120).map(|_| 1e4 + 1e3 * random.f64()).collect();
            let scaled: Vec<f64> = samples.iter().map(|sample| sample * 2f64.powi(exponent)).collect();
            let rule = StopRule::usual();
            prop_assert_eq!(run(&rule, &samples), run(&rule, &scaled));
        }
    }
}
