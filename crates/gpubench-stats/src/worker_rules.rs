//! The stop rule of each worker of a case.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::comparison::Confidence;
use super::student::student_quantile;
use super::{Estimate, Plateau, Precision, StopRule, WorkerCountRule};
use gpubench_contract::StopReason;

/// Maximum number of workers of a case. More are surely a mistake.
pub const MOST_WORKERS: usize = 64;

/// Minimum number of estimates of the coefficient of variation that are compared, for any number of
/// workers.
const FEWEST_ESTIMATES: usize = 16;

/// Number of a worker's samples before their spread and interval count. Two samples can agree by
/// chance.
const FEWEST_OF_WORKER: usize = 6;

/// Number of samples after which a worker does not take further ones to know its value better.
const ENOUGH_OF_WORKER: usize = 40;

/// A case's stop rule, divided among fresh workers that are measured one after another.
///
/// Samples and times are divided, and the first workers get the remainder, so that the limits of
/// the case hold for all workers together. The samples of n workers together know the median √n
/// times as well as those of one. Each worker may therefore stop at an interval √n times as wide,
/// and at a plateau of `samples / n` estimates with √n times the spread. The target coefficient of
/// variation does not depend on the number of samples and applies to every worker. If fewer workers
/// may be enough, the maxima are still divided by the maximum number of workers, but the minimum of
/// samples by their minimum number: slow samples alone never need more workers. A worker after
/// those n gets as much as the last of them.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerRules {
    case: StopRule,
    worker_count: WorkerCountRule,
}

impl WorkerRules {
    /// Divides a case's rule among its workers. If `max_samples` is smaller than the number of
    /// workers, there are only that many workers.
    pub fn new(case: StopRule, worker_count: WorkerCountRule) -> WorkerRules {
        let most = NonZeroUsize::new(case.max_samples).unwrap_or(NonZeroUsize::MIN);
        WorkerRules {
            worker_count: worker_count.at_most(most),
            case,
        }
    }

    /// Returns the maximum number of workers.
    pub fn most(&self) -> usize {
        self.worker_count.most().get()
    }

    /// Returns the minimum number of workers.
    pub fn first(&self) -> usize {
        self.worker_count.first().get()
    }

    /// Whether no more workers are needed: the workers have enough samples, and they agree so well
    /// that the interval is no wider than the target.
    pub fn suffice(&self, workers: &[&[f64]]) -> bool {
        let samples: usize = workers.iter().map(|samples| samples.len()).sum();
        let is_known = |estimate: Estimate| {
            estimate.workers() > 1 && estimate.is_known_to(self.case.median_interval, self.case.step)
        };
        samples >= self.case.min_samples && Estimate::from_workers(workers).is_some_and(is_known)
    }

    /// Returns how many workers there are to be if `workers` do not suffice.
    pub fn after(&self, workers: usize) -> usize {
        self.worker_count.after(workers)
    }

    /// Returns the stop rule of the worker at `position`, from 0.
    pub fn rule(&self, position: usize) -> StopRule {
        let coarser = (self.most() as f64).sqrt();
        let plateau = self.case.plateau.map(|Plateau { samples, spread }| Plateau {
            samples: (samples / self.most()).max(FEWEST_ESTIMATES.min(samples)),
            spread: spread * coarser,
        });
        let max_samples = Self::part(self.case.max_samples, self.most(), position).max(1);
        StopRule {
            median_interval: self.case.median_interval * coarser,
            min_samples: Self::part(self.case.min_samples, self.first(), position).min(max_samples),
            spread_from: FEWEST_OF_WORKER.min(self.case.min_samples),
            max_samples,
            sample_time: self.case.sample_time / self.most() as u32,
            max_time: self.case.max_time / self.most() as u32,
            plateau,
            precision: self.worker_count.may_end_with(position).then(|| self.precision()),
            ..self.case.clone()
        }
    }

    /// Returns the maximum number of samples of all workers up to the one at `position`.
    pub fn max_samples_until(&self, position: usize) -> usize {
        let of_each = (0..=position).map(|position| self.rule(position).max_samples);
        of_each.fold(0, usize::saturating_add)
    }

    /// Returns the time on the device that is enough for all workers up to the one at `position`.
    pub fn sample_time_until(&self, position: usize) -> Duration {
        Self::until(position, self.rule(position).sample_time)
    }

    /// Returns the maximum wall time of all workers up to the one at `position`.
    pub fn max_time_until(&self, position: usize) -> Duration {
        Self::until(position, self.rule(position).max_time)
    }

    fn until(position: usize, of_worker: Duration) -> Duration {
        let workers = u32::try_from(position + 1).unwrap_or(u32::MAX);
        of_worker.saturating_mul(workers)
    }

    /// Returns how well a worker's value is to be known if few workers may be enough: so well that
    /// its noise is at most a quarter of the variance with which three workers agree. A process
    /// costs more time than many samples.
    fn precision(&self) -> Precision {
        let three = student_quantile(Confidence::SHOWN.fraction(), 2.0) / 3_f64.sqrt();
        Precision {
            error: self.case.median_interval / (2.0 * three),
            enough: ENOUGH_OF_WORKER,
        }
    }

    fn part(of: usize, workers: usize, position: usize) -> usize {
        of / workers + usize::from(position < of % workers)
    }
}

/// Returns why a case stopped: the least conclusive of its workers' reasons. [`StopReason`] lists
/// them in this order.
pub fn stop_of_case(workers: &[StopReason]) -> Option<StopReason> {
    workers.iter().copied().max()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Spent, median};

    fn rules(min_samples: usize, max_samples: usize, workers: usize) -> WorkerRules {
        let case = StopRule {
            min_samples,
            max_samples,
            ..StopRule::usual()
        };
        WorkerRules::new(case, WorkerCountRule::exactly(NonZeroUsize::new(workers).unwrap()))
    }

    #[test]
    fn one_worker_has_the_rule_of_the_case() {
        let one = rules(20, 1_000, 1);
        let rule = StopRule {
            spread_from: 6,
            ..StopRule::usual()
        };
        assert_eq!((one.most(), one.rule(0)), (1, rule));
        assert_eq!(one.max_samples_until(0), 1_000);
    }

    #[test]
    fn the_first_workers_get_the_remainder() {
        let rules = rules(7, 11, 5);
        let limits: Vec<_> = (0..5)
            .map(|worker| (rules.rule(worker).min_samples, rules.rule(worker).max_samples))
            .collect();
        assert_eq!(limits, [(2, 3), (2, 2), (1, 2), (1, 2), (1, 2)]);
        assert_eq!(rules.rule(4).max_time, Duration::from_millis(400));
        assert_eq!(rules.sample_time_until(4), Duration::MAX / 5 * 5, "no limit");
        let endless = StopRule {
            max_time: Duration::MAX,
            ..StopRule::usual()
        };
        let endless = WorkerRules::new(endless, WorkerCountRule::exactly(NonZeroUsize::new(5).unwrap()));
        assert_eq!(endless.max_time_until(4), Duration::MAX / 5 * 5, "no limit");
        assert_eq!(endless.max_time_until(9), Duration::MAX);
        let limited = StopRule {
            sample_time: Duration::from_millis(100),
            ..StopRule::usual()
        };
        let limited = WorkerRules::new(limited, WorkerCountRule::exactly(NonZeroUsize::new(5).unwrap()));
        assert_eq!(limited.rule(4).sample_time, Duration::from_millis(20));
        let until = |position| limited.sample_time_until(position).as_millis();
        assert_eq!([until(0), until(4), until(5)], [20, 100, 120]);
        let wall = |position| limited.max_time_until(position).as_millis();
        assert_eq!([wall(0), wall(4), wall(5)], [400, 2_000, 2_400]);
    }

    #[test]
    fn no_worker_needs_more_samples_than_it_may_take_or_the_case_asks_for() {
        for (min, max) in [(1, 3), (2, 10), (5, 8), (20, 20), (100, 100), (100, 1_000)] {
            let case = StopRule {
                min_samples: min,
                max_samples: max,
                ..StopRule::usual()
            };
            let rules = WorkerRules::new(case, WorkerCountRule::until_known(NonZeroUsize::new(10).unwrap()));
            for worker in 0..rules.most() {
                let rule = rules.rule(worker);
                assert!(rule.min_samples <= rule.max_samples, "{min} of {max}: {rule:?}");
                assert!(rule.spread_from <= min, "{min} of {max}: {rule:?}");
            }
        }
    }

    #[test]
    fn the_plateau_of_a_worker_is_shorter_and_coarser_but_never_longer_than_that_of_the_case() {
        let plateau = |samples, workers| {
            let case = StopRule {
                plateau: Some(Plateau { samples, spread: 0.02 }),
                ..StopRule::usual()
            };
            let worker_count = WorkerCountRule::exactly(NonZeroUsize::new(workers).unwrap());
            WorkerRules::new(case, worker_count).rule(0).plateau.unwrap()
        };
        let lengths = [(64, 1), (64, 2), (64, 4), (64, 16), (10, 4), (16, 4)];
        assert_eq!(
            lengths.map(|(samples, workers)| plateau(samples, workers).samples),
            [64, 32, 16, 16, 10, 16]
        );
        assert_eq!([1, 4].map(|workers| plateau(64, workers).spread), [0.02, 0.04]);
    }

    #[test]
    fn the_limits_are_divided_by_the_maximum_number_of_workers() {
        let rules = WorkerRules::new(
            StopRule::usual(),
            WorkerCountRule::until_known(NonZeroUsize::new(8).unwrap()),
        );
        assert_eq!((rules.first(), rules.most()), (3, 8));
        assert_eq!(rules.max_samples_until(7), 1_000);
    }

    #[test]
    fn workers_beyond_the_usual_number_have_no_limit_if_the_case_has_none() {
        let rules = rules(1, usize::MAX, 5);
        assert_eq!(
            [4, 5, 19].map(|position| rules.max_samples_until(position)),
            [usize::MAX; 3]
        );
    }

    #[test]
    fn the_first_workers_have_the_minimum_of_samples_when_time_is_up() {
        let rules = WorkerRules::new(
            StopRule::usual(),
            WorkerCountRule::until_known(NonZeroUsize::new(10).unwrap()),
        );
        let minimum = |worker| rules.rule(worker).min_samples;
        assert_eq!((0..rules.first()).map(minimum).sum::<usize>(), 20);
        assert_eq!(minimum(9), 6);
    }

    #[test]
    fn the_workers_that_may_be_enough_know_their_values_well() {
        let precision = |worker_count: WorkerCountRule, position| {
            let rules = WorkerRules::new(StopRule::usual(), worker_count);
            rules.rule(position).precision
        };
        let number = |workers| NonZeroUsize::new(workers).unwrap();
        let known = WorkerCountRule::until_known(number(10));
        for position in 0..5 {
            let Precision { error, enough } = precision(known, position).unwrap();
            // Three values agree if Student's t with 2 degrees of freedom, 4.303, times their
            // standard error is at most 1 %.
            assert!((2.0 * error * 4.303 / 3_f64.sqrt() - 0.01).abs() < 1e-5);
            assert_eq!(enough, ENOUGH_OF_WORKER);
        }
        assert_eq!(precision(known, 5), None);
        assert_eq!(precision(WorkerCountRule::exactly(number(10)), 0), None);
    }

    #[test]
    fn few_samples_and_workers_that_differ_do_not_suffice() {
        let rules = WorkerRules::new(
            StopRule::usual(),
            WorkerCountRule::until_known(NonZeroUsize::new(8).unwrap()),
        );
        let workers = |samples: usize, apart: f64| -> Vec<Vec<f64>> {
            (0..5)
                .map(|worker| vec![100.0 + apart * f64::from(worker); samples])
                .collect()
        };
        let suffice = |workers: &[Vec<f64>]| rules.suffice(&workers.iter().map(Vec::as_slice).collect::<Vec<_>>());
        assert!(suffice(&workers(6, 0.2)));
        assert!(!suffice(&workers(3, 0.2)), "20 samples are the minimum");
        assert!(suffice(&workers(6, 0.4)), "0.8 % is less than 1 %");
        assert!(!suffice(&workers(6, 0.5)), "1.04 % is more than 1 %");
        let one = &workers(100, 0.0)[..1];
        assert!(
            !suffice(one),
            "one worker says nothing about others, however well it is known"
        );
    }

    #[test]
    fn a_case_of_three_samples_has_three_workers() {
        let rules = rules(1, 3, 5);
        assert_eq!(rules.most(), 3);
        assert!((0..3).all(|worker| rules.rule(worker).max_samples == 1));
    }

    #[test]
    fn a_case_stopped_for_the_least_conclusive_reason() {
        use StopReason::*;
        assert_eq!(stop_of_case(&[MedianInterval, MaxTime, TargetCv]), Some(MaxTime));
        assert_eq!(stop_of_case(&[TargetCv, MedianInterval]), Some(MedianInterval));
        assert_eq!(stop_of_case(&[]), None);
    }

    /// Returns normal samples with a coefficient of variation, from all workers, until each has
    /// enough.
    fn take(rules: &WorkerRules, cv: f64, seed: u64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut normal = || {
            let (radius, angle) = (1.0 - random.f64(), random.f64());
            (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
        };
        let mut all = Vec::new();
        for worker in 0..rules.most() {
            let (rule, mut own) = (rules.rule(worker), Vec::new());
            while rule.decide(&own, Spent::default()).is_none() {
                own.push(1e4 * (1.0 + cv * normal()));
            }
            all.extend(own);
        }
        all
    }

    /// Returns the mean number of samples over many cases, and the error of their medians.
    fn cost_and_error(workers: usize, cv: f64) -> (f64, f64) {
        let rules = rules(20, 1_000, workers);
        let cases = 60;
        let (mut samples, mut squares) = (0, 0.0);
        for seed in 0..cases {
            let taken = take(&rules, cv, seed);
            samples += taken.len();
            squares += (median(&taken).unwrap() / 1e4 - 1.0).powi(2);
        }
        (samples as f64 / cases as f64, (squares / cases as f64).sqrt())
    }

    #[test]
    fn several_workers_need_about_the_same_number_of_samples_as_one() {
        for (workers, cv) in [(5, 0.03), (5, 0.1), (8, 0.03), (8, 0.1)] {
            let ((one, error_of_one), (several, error_of_several)) =
                (cost_and_error(1, cv), cost_and_error(workers, cv));
            assert!(
                several < 2.0 * one && several > 0.5 * one,
                "{several} instead of {one} samples of {workers} workers at {cv}"
            );
            assert!(
                error_of_several < 2.0 * error_of_one,
                "{error_of_several} instead of {error_of_one} at {cv}"
            );
        }
    }

    /// How the times of a simulated case vary, relative to the true value.
    struct Variation {
        /// From worker to worker.
        shift: f64,
        /// From one place of the buffers to the next.
        place: f64,
        /// From sample to sample.
        noise: f64,
    }

    /// Returns the share of 1 000 seeded cases whose 95 % interval contains the true value, and the
    /// mean number of their workers. The buffers have another place in each worker, and after so
    /// many samples of it; or one place in the whole case.
    fn covered(varies: &Variation, moves_after: Option<&[usize]>) -> (f64, f64) {
        let rules = WorkerRules::new(
            StopRule::usual(),
            WorkerCountRule::until_known(NonZeroUsize::new(10).unwrap()),
        );
        let mut random = fastrand::Rng::with_seed(11);
        let mut normal = || {
            let (radius, angle) = (1.0 - random.f64(), random.f64());
            (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
        };
        let (mut covered, mut number) = (0, 0);
        for _ in 0..1_000 {
            let (mut workers, mut last) = (Vec::new(), rules.first());
            let mut place = varies.place * normal();
            while workers.len() < last {
                let (rule, shift) = (rules.rule(workers.len()), varies.shift * normal());
                let mut samples = Vec::new();
                while rule.decide(&samples, Spent::default()).is_none() {
                    if moves_after.is_some_and(|after| samples.is_empty() || after.contains(&samples.len())) {
                        place = varies.place * normal();
                    }
                    samples.push(1e4 * (1.0 + shift + place + varies.noise * normal()));
                }
                workers.push(samples);
                let so_far: Vec<&[f64]> = workers.iter().map(Vec::as_slice).collect();
                if workers.len() == last && !rules.suffice(&so_far) {
                    last = rules.after(last);
                }
            }
            let workers: Vec<&[f64]> = workers.iter().map(Vec::as_slice).collect();
            let interval = Estimate::from_workers(&workers)
                .and_then(|estimate| estimate.interval(Confidence::SHOWN))
                .unwrap();
            covered += u32::from(interval.low <= 1e4 && 1e4 <= interval.high);
            number += workers.len();
        }
        (f64::from(covered) / 1e3, number as f64 / 1e3)
    }

    #[test]
    fn intervals_cover_although_the_workers_decide_how_many_there_are() {
        for ([shift, noise], workers) in [
            ([0.0005, 0.001], 3.0..3.1),
            ([0.002, 0.012], 3.0..6.0),
            ([0.004, 0.012], 4.0..8.0),
            ([0.015, 0.03], 9.0..10.1),
        ] {
            let varies = Variation {
                shift,
                place: 0.0,
                noise,
            };
            let (covered, number) = covered(&varies, None);
            assert!(covered >= 0.92, "{shift} {noise}: {covered}");
            assert!(workers.contains(&number), "{shift} {noise}: {number} workers");
        }
    }

    #[test]
    fn intervals_hold_the_place_of_the_buffers_only_if_it_changes_within_a_case() {
        for noise in [0.001, 0.003, 0.01] {
            let varies = Variation {
                shift: 0.0005,
                place: 0.005,
                noise,
            };
            let [(one, _), (of_worker, many), (several, fewer)] =
                [None, Some(&[][..]), Some(&[4, 10, 20])].map(|moves_after| covered(&varies, moves_after));
            assert!(one < 0.8, "{noise}: {one}");
            assert!(of_worker > 0.92 && several > 0.95, "{noise}: {of_worker} {several}");
            assert!(fewer < many, "{noise}: {fewer} workers instead of {many}");
        }
    }

    proptest! {
        #[test]
        fn the_limits_of_the_case_hold_over_all_workers(
            min in 1usize..2_000, more in 0usize..2_000, workers in 1usize..=64,
        ) {
            let max = min + more;
            let rules = rules(min, max, workers);
            let sum = |of: fn(StopRule) -> usize| (0..rules.most()).map(|worker| of(rules.rule(worker))).sum::<usize>();
            prop_assert_eq!(sum(|rule| rule.min_samples), min);
            prop_assert_eq!(sum(|rule| rule.max_samples), max);
            prop_assert_eq!(rules.max_samples_until(rules.most() - 1), max);
            for worker in 0..rules.most() {
                let rule = rules.rule(worker);
                prop_assert!(rule.max_samples >= rule.min_samples.max(1));
            }
        }
    }
}
