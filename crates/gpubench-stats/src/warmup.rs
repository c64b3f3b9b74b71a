//! The rule that ends warm-up.

use std::time::Duration;

use super::quantile::median;
use super::spent::Spent;

/// Decides when warm-up ends: when the median of the latest windows no longer differs from that of
/// the windows before them, and the windows have kept the device busy for long enough.
///
/// The medians may differ by `tolerance`, by one step of the clock, or by as much as the earlier
/// windows differ among themselves, so that a noisy kernel does not keep warming up because of its
/// noise. The number of windows and the time are limited. A window costs much more time than a
/// short call, so a second limit ends the wait for a busy device.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmUpRule {
    /// Number of windows in each of the two groups that are compared.
    pub group: usize,
    /// Relative difference of the two medians that does not count.
    pub tolerance: f64,
    /// Resolution of the samples, such as the step of the device's clock.
    pub step: f64,
    /// Maximum number of windows until the medians agree.
    pub max_windows: usize,
    /// Maximum wall time until the medians agree.
    pub max_time: Duration,
    /// Time that the windows take on the device in any case.
    pub device_time: Duration,
    /// Maximum wall time until they have taken that.
    pub device_time_within: Duration,
}

impl Default for WarmUpRule {
    fn default() -> WarmUpRule {
        WarmUpRule {
            group: 5,
            tolerance: 0.01,
            step: 0.0,
            max_windows: 50,
            max_time: Duration::from_millis(500),
            device_time: Duration::ZERO,
            device_time_within: Duration::MAX,
        }
    }
}

impl WarmUpRule {
    /// Returns the rule for a further fresh worker on a device that the case's first worker has
    /// warmed up.
    ///
    /// The clocks of the device are stable by then. Only what the process does for the first time
    /// is slow: translating the addresses of its mappings and loading the code of its kernels. The
    /// first windows absorb that, so two groups of two are enough. Two windows say little about a
    /// noisy kernel, so there are at most six. Windows are never compared with those of another
    /// worker. Workers of the same code differ, and waiting until one resembles the first would
    /// hide that.
    pub fn of_further_worker(&self) -> WarmUpRule {
        WarmUpRule {
            group: self.group.min(2),
            max_windows: self.max_windows.min(6),
            max_time: self.max_time / 5,
            ..self.clone()
        }
    }

    /// Returns the rule for a worker that has warmed up in an earlier measurement of the same case
    /// and has rested since.
    ///
    /// Its code is loaded, and the clocks of the device are stable. Only its buffers are new, which
    /// the first window absorbs. So single windows are compared, and there are at most four.
    pub fn of_rested_worker(&self) -> WarmUpRule {
        WarmUpRule {
            group: 1,
            max_windows: self.max_windows.min(4),
            max_time: self.max_time / 5,
            ..self.clone()
        }
    }

    /// Whether warm-up is over after these windows, on which `spent` was spent. Call it before the
    /// first window and after each.
    pub fn is_over(&self, windows: &[f64], spent: Spent) -> bool {
        let is_settled = self.is_stable(windows) || windows.len() >= self.max_windows || spent.wall >= self.max_time;
        is_settled && (spent.device >= self.device_time || spent.wall >= self.device_time_within)
    }

    fn is_stable(&self, windows: &[f64]) -> bool {
        let Some(start) = windows.len().checked_sub(2 * self.group) else {
            return false;
        };
        let (earlier, recent) = windows[start..].split_at(self.group);
        let (Some(before), Some(now)) = (median(earlier), median(recent)) else {
            return false;
        };
        let difference = (now - before).abs();
        difference <= self.tolerance * before.abs() || difference <= self.step || is_among(earlier, now)
    }
}

/// Whether `value` lies strictly between the second smallest and the second largest of at least
/// four samples. It is then within their noise, not at the end of a slope.
fn is_among(samples: &[f64], value: f64) -> bool {
    let below = samples.iter().filter(|sample| **sample < value).count();
    let above = samples.iter().filter(|sample| **sample > value).count();
    below >= 2 && above >= 2
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

    /// Returns the number of windows after which warm-up is over.
    fn run(rule: &WarmUpRule, windows: &[f64]) -> Option<usize> {
        (0..=windows.len()).find(|n| rule.is_over(&windows[..*n], SOON))
    }

    #[test]
    fn steady_windows_settle_after_two_groups() {
        assert_eq!(run(&WarmUpRule::default(), &[100.0; 30]), Some(10));
    }

    #[test]
    fn a_ramp_from_20_to_9_is_followed_to_its_end() {
        let ramp = (0..20).map(|i| 20.6 - 0.59 * f64::from(i));
        let windows: Vec<f64> = ramp.chain(std::iter::repeat_n(8.8, 30)).collect();
        let n = run(&WarmUpRule::default(), &windows).expect("it is over");
        assert!((25..=30).contains(&n), "{n}");
    }

    #[test]
    fn noise_does_not_prolong_warm_up() {
        let mut random = fastrand::Rng::with_seed(1);
        let windows: Vec<f64> = (0..50).map(|_| 100.0 + 20.0 * random.f64()).collect();
        let n = run(&WarmUpRule::default(), &windows).expect("it is over");
        assert!(n < 20, "{n}");
    }

    #[test]
    fn a_difference_of_one_tick_does_not_count() {
        let windows = [[1056.0; 5], [1024.0; 5]].concat();
        let rule = WarmUpRule {
            step: 32.0,
            ..WarmUpRule::default()
        };
        assert_eq!(run(&rule, &windows), Some(10));
        assert_eq!(run(&WarmUpRule::default(), &windows), None);
    }

    #[test]
    fn an_endless_slope_stops_at_the_limit() {
        let windows: Vec<f64> = (0..100).map(|i| 1e6 * 0.95f64.powi(i)).collect();
        assert_eq!(run(&WarmUpRule::default(), &windows), Some(50));
    }

    #[test]
    fn a_rested_worker_is_warm_once_two_windows_agree() {
        let rule = WarmUpRule::default().of_rested_worker();
        let is_over = |windows: &[f64]| rule.is_over(windows, SOON);
        assert!(!is_over(&[9.0]) && is_over(&[9.0, 9.0]));
        assert!(!is_over(&[20.0, 9.0]) && is_over(&[20.0, 9.0, 9.0]));
        assert!(is_over(&[20.0, 9.0, 12.0, 15.0]), "four windows are the most");
    }

    #[test]
    fn a_further_worker_is_warm_after_its_first_slow_windows() {
        let rule = WarmUpRule::default().of_further_worker();
        assert_eq!(run(&rule, &[100.0; 30]), Some(4));
        let slow_at_first = [300.0, 120.0, 100.0, 100.0, 100.0, 100.0, 100.0];
        let unlimited = WarmUpRule {
            max_windows: 50,
            ..rule.clone()
        };
        assert_eq!(run(&unlimited, &slow_at_first), Some(6), "the groups are equal");
        let noisy: Vec<f64> = (0..30).map(|i| 100.0 * 1.3f64.powi(i % 3)).collect();
        assert!(run(&rule, &noisy).expect("it is over") <= 6);
        assert!(rule.is_over(&[1.0], after(Duration::from_millis(100))));
    }

    #[test]
    fn a_worker_that_is_not_the_first_has_a_fifth_of_the_time() {
        let rule = WarmUpRule::default();
        for rule in [rule.of_further_worker(), rule.of_rested_worker()] {
            assert!(!rule.is_over(&[1.0], after(Duration::from_millis(99))), "{rule:?}");
            assert!(rule.is_over(&[1.0], after(Duration::from_millis(100))), "{rule:?}");
        }
    }

    #[test]
    fn time_and_a_limit_of_zero_end_it_at_once() {
        assert!(WarmUpRule::default().is_over(&[1.0], after(Duration::from_secs(1))));
        let none = WarmUpRule {
            max_windows: 0,
            ..WarmUpRule::default()
        };
        assert!(none.is_over(&[], SOON));
    }

    #[test]
    fn a_device_that_is_to_be_busy_is_so_even_if_the_windows_agree() {
        let rule = WarmUpRule {
            device_time: Duration::from_millis(25),
            device_time_within: Duration::from_secs(2),
            ..WarmUpRule::default()
        };
        let spent = |device_us, wall_ms| Spent {
            wall: Duration::from_millis(wall_ms),
            device: Duration::from_micros(device_us),
        };
        let windows = [1e6; 60];
        assert!(!rule.is_over(&windows, spent(24_999, 100)));
        assert!(rule.is_over(&windows, spent(25_000, 100)));
        assert!(!rule.is_over(&windows[..3], spent(30_000, 100)), "too few to agree");
        assert!(!rule.is_over(&windows, spent(100, 1_999)));
        assert!(rule.is_over(&windows, spent(100, 2_000)), "a short call has no end");
        for rule in [rule.of_further_worker(), rule.of_rested_worker()] {
            assert!(!rule.is_over(&windows, spent(24_999, 100)), "each process warms up");
            assert!(rule.is_over(&windows, spent(25_000, 100)));
        }
    }

    proptest! {
        #[test]
        fn a_longer_device_time_never_shortens_warm_up(
            windows in prop::collection::vec(1.0f64..1e9, 0..60),
            [wall, device, wanted, most] in prop::array::uniform4((0u64..1_000).prop_map(Duration::from_millis)),
        ) {
            let rule = WarmUpRule { device_time: wanted, device_time_within: most, ..WarmUpRule::default() };
            let spent = Spent { wall, device };
            let is_settled = WarmUpRule::default().is_over(&windows, spent);
            prop_assert_eq!(rule.is_over(&windows, spent), is_settled && (device >= wanted || wall >= most));
        }

        #[test]
        fn any_windows_end_within_the_limit(bits in prop::collection::vec(any::<u64>(), 50..60)) {
            let windows: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
            prop_assert!(run(&WarmUpRule::default(), &windows).is_some());
        }
    }
}
