//! The ratio of two cases' values, with its interval.

use super::estimate::{Estimate, Level, MOST_FREEDOM};
use super::interval::Interval;
use super::student::student_quantile;

/// The fewest fresh workers per side that show how far its processes differ.
pub const FEWEST_WORKERS: usize = 3;

/// The largest absolute logarithm of a ratio, and the largest reach of its interval. The limit
/// keeps both ends finite.
const FARTHEST: f64 = 100.0;

/// A confidence level, between zero and one.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// 99 %, the default for comparisons. One false alarm in a hundred is already too many.
    pub const DEFAULT: Confidence = Confidence(0.99);

    /// 95 %, for the interval of a case's value.
    pub const SHOWN: Confidence = Confidence(0.95);

    /// Creates a level from a fraction. `None` unless it is above zero and below one.
    pub fn new(fraction: f64) -> Option<Confidence> {
        (fraction > 0.0 && fraction < 1.0).then_some(Confidence(fraction))
    }

    /// Returns the confidence of each of `number` statements, such that all of them hold at once
    /// with this confidence. Each gets an equal part of the probability of an error (O. J. Dunn,
    /// "Multiple Comparisons among Means", Journal of the American Statistical Association 56
    /// (1961)).
    pub fn of_each(self, number: usize) -> Confidence {
        let number = number.max(1) as f64;
        Confidence::new(1.0 - (1.0 - self.0) / number).unwrap_or(self)
    }

    /// Returns the level as a fraction.
    pub fn fraction(self) -> f64 {
        self.0
    }
}

impl Default for Confidence {
    fn default() -> Confidence {
        Confidence::DEFAULT
    }
}

/// The ratio of two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The candidate's value divided by the baseline's.
    pub estimate: f64,
    /// The confidence interval of the ratio.
    pub interval: Interval,
}

impl Ratio {
    /// Returns the ratio of two values with the interval of a two-level bootstrap, which resamples
    /// workers first and the samples of each second. `None` if a value is not positive.
    ///
    /// Plain resampling on both levels counts the noise of the samples twice, and underestimates
    /// the shifts between `w` workers by the factor `(w - 1) / w` (A. C. Davison and D. V. Hinkley,
    /// "Bootstrap Methods and their Application", 1997, section 3.8). The workers' distances from
    /// their mean are therefore scaled. Both levels together then vary as much as the workers'
    /// values do, and no less than the samples alone (J. R. Carpenter, H. Goldstein and J. Rasbash,
    /// "A novel bootstrap procedure for assessing the relationship between class size and
    /// achievement", Applied Statistics 52 (2003)).
    ///
    /// The standard error of that bootstrap has a closed form, so nothing is drawn. The interval is
    /// the estimate plus or minus Student's t times that error (B. Efron and R. Tibshirani, "An
    /// Introduction to the Bootstrap", 1993, chapter 12; T. Hesterberg, "What Teachers Should Know
    /// About the Bootstrap", The American Statistician 69 (2015)). The scale is logarithmic, so a
    /// factor and its inverse are treated alike. The degrees of freedom are those of B. L. Welch,
    /// "The generalization of Student's problem when several different population variances are
    /// involved", Biometrika 34 (1947), but at most seven.
    ///
    /// With fewer than [`FEWEST_WORKERS`] per side, the interval comes from the samples alone and
    /// is too narrow. The interval always contains a change of `step`, the resolution of the
    /// samples.
    pub fn from_estimates(
        baseline: &Estimate,
        candidate: &Estimate,
        confidence: Confidence,
        step: f64,
    ) -> Option<Ratio> {
        let level = if baseline.workers().min(candidate.workers()) < FEWEST_WORKERS {
            Level::Samples
        } else {
            Level::Workers
        };
        let (of_baseline, of_candidate) = (baseline.variance(level), candidate.variance(level));
        let freedom = match level {
            Level::Workers => freedom((of_baseline, baseline.workers()), (of_candidate, candidate.workers())),
            Level::Samples => MOST_FREEDOM,
        };
        let error = (of_baseline + of_candidate).sqrt();
        let reach = match error {
            0.0 => 0.0,
            error => student_quantile(confidence.0, freedom) * error,
        };
        let (before, after) = (baseline.value(), candidate.value());
        let are_above_zero = before > 0.0 && after > 0.0;
        are_above_zero.then(|| Ratio::around(after / before, reach.max(reach_of_step(step, before.min(after)))))
    }

    /// Returns a ratio whose interval extends by the logarithm `reach` in both directions.
    pub(super) fn around(estimate: f64, reach: f64) -> Ratio {
        let reach = reach.min(FARTHEST).exp();
        let estimate = estimate.clamp((-FARTHEST).exp(), FARTHEST.exp());
        Ratio {
            estimate,
            interval: Interval {
                low: estimate / reach,
                high: estimate * reach,
            },
        }
    }

    /// Returns how far the interval extends above the estimate, as a logarithm.
    pub fn reach(self) -> f64 {
        (self.interval.high / self.estimate).ln()
    }

    /// Returns this ratio with its interval extended to contain `other`.
    pub fn reaching(self, other: f64) -> Ratio {
        let Interval { low, high } = self.interval;
        Ratio {
            interval: Interval {
                low: low.min(other),
                high: high.max(other),
            },
            ..self
        }
    }
}

/// Returns how far the interval of a ratio extends at least: by one step of the smaller of the two
/// values, as a logarithm.
pub(super) fn reach_of_step(step: f64, smaller: f64) -> f64 {
    // Slightly more than the step, so that rounding cannot make a change of exactly one step look
    // larger.
    (step.max(0.0) * (1.0 + 1e-9) / smaller).ln_1p()
}

/// Returns Welch's degrees of freedom of a difference, from the variance and the number of workers
/// of each side. The result is at least that of the smaller side and at most [`MOST_FREEDOM`].
fn freedom(one: (f64, usize), other: (f64, usize)) -> f64 {
    let own = |workers: usize| workers as f64 - 1.0;
    let least = own(one.1.min(other.1));
    let shares = one.0 * one.0 / own(one.1) + other.0 * other.0 / own(other.1);
    let welch = (one.0 + other.0).powi(2) / shares;
    // For two sides without any spread, the formula is 0/0, and the result does not matter.
    let welch = if welch.is_finite() { welch } else { least };
    welch.min(MOST_FREEDOM)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::interquartile_mean;

    fn side(workers: &[Vec<f64>]) -> Estimate {
        let workers: Vec<&[f64]> = workers.iter().map(Vec::as_slice).collect();
        Estimate::from_workers(&workers).unwrap()
    }

    fn ratio(baseline: &[Vec<f64>], candidate: &[Vec<f64>]) -> Ratio {
        Ratio::from_estimates(&side(baseline), &side(candidate), Confidence::DEFAULT, 0.0).unwrap()
    }

    fn scaled(workers: &[Vec<f64>], factor: f64) -> Vec<Vec<f64>> {
        workers
            .iter()
            .map(|samples| samples.iter().map(|sample| sample * factor).collect())
            .collect()
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
    }

    #[test]
    fn the_ratio_is_that_of_the_values() {
        let baseline = [vec![90.0, 100.0, 110.0], vec![300.0]];
        assert!(near(side(&baseline).value(), 200.0));
        assert!(near(ratio(&baseline, &[vec![300.0]]).estimate, 1.5));
    }

    #[test]
    fn values_that_are_not_positive_have_no_ratio() {
        let fine = side(&[vec![1.0]]);
        for broken in [0.0, -1.0] {
            let broken = side(&[vec![broken]]);
            assert_eq!(Ratio::from_estimates(&fine, &broken, Confidence::DEFAULT, 0.0), None);
            assert_eq!(Ratio::from_estimates(&broken, &fine, Confidence::DEFAULT, 0.0), None);
        }
    }

    #[test]
    fn processes_that_differ_widen_the_interval_and_samples_that_agree_do_not_narrow_it() {
        let quiet = vec![vec![100.0, 100.1, 100.2]; 3];
        let shifted = [
            vec![100.0, 100.1, 100.2],
            vec![102.0, 102.1, 102.2],
            vec![98.0, 98.1, 98.2],
        ];
        let (of_quiet, of_shifted) = (ratio(&quiet, &quiet), ratio(&shifted, &shifted));
        assert!(of_quiet.interval.high < 1.01, "{of_quiet:?}");
        assert!(of_shifted.interval.high > 1.05, "{of_shifted:?}");
    }

    #[test]
    fn medians_that_agree_by_chance_do_not_hide_the_noise_of_the_samples() {
        let noisy = vec![vec![90.0, 100.0, 110.0]; 3];
        assert!(ratio(&noisy, &noisy).interval.high > 1.1);
    }

    #[test]
    fn the_standard_error_matches_that_of_a_two_level_bootstrap() {
        let workers: Vec<Vec<f64>> = [0.0, 3.0, 1.0, 5.0]
            .iter()
            .map(|shift| (-12..12).map(|noise| 100.0 + shift + f64::from(noise) / 4.0).collect())
            .collect();
        let side = side(&workers);
        let [among_workers, within_worker] = side.variances();
        // Distances of the workers from their mean, scaled as documented.
        let number = workers.len() as f64;
        let kept = (among_workers - within_worker).max(0.0);
        let scale = (kept / (among_workers * (number - 1.0) / number)).sqrt();
        let mut random = fastrand::Rng::with_seed(3);
        let own: Vec<f64> = workers
            .iter()
            .map(|samples| interquartile_mean(samples).unwrap() / side.value())
            .collect();
        let center = own.iter().sum::<f64>() / number;
        let mut replicate = || {
            let of_workers = workers.iter().zip(&own).map(|(samples, own_value)| {
                // The shift comes from one worker and the noise from another, because the shift and
                // the noise of a worker cannot be separated.
                let shift = (own[random.usize(..own.len())] - center) * scale;
                let resample: Vec<f64> = samples.iter().map(|_| samples[random.usize(..samples.len())]).collect();
                shift + interquartile_mean(&resample).unwrap() / side.value() - own_value
            });
            of_workers.sum::<f64>() / number
        };
        let replicates: Vec<f64> = (0..20_000).map(|_| replicate()).collect();
        let mean = replicates.iter().sum::<f64>() / replicates.len() as f64;
        let variance = replicates.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / replicates.len() as f64;
        let exact = side.variance(Level::Workers);
        assert!((variance / exact - 1.0).abs() < 0.1, "{variance} is not {exact}");
    }

    #[test]
    fn a_change_of_one_tick_of_the_clock_is_always_possible() {
        let [before, after] = [100.0, 132.0].map(|median| side(&[vec![median; 9], vec![median; 9], vec![median; 9]]));
        let exact = Ratio::from_estimates(&before, &after, Confidence::DEFAULT, 0.0).unwrap();
        assert!(exact.interval.low > 1.0);
        for (one, other) in [(&before, &after), (&after, &before)] {
            let coarse = Ratio::from_estimates(one, other, Confidence::DEFAULT, 32.0).unwrap();
            assert!(coarse.interval.low <= 1.0 && coarse.interval.high >= 1.0, "{coarse:?}");
        }
    }

    #[test]
    fn one_worker_per_side_has_the_interval_of_its_samples() {
        let samples: Vec<f64> = (0..50).map(|i| 100.0 + f64::from(i % 5)).collect();
        let side = [samples];
        let ratio = ratio(&side, &side);
        assert!(near(ratio.estimate, 1.0));
        assert!(ratio.interval.high > 1.0 && ratio.interval.high < 1.05, "{ratio:?}");
    }

    #[test]
    fn one_worker_of_either_side_makes_the_samples_decide() {
        let one = [vec![100.0; 9]];
        let differing: Vec<Vec<f64>> = (0..5).map(|worker| vec![100.0 + 5.0 * f64::from(worker); 9]).collect();
        for ratio in [ratio(&one, &differing), ratio(&differing, &one)] {
            assert!(near(ratio.interval.low, ratio.interval.high), "{ratio:?}");
        }
        let two = vec![one[0].clone(); 2];
        let three = vec![one[0].clone(); 3];
        assert!(near(ratio(&two, &differing).reach(), 0.0));
        assert!(ratio(&three, &differing).reach() > 0.01);
    }

    #[test]
    fn an_interval_is_extended_on_either_side() {
        let ratio = Ratio::around(1.0, 2f64.ln());
        let interval = |other| ratio.reaching(other).interval;
        let Interval { low, high } = ratio.interval;
        assert_eq!(interval(0.25), Interval { low: 0.25, high });
        assert_eq!(interval(4.0), Interval { low, high: 4.0 });
        assert_eq!(ratio.reaching(1.5), ratio);
    }

    #[test]
    fn sides_of_different_size_have_at_least_the_freedom_of_the_smaller() {
        assert_eq!(freedom((1.0, 3), (0.0, 8)), 2.0);
        assert_eq!(freedom((0.0, 3), (0.0, 8)), 2.0);
        assert_eq!(freedom((1.0, 3), (1.0, 3)), 4.0);
        assert_eq!(freedom((1.0, 20), (1.0, 20)), MOST_FREEDOM);
    }

    #[test]
    fn a_confidence_is_a_fraction() {
        for broken in [0.0, 1.0, -0.5, 99.0, f64::NAN] {
            assert_eq!(Confidence::new(broken), None, "{broken}");
        }
        assert_eq!(Confidence::new(0.95).map(Confidence::fraction), Some(0.95));
    }

    fn workers() -> impl Strategy<Value = Vec<Vec<f64>>> {
        prop::collection::vec(prop::collection::vec(1.0..1e6f64, 1..12), 1..7)
    }

    /// Workers with samples over the whole range of positive numbers.
    fn any_times() -> impl Strategy<Value = Vec<Vec<f64>>> {
        let extreme = prop::sample::select(vec![f64::from_bits(1), f64::MIN_POSITIVE, 1.0, 1e300, f64::MAX]);
        let time = prop_oneof![(1..=f64::MAX.to_bits()).prop_map(f64::from_bits), extreme];
        prop::collection::vec(prop::collection::vec(time, 1..8), 1..6)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn swapping_the_sides_inverts_the_ratio(one in workers(), other in workers()) {
            let (there, back) = (ratio(&one, &other), ratio(&other, &one));
            prop_assert!(near(there.estimate, 1.0 / back.estimate));
            prop_assert!(near(there.interval.low, 1.0 / back.interval.high));
            prop_assert!(near(there.interval.high, 1.0 / back.interval.low));
        }

        #[test]
        fn the_unit_does_not_matter(one in workers(), other in workers(), factor in 1e-3..1e3f64) {
            let (plain, again) = (ratio(&one, &other), ratio(&scaled(&one, factor), &scaled(&other, factor)));
            prop_assert!((plain.estimate.ln() - again.estimate.ln()).abs() < 1e-9);
            prop_assert!((plain.interval.high.ln() - again.interval.high.ln()).abs() < 1e-6 * (1.0 + plain.interval.high.ln().abs()));
        }

        #[test]
        fn the_order_of_workers_and_samples_does_not_matter(one in workers(), other in workers()) {
            let turned = |side: &[Vec<f64>]| -> Vec<Vec<f64>> {
                side.iter().rev().map(|samples| samples.iter().rev().copied().collect()).collect()
            };
            let (plain, again) = (ratio(&one, &other), ratio(&turned(&one), &turned(&other)));
            prop_assert!(near(plain.estimate, again.estimate) && near(plain.interval.high, again.interval.high));
        }

        #[test]
        fn an_interval_is_finite_at_any_confidence(one in workers(), other in workers(), tick in 0.0..1e12f64) {
            let confidence = Confidence::new(1.0 - 1e-12).unwrap();
            let interval = Ratio::from_estimates(&side(&one), &side(&other), confidence, tick).unwrap().interval;
            prop_assert!(interval.low > 0.0 && interval.high.is_finite(), "{:?}", interval);
        }

        #[test]
        fn a_ratio_is_finite_for_times_of_any_size(one in any_times(), other in any_times(), tick in 0.0..1e3f64) {
            let (one, other) = (side(&one), side(&other));
            for (before, after) in [(&one, &other), (&other, &one), (&one, &one)] {
                let Ratio { estimate, interval } = Ratio::from_estimates(before, after, Confidence::DEFAULT, tick).unwrap();
                prop_assert!(interval.low > 0.0 && interval.low <= estimate && estimate <= interval.high && interval.high.is_finite());
            }
        }

        #[test]
        fn the_interval_contains_the_estimate_and_grows_with_the_confidence(one in workers(), other in workers()) {
            let (one, other) = (side(&one), side(&other));
            let [narrow, wide] = [0.9, 0.99].map(|confidence| Ratio::from_estimates(&one, &other, Confidence::new(confidence).unwrap(), 0.0).unwrap());
            prop_assert!(narrow.interval.low <= narrow.estimate && narrow.estimate <= narrow.interval.high);
            prop_assert!(wide.interval.low <= narrow.interval.low && narrow.interval.high <= wide.interval.high);
        }
    }
}
