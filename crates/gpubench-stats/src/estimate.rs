//! The value of a case, with its uncertainty.

use super::comparison::Confidence;
use super::interquartile_mean::{mean_between_quartiles, variance_of_mean};
use super::interval::Interval;
use super::moments::Moments;
use super::quantile::sorted;
use super::student::student_quantile;

/// Divisor for the number of trimmed workers: a tenth at each end, at least one worker.
const TRIM_DIVISOR: usize = 10;

/// With fewer workers, none are trimmed, because each one matters too much.
const FEWEST: usize = 5;

/// Variance of a trimmed mean relative to that of the plain mean: 1.14 for five workers with a
/// normal distribution, and less for more workers.
const TRIMMED_VARIANCE: f64 = 1.14;

/// Processes differ in modes, so Student's distribution is too optimistic from eight workers on.
/// With seven degrees of freedom, those of eight workers, false alarms stay below one in a hundred
/// in simulation (`benches/comparison.rs`).
pub(super) const MOST_FREEDOM: f64 = 7.0;

/// Returns the value of a case from its workers' values: their trimmed mean, without the lowest and
/// the highest tenth, at least one each (J. W. Tukey and D. H. McLaughlin, "Less vulnerable
/// confidence and significance procedures for location based on a single sample", Sankhyā A 25
/// (1963)). With fewer than five workers, it is the plain mean. `None` if there are no workers or a
/// value is not finite.
///
/// Each worker counts once, however many samples it has, because workers are the independent
/// repetitions. One worker that was preempted does not move the value. A second among ten workers
/// moves it by an eighth of its deviation. This is the price of averaging eight workers, which
/// varies less than averaging six.
pub fn case_value(of_workers: &[f64]) -> Option<f64> {
    let sorted = sorted(of_workers)?;
    let trimmed = match sorted.len() {
        ..FEWEST => 0,
        workers => (workers / TRIM_DIVISOR).max(1),
    };
    let kept = &sorted[trimmed..sorted.len() - trimmed];
    let mean = Moments::from_samples(kept).mean()?;
    Some(mean.clamp(kept[0], kept[kept.len() - 1]))
}

/// The value of a case with its uncertainty. The value is **the trimmed mean of the workers'
/// values, which are the interquartile means of their samples**.
///
/// Every table, ranking, comparison and history shows this value. Its interval comes from the same
/// standard error as that of a [`Ratio`](super::Ratio).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    workers: usize,
    value: f64,
    /// The variances are relative to the square of this: the absolute value, or one if the value is
    /// zero.
    scale: f64,
    /// Variance among the workers' values. Zero for one worker.
    among_workers: f64,
    /// Variance of a worker's value due to the noise of its samples, as a mean over the workers.
    within_worker: f64,
}

/// The source of variation.
#[derive(Clone, Copy)]
pub(super) enum Level {
    /// The choice of workers, and the samples of each.
    Workers,
    /// The samples of these workers.
    Samples,
}

impl Estimate {
    /// Computes the value from the samples of each worker, in any order. Workers without samples do
    /// not count. `None` if there are no samples or one is not finite.
    pub fn from_workers(workers: &[&[f64]]) -> Option<Estimate> {
        let filled = workers.iter().filter(|samples| !samples.is_empty());
        let workers: Vec<Vec<f64>> = filled.map(|samples| sorted(samples)).collect::<Option<_>>()?;
        let mut values: Vec<f64> = workers.iter().map(|samples| mean_between_quartiles(samples)).collect();
        // Floating-point sums depend on the order of their terms, but the value must not depend on
        // the order of the workers.
        values.sort_unstable_by(f64::total_cmp);
        let value = case_value(&values)?;
        let scale = if value == 0.0 { 1.0 } else { value.abs() };
        let relative: Vec<f64> = values.iter().map(|value| value / scale).collect();
        let among_workers = Moments::from_samples(&relative).stddev().map(|stddev| stddev.powi(2));
        let mut within: Vec<f64> = workers.iter().map(|samples| variance_of_mean(samples, scale)).collect();
        within.sort_unstable_by(f64::total_cmp);
        Some(Estimate {
            workers: workers.len(),
            value,
            scale,
            among_workers: match workers.len() {
                1 => 0.0,
                // The values are too far apart for a finite variance.
                _ => among_workers.unwrap_or(f64::INFINITY),
            },
            within_worker: within.iter().sum::<f64>() / workers.len() as f64,
        })
    }

    /// Returns the estimate of one process that reported only the mean of its samples, their
    /// standard deviation and their number. `None` if these make no sense.
    pub fn of_one_process(mean: f64, stddev: f64, samples: u64) -> Option<Estimate> {
        let makes_sense = mean.is_finite() && stddev.is_finite() && stddev >= 0.0 && samples > 0;
        let scale = if mean == 0.0 { 1.0 } else { mean.abs() };
        makes_sense.then(|| Estimate {
            workers: 1,
            value: mean,
            scale,
            among_workers: 0.0,
            within_worker: (stddev / scale).powi(2) / samples as f64,
        })
    }

    /// Returns the number of workers with samples, at least 1.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Returns the value, in the samples' unit.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Returns the confidence interval of the value: plus or minus Student's t times its standard
    /// error. `None` if that is not finite.
    ///
    /// With several workers, the interval predicts the value of other fresh workers (Georges,
    /// Buytaert and Eeckhout, "Statistically rigorous Java performance evaluation", OOPSLA 2007).
    /// With one worker, it comes from that worker's samples alone and is too narrow.
    pub fn interval(&self, confidence: Confidence) -> Option<Interval> {
        let (level, freedom) = match self.workers {
            1 => (Level::Samples, MOST_FREEDOM),
            workers => (Level::Workers, (workers as f64 - 1.0).min(MOST_FREEDOM)),
        };
        let error = self.variance(level).sqrt() * self.scale;
        let reach = match error {
            0.0 => 0.0,
            error => student_quantile(confidence.fraction(), freedom) * error,
        };
        let interval = Interval {
            low: self.value - reach,
            high: self.value + reach,
        };
        (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
    }

    /// Whether the 95 % interval extends by at most this fraction of the value, or by at most one
    /// step of the resolution.
    pub fn is_known_to(&self, part: f64, step: f64) -> bool {
        let interval = self.interval(Confidence::SHOWN);
        interval.is_some_and(|interval| interval.reach_from(self.value) <= (part * self.value.abs()).max(step))
    }

    /// Returns the variance of the value, relative to its square.
    pub(super) fn variance(&self, level: Level) -> f64 {
        let of_worker = match level {
            // Workers' values always vary by the noise of their samples. If a few workers agree by
            // chance, the samples give the better estimate.
            Level::Workers => self.among_workers.max(self.within_worker),
            Level::Samples => self.within_worker,
        };
        let of_mean = of_worker / self.workers as f64;
        if self.workers < FEWEST {
            of_mean
        } else {
            TRIMMED_VARIANCE * of_mean
        }
    }

    #[cfg(test)]
    pub(super) fn variances(&self) -> [f64; 2] {
        [self.among_workers, self.within_worker]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(workers: &[&[f64]]) -> Option<Interval> {
        Estimate::from_workers(workers)?.interval(Confidence::SHOWN)
    }

    #[test]
    fn fewer_than_five_workers_all_count() {
        assert_eq!(case_value(&[1.0]), Some(1.0));
        assert_eq!(case_value(&[4.0, 1.0]), Some(2.5));
        assert_eq!(case_value(&[10.0, 2.0, 3.0, 1.0]), Some(4.0));
    }

    #[test]
    fn the_lowest_and_the_highest_tenth_of_five_or_more_workers_are_trimmed() {
        assert_eq!(case_value(&[1.0, 2.0, 3.0, 4.0, 1e9]), Some(3.0));
        assert_eq!(case_value(&[0.0, 2.0, 2.0, 2.0, 4.0, 4.0, 4.0, 90.0]), Some(3.0));
        assert_eq!(
            case_value(&[0.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 7.0, 9.0]),
            Some(2.0)
        );
        let twenty: Vec<f64> = [[0.0, 0.0], [9.0, 9.0]].concat().into_iter().chain([1.0; 16]).collect();
        assert_eq!(case_value(&twenty), Some(1.0));
    }

    #[test]
    fn a_worker_without_samples_has_no_value() {
        assert_eq!(case_value(&[]), None);
        assert_eq!(case_value(&[1.0, f64::INFINITY]), None);
        let with = Estimate::from_workers(&[&[100.0, 101.0], &[], &[102.0]]).unwrap();
        assert_eq!(Some(with), Estimate::from_workers(&[&[100.0, 101.0], &[102.0]]));
        assert_eq!(with.workers(), 2);
    }

    #[test]
    fn no_samples_and_samples_that_are_not_finite_have_no_value() {
        for broken in [&[][..], &[1.0, f64::NAN], &[f64::INFINITY]] {
            assert_eq!(Estimate::from_workers(&[broken]), None, "{broken:?}");
        }
        assert_eq!(Estimate::from_workers(&[]), None);
    }

    #[test]
    fn a_worker_with_many_samples_counts_as_much_as_one_with_few() {
        let (many, few) = ([100.0; 90], [103.0; 3]);
        assert!((Estimate::from_workers(&[&many, &few]).unwrap().value() - 101.5).abs() < 1e-9);
    }

    #[test]
    fn the_interval_matches_the_textbook() {
        // The values 1 to 5 have the trimmed mean 3 and the standard deviation √2.5. Student's t
        // with 4 degrees of freedom is 2.776.
        let interval = shown(&[&[1.0], &[2.0], &[3.0], &[4.0], &[5.0]]).unwrap();
        let reach = 2.776 * (TRIMMED_VARIANCE * 2.5 / 5.0).sqrt();
        assert!((interval.low - (3.0 - reach)).abs() < 1e-3, "{interval:?}");
        assert!((interval.high - (3.0 + reach)).abs() < 1e-3, "{interval:?}");
    }

    #[test]
    fn more_than_eight_workers_have_the_freedom_of_eight() {
        // Student's t with 7 degrees of freedom is 2.3646. The values 1 to 20 have the mean 10.5
        // and the variance 35.
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let interval = shown(&values.chunks(1).collect::<Vec<_>>()).unwrap();
        let reach = 2.364_6 * (TRIMMED_VARIANCE * 35.0 / 20.0).sqrt();
        assert!((interval.reach_from(10.5) - reach).abs() < 1e-3, "{interval:?}");
    }

    #[test]
    fn equal_samples_have_an_interval_of_zero_width() {
        assert_eq!(
            shown(&[&[7.0, 7.0, 7.0][..]; 3]),
            Some(Interval { low: 7.0, high: 7.0 })
        );
        assert_eq!(shown(&[&[4.0]]), Some(Interval { low: 4.0, high: 4.0 }));
        assert_eq!(shown(&[&[0.0, 0.0][..]; 3]), Some(Interval { low: 0.0, high: 0.0 }));
    }

    #[test]
    fn workers_that_agree_by_chance_do_not_hide_the_noise_of_their_samples() {
        let noisy: &[f64] = &[90.0, 100.0, 110.0];
        assert!(shown(&[noisy; 5]).unwrap().reach_from(100.0) > 5.0);
    }

    #[test]
    fn a_value_is_known_if_its_interval_is_within_a_fraction_or_a_step() {
        let known = |values: &[f64], part, step| {
            let workers: Vec<&[f64]> = values.iter().map(std::slice::from_ref).collect();
            Estimate::from_workers(&workers).unwrap().is_known_to(part, step)
        };
        assert!(known(&[1_000.0, 1_004.0, 996.0, 1_000.0, 1_000.0], 0.01, 0.0));
        assert!(!known(&[1_000.0, 1_040.0, 960.0, 1_000.0, 1_000.0], 0.01, 0.0));
        assert!(known(&[1_000.0, 1_040.0, 960.0, 1_000.0, 1_000.0], 0.01, 64.0));
    }

    /// Returns a normal deviate by the Box-Muller method.
    fn normal(random: &mut fastrand::Rng, stddev: f64) -> f64 {
        let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
        stddev * radius * (std::f64::consts::TAU * random.f64()).cos()
    }

    /// Returns how many of 400 seeded runs around 100 have an interval that contains 100. Workers
    /// have shifts, and samples have noise.
    fn covered_of_400(workers: usize, samples: usize, [shift, noise]: [f64; 2]) -> usize {
        let mut random = fastrand::Rng::with_seed(5);
        let mut holds = || {
            let workers: Vec<Vec<f64>> = (0..workers)
                .map(|_| {
                    let center = 100.0 + normal(&mut random, shift);
                    (0..samples).map(|_| center + normal(&mut random, noise)).collect()
                })
                .collect();
            let workers: Vec<&[f64]> = workers.iter().map(Vec::as_slice).collect();
            let interval = shown(&workers).unwrap();
            interval.low <= 100.0 && 100.0 <= interval.high
        };
        (0..400).filter(|_| holds()).count()
    }

    #[test]
    fn the_interval_covers_the_truth_about_95_times_in_100_even_if_workers_differ() {
        for (workers, samples, spread) in [
            (1, 41, [0.0, 5.0]),
            (3, 20, [2.0, 0.5]),
            (5, 20, [2.0, 0.5]),
            (10, 20, [2.0, 5.0]),
        ] {
            let covered = covered_of_400(workers, samples, spread);
            assert!((368..=398).contains(&covered), "{workers} workers: {covered} of 400");
        }
        let pooled = covered_of_400(1, 100, [2.0, 0.5]);
        assert!(
            pooled < 240,
            "one worker cannot know how others differ: {pooled} of 400"
        );
    }

    proptest! {
        #[test]
        fn the_value_lies_among_those_of_the_workers_and_scales_with_them(mut values in prop::collection::vec(1.0..1e9f64, 1..40)) {
            let value = case_value(&values).unwrap();
            let doubled: Vec<f64> = values.iter().map(|value| value * 2.0).collect();
            prop_assert!((case_value(&doubled).unwrap() - 2.0 * value).abs() <= 1e-9 * value);
            values.sort_unstable_by(f64::total_cmp);
            prop_assert!(values[0] <= value && value <= values[values.len() - 1]);
        }
    }
}
