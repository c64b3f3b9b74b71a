//! When the first windows have warmed the device up.

use std::time::Duration;

use super::quantile::median;

/// When warm-up is over: the median of the most recent windows no longer differs from that of the windows before them.
///
/// It may differ by `tolerance`, by one step of the clock, or by as much as the earlier windows differ among themselves: a noisy kernel is
/// not kept warming up for its noise. Windows and time are bounded.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmUpRule {
    /// Windows of each of the two groups that are compared.
    pub group: usize,
    /// Relative difference of the two medians that counts as none.
    pub tolerance: f64,
    /// Step of what the samples are measured with, as that of the device's clock.
    pub step: f64,
    /// Most windows.
    pub max_windows: usize,
    /// Most time, by the clock that `decide`'s caller reads.
    pub max_time: Duration,
}

impl Default for WarmUpRule {
    fn default() -> WarmUpRule {
        WarmUpRule {
            group: 5,
            tolerance: 0.01,
            step: 0.0,
            max_windows: 50,
            max_time: Duration::from_millis(500),
        }
    }
}

/// Why warm-up ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUpEnd {
    /// The running median has settled.
    Settled,
    /// The largest number of windows was reached.
    MaxWindows,
    /// The time for warm-up was used up.
    MaxTime,
}

impl WarmUpRule {
    /// When a further fresh worker is warm on a device that the case's first one has warmed up.
    ///
    /// The clocks have settled; what is slow is what the process does for the first time: translating the addresses it has mapped, loading the code of its kernels. That is over with the
    /// first windows, so two groups of two tell, and a noisy kernel, of which two windows tell little, has six at most. The windows are compared with one another and never with
    /// those of another worker: workers of the same code differ, and to wait until one is like the first would hide by how much.
    pub fn of_further_worker(&self) -> WarmUpRule {
        WarmUpRule {
            group: self.group.min(2),
            max_windows: self.max_windows.min(6),
            max_time: self.max_time / 5,
            ..self.clone()
        }
    }

    /// Whether warm-up is over after the windows so far, and why. To be asked before the first window and after each.
    pub fn decide(&self, windows: &[f64], elapsed: Duration) -> Option<WarmUpEnd> {
        if self.settled(windows) {
            Some(WarmUpEnd::Settled)
        } else if windows.len() >= self.max_windows {
            Some(WarmUpEnd::MaxWindows)
        } else if elapsed >= self.max_time {
            Some(WarmUpEnd::MaxTime)
        } else {
            None
        }
    }

    fn settled(&self, windows: &[f64]) -> bool {
        let Some(split) = windows.len().checked_sub(self.group) else {
            return false;
        };
        let Some(start) = split.checked_sub(self.group) else {
            return false;
        };
        let (earlier, recent) = (&windows[start..split], &windows[split..]);
        let (Some(before), Some(now)) = (median(earlier), median(recent)) else {
            return false;
        };
        let difference = (now - before).abs();
        difference <= self.tolerance * before.abs() || difference <= self.step || is_among(earlier, now)
    }
}

/// Whether `value` lies strictly between the second smallest and the second largest of at least four samples: inside their noise, and
/// not merely at the end of a slope.
fn is_among(samples: &[f64], value: f64) -> bool {
    let below = samples.iter().filter(|sample| **sample < value).count();
    let above = samples.iter().filter(|sample| **sample > value).count();
    below >= 2 && above >= 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    fn run(rule: &WarmUpRule, windows: &[f64]) -> (usize, Option<WarmUpEnd>) {
        for n in 0..=windows.len() {
            if let Some(end) = rule.decide(&windows[..n], SOON) {
                return (n, Some(end));
            }
        }
        (windows.len(), None)
    }

    #[test]
    fn steady_windows_settle_after_two_groups() {
        assert_eq!(
            run(&WarmUpRule::default(), &[100.0; 30]),
            (10, Some(WarmUpEnd::Settled))
        );
    }

    #[test]
    fn a_ramp_from_20_to_9_is_followed_to_its_end() {
        let ramp = (0..20).map(|i| 20.6 - 0.59 * f64::from(i));
        let windows: Vec<f64> = ramp.chain(std::iter::repeat_n(8.8, 30)).collect();
        let (n, end) = run(&WarmUpRule::default(), &windows);
        assert_eq!(end, Some(WarmUpEnd::Settled));
        assert!((25..=30).contains(&n), "{n}");
    }

    #[test]
    fn noise_does_not_keep_the_device_warming_up() {
        let mut random = fastrand::Rng::with_seed(1);
        let windows: Vec<f64> = (0..50).map(|_| 100.0 + 20.0 * random.f64()).collect();
        let (n, end) = run(&WarmUpRule::default(), &windows);
        assert_eq!(end, Some(WarmUpEnd::Settled));
        assert!(n < 20, "{n}");
    }

    #[test]
    fn a_difference_of_one_tick_is_none() {
        let windows = [[1056.0; 5], [1024.0; 5]].concat();
        let rule = WarmUpRule {
            step: 32.0,
            ..WarmUpRule::default()
        };
        assert_eq!(run(&rule, &windows), (10, Some(WarmUpEnd::Settled)));
        assert_eq!(run(&WarmUpRule::default(), &windows), (10, None));
    }

    #[test]
    fn an_endless_slope_meets_the_limit() {
        let windows: Vec<f64> = (0..100).map(|i| 1e6 * 0.95f64.powi(i)).collect();
        assert_eq!(run(&WarmUpRule::default(), &windows), (50, Some(WarmUpEnd::MaxWindows)));
    }

    #[test]
    fn a_further_worker_is_warm_when_its_first_slow_windows_are_behind_it() {
        let rule = WarmUpRule::default().of_further_worker();
        assert_eq!(run(&rule, &[100.0; 30]), (4, Some(WarmUpEnd::Settled)));
        let slow_at_first = [300.0, 120.0, 100.0, 100.0, 100.0, 100.0, 100.0];
        assert_eq!(run(&rule, &slow_at_first), (6, Some(WarmUpEnd::Settled)));
        let noisy: Vec<f64> = (0..30).map(|i| 100.0 * 1.3f64.powi(i % 3)).collect();
        assert!(run(&rule, &noisy).0 <= 6);
        assert_eq!(
            rule.decide(&[1.0], Duration::from_millis(100)),
            Some(WarmUpEnd::MaxTime)
        );
    }

    #[test]
    fn time_and_a_limit_of_zero_end_it_at_once() {
        assert_eq!(
            WarmUpRule::default().decide(&[1.0], Duration::from_secs(1)),
            Some(WarmUpEnd::MaxTime)
        );
        let none = WarmUpRule {
            max_windows: 0,
            ..WarmUpRule::default()
        };
        assert_eq!(none.decide(&[], Duration::ZERO), Some(WarmUpEnd::MaxWindows));
    }

    proptest! {
        #[test]
        fn any_windows_end_within_the_limit(bits in prop::collection::vec(any::<u64>(), 50..60)) {
            let windows: Vec<f64> = bits.into_iter().map(f64::from_bits).collect();
            prop_assert!(run(&WarmUpRule::default(), &windows).1.is_some());
        }
    }
}
