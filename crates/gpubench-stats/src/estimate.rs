//! The one figure that is shown of a case, and how well it is known.

use super::comparison::Confidence;
use super::interquartile_mean::{mean_between_quartiles, variance_of_mean};
use super::interval::Interval;
use super::moments::Moments;
use super::quantile::sorted;
use super::student::student_quantile;

/// The part of the workers that is left out at either end: the lowest and the highest tenth, one
/// worker at least.
const LEFT_OUT: usize = 10;

/// Of fewer workers none is left out: each of them tells too much.
const FEWEST: usize = 5;

/// What the variance of a trimmed mean is beside that of the mean of the same workers: 1.14 times
/// as large where five workers differ normally, and less of more of them.
const TRIMMED: f64 = 1.14;

/// Processes differ in modes, for which Student's distribution is too optimistic from eight workers
/// on. At the seven degrees of freedom that eight workers have on their own, false alarms stay
/// below one in a hundred in simulation (`benches/comparison.rs`).
pub(super) const MOST_FREEDOM: f64 = 7.0;

/// The value of a case from those of its workers: their mean without the lowest and the highest
/// tenth, one at least (J. W. Tukey and D. H. McLaughlin, "Less vulnerable confidence and
/// significance procedures for location based on a single sample", Sankhyā A 25 (1963)); of fewer
/// than five the mean of all. `None` where there are none or one is not finite.
///
/// Workers are what repeats, so each of them counts once, however many samples it has; and one
/// whose processor was somebody else's does not move the case's value. The second of ten does, by
/// an eighth: the price of a mean of eight, which varies less than one of six.
pub fn case_value(of_workers: &[f64]) -> Option<f64> {
    let sorted = sorted(of_workers)?;
    let left_out = match sorted.len() {
        ..FEWEST => 0,
        workers => (workers / LEFT_OUT).max(1),
    };
    let kept = &sorted[left_out..sorted.len() - left_out];
    let mean = Moments::of(kept).mean()?;
    Some(mean.clamp(kept[0], kept[kept.len() - 1]))
}

/// The figure of a case, **the trimmed mean over its fresh workers of the interquartile mean of
/// each one's samples**, with what is needed to say how well it is known.
///
/// Every table, ranking, comparison and history shows this figure, and the interval beside it comes
/// from the same standard error as that of a [`Ratio`](super::Ratio).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    workers: usize,
    value: f64,
    /// What the variances are relative to the square of: the value without its sign, or one where
    /// it is zero.
    scale: f64,
    /// Variance among the workers' values; zero for one worker.
    among_workers: f64,
    /// Mean over the workers of the variance of a worker's value as its samples know it.
    within_worker: f64,
}

/// What is taken to vary.
#[derive(Clone, Copy)]
pub(super) enum Level {
    /// Which workers there happened to be, and the samples of each.
    Workers,
    /// The samples of the workers that there are.
    Samples,
}

impl Estimate {
    /// The samples of each worker, in any order; workers without samples do not count. `None` where
    /// there are no samples, and where one is not finite.
    pub fn of(workers: &[&[f64]]) -> Option<Estimate> {
        let filled = workers.iter().filter(|samples| !samples.is_empty());
        let workers: Vec<Vec<f64>> = filled.map(|samples| sorted(samples)).collect::<Option<_>>()?;
        let mut values: Vec<f64> = workers.iter().map(|samples| mean_between_quartiles(samples)).collect();
        // A sum depends on its order; a figure must not depend on that of the workers.
        values.sort_unstable_by(f64::total_cmp);
        let value = case_value(&values)?;
        let scale = if value == 0.0 { 1.0 } else { value.abs() };
        let relative: Vec<f64> = values.iter().map(|value| value / scale).collect();
        let among_workers = Moments::of(&relative).stddev().map(|stddev| stddev.powi(2));
        let mut within: Vec<f64> = workers.iter().map(|samples| variance_of_mean(samples, scale)).collect();
        within.sort_unstable_by(f64::total_cmp);
        Some(Estimate {
            workers: workers.len(),
            value,
            scale,
            among_workers: match workers.len() {
                1 => 0.0,
                // Values too far apart for a number: nothing is known.
                _ => among_workers.unwrap_or(f64::INFINITY),
            },
            within_worker: within.iter().sum::<f64>() / workers.len() as f64,
        })
    }

    /// Number of workers with samples, at least 1.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// The figure, in the samples' unit.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The interval of the figure: Student's t times its standard error on either side. `None`
    /// where that is no number.
    ///
    /// With several workers it says where the figure of other fresh workers would lie (Georges,
    /// Buytaert and Eeckhout, "Statistically rigorous Java performance evaluation", OOPSLA 2007);
    /// with one it is that of its samples alone, and too narrow.
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

    /// Whether the 95 % interval reaches at most by this part of the figure, or by one step of what
    /// it is measured with.
    pub fn is_known_to(&self, part: f64, step: f64) -> bool {
        let interval = self.interval(Confidence::SHOWN);
        interval.is_some_and(|interval| interval.reach_from(self.value) <= (part * self.value.abs()).max(step))
    }

    /// The variance of the figure, relative to its square.
    pub(super) fn variance(&self, level: Level) -> f64 {
        let of_worker = match level {
            // Values of workers spread by their noise in any case: where few of them lie close
            // together by chance, the samples know better.
            Level::Workers => self.among_workers.max(self.within_worker),
            Level::Samples => self.within_worker,
        };
        let of_mean = of_worker / self.workers as f64;
        if self.workers < FEWEST {
            of_mean
        } else {
            TRIMMED * of_mean
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
        Estimate::of(workers)?.interval(Confidence::SHOWN)
    }

    #[test]
    fn fewer_than_five_workers_all_count() {
        assert_eq!(case_value(&[1.0]), Some(1.0));
        assert_eq!(case_value(&[4.0, 1.0]), Some(2.5));
        assert_eq!(case_value(&[10.0, 2.0, 3.0, 1.0]), Some(4.0));
    }

    #[test]
    fn of_five_workers_and_more_the_lowest_and_the_highest_tenth_do_not_count() {
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
        let with = Estimate::of(&[&[100.0, 101.0], &[], &[102.0]]).unwrap();
        assert_eq!(Some(with), Estimate::of(&[&[100.0, 101.0], &[102.0]]));
        assert_eq!(with.workers(), 2);
    }

    #[test]
    fn what_has_no_samples_or_broken_ones_has_no_figure() {
        for broken in [&[][..], &[1.0, f64::NAN], &[f64::INFINITY]] {
            assert_eq!(Estimate::of(&[broken]), None, "{broken:?}");
        }
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn a_worker_with_many_samples_counts_as_much_as_one_with_few() {
        let (many, few) = ([100.0; 90], [103.0; 3]);
        assert!((Estimate::of(&[&many, &few]).unwrap().value() - 101.5).abs() < 1e-9);
    }

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        // Values 1 to 5 have the trimmed mean 3 and standard deviation √2.5; t of 4 degrees of
        // freedom is 2.776.
        let interval = shown(&[&[1.0], &[2.0], &[3.0], &[4.0], &[5.0]]).unwrap();
        let reach = 2.776 * (TRIMMED * 2.5 / 5.0).sqrt();
        assert!((interval.low - (3.0 - reach)).abs() < 1e-3, "{interval:?}");
        assert!((interval.high - (3.0 + reach)).abs() < 1e-3, "{interval:?}");
    }

    #[test]
    fn samples_that_agree_have_an_interval_without_width() {
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
    fn a_figure_is_known_when_others_would_lie_within_a_part_of_it_or_a_step() {
        let known = |values: &[f64], part, step| {
            let workers: Vec<&[f64]> = values.iter().map(std::slice::from_ref).collect();
            Estimate::of(&workers).unwrap().is_known_to(part, step)
        };
        assert!(known(&[1_000.0, 1_004.0, 996.0, 1_000.0, 1_000.0], 0.01, 0.0));
        assert!(!known(&[1_000.0, 1_040.0, 960.0, 1_000.0, 1_000.0], 0.01, 0.0));
        assert!(known(&[1_000.0, 1_040.0, 960.0, 1_000.0, 1_000.0], 0.01, 64.0));
    }

    /// A normal deviate by the method of Box and Muller.
    fn normal(random: &mut fastrand::Rng, stddev: f64) -> f64 {
        let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
        stddev * radius * (std::f64::consts::TAU * random.f64()).cos()
    }

    /// How many of 400 seeded runs round 100 have intervals that hold it: workers that are shifted,
    /// with samples of some noise.
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
    fn the_interval_covers_what_is_true_about_95_times_in_100_also_where_workers_differ() {
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
        fn it_lies_among_the_values_and_moves_with_them(mut values in prop::collection::vec(1.0..1e9f64, 1..40)) {
            let value = case_value(&values).unwrap();
            let doubled: Vec<f64> = values.iter().map(|value| value * 2.0).collect();
            prop_assert!((case_value(&doubled).unwrap() - 2.0 * value).abs() <= 1e-9 * value);
            values.sort_unstable_by(f64::total_cmp);
            prop_assert!(values[0] <= value && value <= values[values.len() - 1]);
        }
    }
}
