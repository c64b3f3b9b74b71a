//! What each of a case's fresh workers may take of it.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::{Estimate, Plateau, StopRule, WorkerCountRule};
use gpubench_contract::StopReason;

/// More processes than this for one case are a mistake.
pub const MOST_WORKERS: usize = 64;

/// Estimates of the coefficient of variation that are compared at least, however many workers there
/// are.
const FEWEST_ESTIMATES: usize = 16;

/// Samples of a worker before their spread and interval count: two that are alike by chance say
/// nothing of either.
const FEWEST_OF_WORKER: usize = 6;

/// Workers agree when their interval is at most this multiple of the target interval: the
/// difference of two runs has an interval √2 times as wide as that of either.
const AGREED: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// A case's stop rule, shared out among fresh workers that are measured one after another.
///
/// Samples and time are divided, with what is left over going to the first ones, so that the limits
/// of the case hold over all workers. The samples of n workers together know the median √n times as
/// well as those of one, so each may stop at an interval √n times as wide, and at a coefficient of
/// variation whose last `samples / n` estimates spread √n times as much. The target of the
/// coefficient of variation itself depends on no number of samples and is every worker's. Where
/// fewer workers may be enough, the parts are those of all that there may be. A worker that comes
/// behind those n has as much as the last of them.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerRules {
    case: StopRule,
    worker_count: WorkerCountRule,
}

impl WorkerRules {
    /// WorkerRules a case's rule out among its workers, or among fewer where it may not take a sample of
    /// each.
    pub fn new(case: StopRule, worker_count: WorkerCountRule) -> WorkerRules {
        let most = NonZeroUsize::new(case.max_samples).unwrap_or(NonZeroUsize::MIN);
        WorkerRules {
            worker_count: worker_count.at_most(most),
            case,
        }
    }

    /// Number of workers at most.
    pub fn most(&self) -> usize {
        self.worker_count.most().get()
    }

    /// Number of workers in any case.
    pub fn first(&self) -> usize {
        self.worker_count.first().get()
    }

    /// Whether the samples of each worker so far are as many as the case must have, and the workers
    /// agree, so that two runs differ by no more than the target interval 95 times in 100. No more
    /// workers are needed then.
    pub fn suffice(&self, workers: &[&[f64]]) -> bool {
        let samples: usize = workers.iter().map(|samples| samples.len()).sum();
        let is_known = |estimate: Estimate| {
            estimate.workers() > 1 && estimate.is_known_to(AGREED * self.case.median_interval, self.case.step)
        };
        samples >= self.case.min_samples && Estimate::of(workers).is_some_and(is_known)
    }

    /// When the worker at `position`, counted from 0, has samples enough of its own.
    pub fn of(&self, position: usize) -> StopRule {
        let coarser = (self.most() as f64).sqrt();
        let plateau = self.case.plateau.map(|Plateau { samples, spread }| Plateau {
            samples: (samples / self.most()).max(FEWEST_ESTIMATES.min(samples)),
            spread: spread * coarser,
        });
        StopRule {
            median_interval: self.case.median_interval * coarser,
            min_samples: self.part(self.case.min_samples, position),
            spread_from: FEWEST_OF_WORKER.min(self.case.min_samples),
            max_samples: self.part(self.case.max_samples, position).max(1),
            max_time: self.case.max_time / self.most() as u32,
            plateau,
            ..self.case.clone()
        }
    }

    /// Most samples of all workers up to the one at `position`.
    pub fn max_samples_until(&self, position: usize) -> usize {
        (0..=position).map(|position| self.of(position).max_samples).sum()
    }

    /// Most time of all workers up to the one at `position`.
    pub fn max_time_until(&self, position: usize) -> Duration {
        let part = (position + 1) as f64 / self.most() as f64;
        self.case.max_time.mul_f64(part)
    }

    fn part(&self, of: usize, position: usize) -> usize {
        of / self.most() + usize::from(position < of % self.most())
    }
}

/// Why a case stopped, of the reasons of its workers: that of the one that came the least far.
/// [`StopReason`] lists them in this order.
pub fn stop_of_case(workers: &[StopReason]) -> Option<StopReason> {
    workers.iter().copied().max()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::median;

    fn shares(min_samples: usize, max_samples: usize, workers: usize) -> WorkerRules {
        let case = StopRule {
            min_samples,
            max_samples,
            ..StopRule::usual()
        };
        WorkerRules::new(case, WorkerCountRule::exactly(NonZeroUsize::new(workers).unwrap()))
    }

    #[test]
    fn one_worker_has_the_rule_of_the_case() {
        let one = shares(20, 1_000, 1);
        let rule = StopRule {
            spread_from: 6,
            ..StopRule::usual()
        };
        assert_eq!((one.most(), one.of(0)), (1, rule));
        assert_eq!(one.max_samples_until(0), 1_000);
    }

    #[test]
    fn what_cannot_be_divided_goes_to_the_first_workers() {
        let shares = shares(7, 11, 5);
        let limits: Vec<_> = (0..5)
            .map(|worker| (shares.of(worker).min_samples, shares.of(worker).max_samples))
            .collect();
        assert_eq!(limits, [(2, 3), (2, 2), (1, 2), (1, 2), (1, 2)]);
        assert_eq!(shares.of(4).max_time, Duration::from_millis(400));
    }

    #[test]
    fn workers_that_may_be_enough_are_what_the_first_windows_count_on() {
        let shares = WorkerRules::new(
            StopRule::usual(),
            WorkerCountRule::until_known(NonZeroUsize::new(8).unwrap()),
        );
        assert_eq!((shares.first(), shares.most()), (5, 8));
        assert_eq!(shares.max_samples_until(7), 1_000);
    }

    #[test]
    fn few_samples_and_workers_that_differ_do_not_suffice() {
        let shares = WorkerRules::new(
            StopRule::usual(),
            WorkerCountRule::until_known(NonZeroUsize::new(8).unwrap()),
        );
        let workers = |samples: usize, apart: f64| -> Vec<Vec<f64>> {
            (0..5)
                .map(|worker| vec![100.0 + apart * f64::from(worker); samples])
                .collect()
        };
        let suffice = |workers: &[Vec<f64>]| shares.suffice(&workers.iter().map(Vec::as_slice).collect::<Vec<_>>());
        assert!(suffice(&workers(6, 0.2)));
        assert!(!suffice(&workers(3, 0.2)), "20 samples are the fewest");
        assert!(!suffice(&workers(6, 0.4)), "0.8 % is more than 1 % / √2");
    }

    #[test]
    fn a_case_of_three_samples_has_three_workers() {
        let shares = shares(1, 3, 5);
        assert_eq!(shares.most(), 3);
        assert!((0..3).all(|worker| shares.of(worker).max_samples == 1));
    }

    #[test]
    fn a_limit_that_any_worker_met_is_why_the_case_stopped() {
        use StopReason::*;
        assert_eq!(stop_of_case(&[MedianInterval, MaxTime, TargetCv]), Some(MaxTime));
        assert_eq!(stop_of_case(&[TargetCv, MedianInterval]), Some(MedianInterval));
        assert_eq!(stop_of_case(&[]), None);
    }

    /// Normal samples with a coefficient of variation, from as many workers, until each has enough.
    fn take(shares: &WorkerRules, cv: f64, seed: u64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut normal = || {
            let (radius, angle) = (1.0 - random.f64(), random.f64());
            (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
        };
        let mut all = Vec::new();
        for worker in 0..shares.most() {
            let (rule, mut own) = (shares.of(worker), Vec::new());
            while rule.decide(&own, Duration::ZERO).is_none() {
                own.push(1e4 * (1.0 + cv * normal()));
            }
            all.extend(own);
        }
        all
    }

    /// Over many cases: how many samples one takes on average, and the error of its median.
    fn cost_and_error(workers: usize, cv: f64) -> (f64, f64) {
        let shares = shares(20, 1_000, workers);
        let cases = 60;
        let (mut samples, mut squares) = (0, 0.0);
        for seed in 0..cases {
            let taken = take(&shares, cv, seed);
            samples += taken.len();
            squares += (median(&taken).unwrap() / 1e4 - 1.0).powi(2);
        }
        (samples as f64 / cases as f64, (squares / cases as f64).sqrt())
    }

    #[test]
    fn several_workers_know_the_median_about_as_well_as_one_by_about_as_many_samples() {
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

    proptest! {
        #[test]
        fn the_limits_of_the_case_hold_over_all_workers(
            min in 1usize..2_000, more in 0usize..2_000, workers in 1usize..=64,
        ) {
            let max = min + more;
            let shares = shares(min, max, workers);
            let sum = |of: fn(StopRule) -> usize| (0..shares.most()).map(|worker| of(shares.of(worker))).sum::<usize>();
            prop_assert_eq!(sum(|rule| rule.min_samples), min);
            prop_assert_eq!(sum(|rule| rule.max_samples), max);
            prop_assert_eq!(shares.max_samples_until(shares.most() - 1), max);
            for worker in 0..shares.most() {
                let rule = shares.of(worker);
                prop_assert!(rule.max_samples >= rule.min_samples.max(1));
            }
        }
    }
}
