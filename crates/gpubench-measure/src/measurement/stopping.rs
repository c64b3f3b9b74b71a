//! When a worker is warm, and when it has enough samples.

use std::num::NonZeroU32;
use std::time::Duration;

use super::protocol::Protocol;
use super::run::WorkerRun;
use crate::clients::WorkerPast;
use gpubench_contract::MetricKind;
use gpubench_contract::StopReason;
use gpubench_stats::{Spent, StopRule, WarmUpRule, WorkerRules, median};

/// Time of a call from which three workers may be enough, in nanoseconds. On an H100 and an H200,
/// processes differ by 0.05 to 0.45 % in longer calls. In shorter ones they differ by up to 2 %, in
/// modes that three workers may miss.
const LONG_CALL_NS: f64 = 12_000.0;

/// When the workers of an arm are warm, and when they have enough samples. The last of the given
/// runs is that of the current worker.
#[derive(Debug)]
pub(super) struct Stopping<'a> {
    warm_up: &'a WarmUpRule,
    shares: WorkerRules,
    metric: MetricKind,
    /// Number of calls that a sample is the mean of.
    calls: NonZeroU32,
}

impl<'a> Stopping<'a> {
    pub(super) fn new(protocol: &'a Protocol<'a>, calls: NonZeroU32) -> Stopping<'a> {
        Stopping {
            warm_up: &protocol.warm_up,
            shares: protocol.worker_rules(),
            metric: protocol.metric.kind,
            calls,
        }
    }

    /// Returns the least number of workers of an arm.
    pub(super) fn first_workers(&self) -> usize {
        self.shares.first()
    }

    /// Returns how many workers an arm without rivals needs, given the samples so far.
    pub(super) fn workers_to_have(&self, runs: &[WorkerRun]) -> usize {
        let for_all_calls = self.shares.after(self.shares.first());
        let may_be_enough = runs.len() >= for_all_calls || runs.iter().all(|run| self.has_long_calls(run));
        if may_be_enough && self.shares.suffice(&samples_by_worker(runs)) {
            runs.len()
        } else {
            self.workers_after(runs)
        }
    }

    /// Returns how many workers there are to be if these do not suffice.
    pub(super) fn workers_after(&self, runs: &[WorkerRun]) -> usize {
        self.shares.after(runs.len())
    }

    /// Whether the running median of the current worker's warm-up is stable and its windows have
    /// kept the device busy for long enough, or limits are reached.
    pub(super) fn is_warm(&self, runs: &[WorkerRun]) -> bool {
        let Some((position, run)) = current(runs) else {
            return false;
        };
        let rule = match run.past {
            WorkerPast::Rested => self.warm_up.of_rested_worker(),
            WorkerPast::New if position > 0 => self.warm_up.of_further_worker(),
            WorkerPast::New => self.warm_up.clone(),
        };
        let rule = WarmUpRule {
            device_time_within: self.shares.rule(position).max_time,
            ..rule
        };
        rule.is_over(&run.warm_up.claims_ns, run.warm_up.spent)
    }

    /// Whether the limits allow the current worker more windows while another arm needs them.
    pub(super) fn may_go_on(&self, runs: &[WorkerRun]) -> bool {
        let (position, spent) = (runs.len().saturating_sub(1), self.spent(runs));
        let samples: usize = runs.iter().map(|run| run.samples.values.len()).sum();
        samples < self.shares.max_samples_until(position)
            && spent.device < self.shares.sample_time_until(position)
            && spent.wall < self.shares.max_time_until(position)
    }

    /// Whether the current worker has as many samples as it may have.
    pub(super) fn has_all_samples(&self, runs: &[WorkerRun]) -> bool {
        current(runs).is_some_and(|(position, run)| run.samples.values.len() >= self.shares.rule(position).max_samples)
    }

    /// Returns why the current worker has enough samples, if it has.
    pub(super) fn decide(&self, runs: &[WorkerRun]) -> Option<StopReason> {
        let (position, run) = current(runs)?;
        let spent = self.spent(std::slice::from_ref(run));
        let rule = self.shares.rule(position);
        let rule = StopRule {
            // Workers with short calls differ by more than their noise.
            precision: rule.precision.filter(|_| self.has_long_calls(run)),
            ..rule
        };
        rule.decide(&run.samples.values, spent)
    }

    /// Whether the calls of a worker are so long that the place of their buffers in memory can
    /// decide more of their time than the process does.
    pub(super) fn depends_on_place(&self, run: &WorkerRun) -> bool {
        median(&run.samples.values).is_some_and(|call_ns| call_ns >= LONG_CALL_NS)
    }

    /// Whether the windows of a worker make one call, a long one. The bound on the claims of
    /// windows with several calls needs more workers.
    fn has_long_calls(&self, run: &WorkerRun) -> bool {
        self.calls == NonZeroU32::MIN && self.depends_on_place(run)
    }

    /// Returns the time spent on the samples of some workers. Counts take none on the device.
    fn spent(&self, runs: &[WorkerRun]) -> Spent {
        let samples = runs.iter().flat_map(|run| &run.samples.values);
        Spent {
            wall: runs.iter().map(|run| run.sampled_for).sum(),
            device: match self.metric {
                MetricKind::Time => Spent::device_ns(samples.sum::<f64>() * f64::from(self.calls.get())),
                _ => Duration::ZERO,
            },
        }
    }
}

/// Returns the samples of each worker.
pub(super) fn samples_by_worker(runs: &[WorkerRun]) -> Vec<&[f64]> {
    runs.iter().map(|run| &run.samples.values[..]).collect()
}

fn current(runs: &[WorkerRun]) -> Option<(usize, &WorkerRun)> {
    runs.iter().enumerate().next_back()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use gpubench_stats::{StopRule, WorkerCountRule};

    use super::*;

    fn spent(metric: MetricKind, calls: u32, runs: &[WorkerRun]) -> Spent {
        let stopping = Stopping {
            warm_up: &WarmUpRule::default(),
            shares: WorkerRules::new(StopRule::default(), WorkerCountRule::exactly(NonZeroUsize::MIN)),
            metric,
            calls: NonZeroU32::new(calls).expect("some calls"),
        };
        stopping.spent(runs)
    }

    fn runs() -> [WorkerRun; 2] {
        [[100.0, 200.0], [300.0, 400.0]].map(|samples| {
            let mut run = WorkerRun {
                sampled_for: Duration::from_secs(1),
                ..WorkerRun::default()
            };
            run.samples.values = samples.to_vec();
            run
        })
    }

    #[test]
    fn the_time_on_the_device_is_that_of_all_calls_of_the_samples() {
        let runs = runs();
        let expected = |wall, device| Spent {
            wall: Duration::from_secs(wall),
            device: Duration::from_micros(device),
        };
        assert_eq!(spent(MetricKind::Time, 10, &runs), expected(2, 10));
        assert_eq!(spent(MetricKind::Time, 10, &runs[1..]), expected(1, 7));
    }

    #[test]
    fn samples_that_are_thrown_away_take_no_time_on_the_device() {
        let [_, mut run] = runs();
        run.throw_away(1);
        let device = spent(MetricKind::Time, 1, &[run]).device;
        assert_eq!(device, Duration::from_nanos(300));
    }

    /// Whether the last of some workers is warm after this many windows of one length.
    fn is_warm(runs: &mut [WorkerRun], windows: usize) -> bool {
        let stopping = Stopping {
            warm_up: &WarmUpRule::default(),
            shares: WorkerRules::new(StopRule::default(), WorkerCountRule::exactly(NonZeroUsize::MIN)),
            metric: MetricKind::Time,
            calls: NonZeroU32::MIN,
        };
        runs.last_mut().expect("a worker").warm_up.claims_ns = vec![100.0; windows];
        stopping.is_warm(runs)
    }

    #[test]
    fn the_first_worker_takes_longest_to_be_warm_and_a_rested_one_hardly_any_time() {
        let rested = || WorkerRun {
            past: WorkerPast::Rested,
            ..WorkerRun::default()
        };
        let new = WorkerRun::default;
        for (mut runs, windows) in [
            (vec![new()], 10),
            (vec![new(), new()], 4),
            (vec![rested()], 2),
            (vec![new(), rested()], 2),
        ] {
            let position = runs.len() - 1;
            assert!(
                !is_warm(&mut runs, windows - 1),
                "worker {position} after {windows} - 1"
            );
            assert!(is_warm(&mut runs, windows), "worker {position} after {windows}");
        }
    }

    /// Returns the rules of a case that begins with three workers. A sample has `calls` calls.
    fn until_known(warm_up: &WarmUpRule, calls: u32) -> Stopping<'_> {
        Stopping {
            warm_up,
            shares: WorkerRules::new(
                StopRule::default(),
                WorkerCountRule::until_known(10.try_into().unwrap()),
            ),
            metric: MetricKind::Time,
            calls: NonZeroU32::new(calls).unwrap(),
        }
    }

    /// Returns how many workers there are to be after three with these times.
    fn workers_after_three(calls: u32, times_ns: [f64; 3]) -> usize {
        let warm_up = WarmUpRule::default();
        let stopping = until_known(&warm_up, calls);
        let run = |ns| {
            let mut run = WorkerRun::default();
            run.samples.values = vec![ns; 20];
            run
        };
        stopping.workers_to_have(&times_ns.map(run))
    }

    #[test]
    fn three_workers_are_enough_only_for_single_long_calls_that_agree() {
        assert_eq!(workers_after_three(1, [20_000.0, 20_010.0, 19_990.0]), 3);
        assert_eq!(workers_after_three(1, [20_000.0, 21_000.0, 19_000.0]), 5);
        assert_eq!(workers_after_three(1, [3_000.0; 3]), 5);
        assert_eq!(workers_after_three(1, [12_010.0, 12_000.0, 11_990.0]), 5);
        assert_eq!(workers_after_three(10, [20_000.0; 3]), 5);
    }

    #[test]
    fn only_workers_with_long_calls_take_samples_to_know_their_values() {
        let warm_up = WarmUpRule::default();
        let stopping = until_known(&warm_up, 1);
        let stops_after = |call_ns: f64| {
            let mut run = WorkerRun::default();
            for sample in 0..60 {
                run.samples.values.push(call_ns * [0.98, 1.0, 1.02][sample % 3]);
                if stopping.decide(std::slice::from_ref(&run)).is_some() {
                    break;
                }
            }
            run.samples.values.len()
        };
        assert!(stops_after(3_000.0) < 20, "{}", stops_after(3_000.0));
        assert_eq!(stops_after(30_000.0), 40);
    }

    #[test]
    fn counts_are_no_time() {
        assert_eq!(spent(MetricKind::Instructions, 1, &runs()).device, Duration::ZERO);
    }

    /// Returns the rules of a case with two workers that have equal shares of 10 samples, 4 µs on
    /// the device and 2 s.
    fn limited(warm_up: &WarmUpRule) -> Stopping<'_> {
        let stop = StopRule {
            max_samples: 10,
            sample_time: Duration::from_micros(4),
            max_time: Duration::from_secs(2),
            plateau: None,
            median_interval: 0.0,
            ..StopRule::default()
        };
        Stopping {
            warm_up,
            shares: WorkerRules::new(stop, WorkerCountRule::exactly(2.try_into().unwrap())),
            metric: MetricKind::Time,
            calls: NonZeroU32::MIN,
        }
    }

    fn sampled(samples: usize, ns: f64, sampled_for: Duration) -> WorkerRun {
        let mut run = WorkerRun {
            sampled_for,
            ..WorkerRun::default()
        };
        // They never agree.
        run.samples.values = (0..samples).map(|sample| ns * (0.5 + (sample % 2) as f64)).collect();
        run
    }

    #[test]
    fn a_worker_may_go_on_until_any_limit_of_the_workers_so_far_is_reached() {
        let warm_up = WarmUpRule::default();
        let stopping = limited(&warm_up);
        let (soon, late) = (Duration::ZERO, Duration::from_secs(1));
        let none = || sampled(0, 0.0, soon);
        for (runs, may_go_on) in [
            (vec![none()], true),
            (vec![sampled(4, 1.0, soon)], true),
            (vec![sampled(5, 1.0, soon)], false),
            (vec![sampled(4, 400.0, soon)], true),
            (vec![sampled(4, 500.0, soon)], false),
            (vec![sampled(4, 1.0, late)], false),
            // What an earlier worker left is the next one's.
            (vec![none(), sampled(9, 1.0, soon)], true),
            (vec![none(), sampled(10, 1.0, soon)], false),
            (vec![sampled(5, 1.0, soon), sampled(4, 1.0, soon)], true),
            (vec![sampled(5, 1.0, soon), sampled(5, 1.0, soon)], false),
            (vec![none(), sampled(4, 900.0, soon)], true),
            (vec![none(), sampled(4, 1_000.0, soon)], false),
            (vec![none(), sampled(4, 1.0, late)], true),
            (vec![sampled(4, 1.0, late), sampled(4, 1.0, late)], false),
        ] {
            assert_eq!(stopping.may_go_on(&runs), may_go_on, "{runs:?}");
        }
    }

    #[test]
    fn a_worker_stops_by_its_own_samples_and_time() {
        let warm_up = WarmUpRule::default();
        let stopping = limited(&warm_up);
        let (soon, late) = (Duration::ZERO, Duration::from_secs(1));
        let full = || sampled(5, 1_000.0, late);
        for (run, reason) in [
            (sampled(4, 1.0, soon), None),
            (sampled(5, 1.0, soon), Some(StopReason::MaxSamples)),
            (sampled(4, 500.0, soon), Some(StopReason::SampleTime)),
            (sampled(4, 1.0, late), Some(StopReason::MaxTime)),
        ] {
            assert_eq!(stopping.decide(&[full(), run]), reason);
        }
        assert_eq!(stopping.decide(&[]), None);
    }

    #[test]
    fn a_device_that_is_to_be_busy_while_a_worker_warms_up_is_so_for_the_workers_share_of_the_time() {
        let busy = WarmUpRule {
            max_windows: 1,
            device_time: Duration::from_secs(60),
            ..WarmUpRule::default()
        };
        let stopping = limited(&busy);
        for (wall, device, is_warm) in [(999, 0, false), (1_000, 0, true), (0, 60_000, true), (0, 59_999, false)] {
            let mut run = WorkerRun::default();
            run.warm_up.claims_ns = vec![100.0];
            run.warm_up.spent = Spent {
                wall: Duration::from_millis(wall),
                device: Duration::from_millis(device),
            };
            assert_eq!(stopping.is_warm(&[run]), is_warm, "{wall} {device}");
        }
        assert!(!stopping.is_warm(&[]));
    }
}
