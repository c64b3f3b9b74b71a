//! The time budgets of a case in its record.

use std::time::Duration;

use super::protocol::Protocol;
use super::rest::Rests;
use super::run::WorkerRun;
use gpubench_contract::Budget;

/// Returns the time budgets that `protocol` gives a case, the time of its warm-up, and its rests.
pub(super) fn budget(protocol: &Protocol<'_>, runs: &[WorkerRun], rests: &Rests) -> Budget {
    let (warmup_time, sample_time) = (protocol.warm_up.device_time, protocol.stop.sample_time);
    Budget {
        warmup_time_ns: (!warmup_time.is_zero()).then(|| whole_ns(warmup_time)),
        warmed_up_ns: whole_ns(warmed_up(runs)),
        sample_time_ns: (sample_time < Duration::MAX).then(|| whole_ns(sample_time)),
        rests: rests.count(),
        rested_ns: whole_ns(rests.taken()),
    }
}

fn whole_ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the time that the warm-up windows of all workers took on the device.
fn warmed_up(runs: &[WorkerRun]) -> Duration {
    runs.iter().map(|run| run.warm_up.spent.device).sum()
}

#[cfg(test)]
mod tests {
    use super::super::simulated_case::Stage;
    use super::*;
    use gpubench_stats::Spent;

    #[test]
    fn the_warm_up_of_a_case_is_that_of_all_workers() {
        let runs = [3, 4].map(|ms| {
            let mut run = WorkerRun::default();
            run.warm_up.spent.device = Duration::from_millis(ms);
            run
        });
        assert_eq!(warmed_up(&runs), Duration::from_millis(7));
    }

    #[test]
    fn only_budgets_that_were_set_are_recorded() {
        let stage = Stage::of(1);
        for (device_time, sample_time, warmup_time_ns, sample_time_ns) in [
            (Duration::ZERO, Duration::MAX, None, None),
            (Duration::from_nanos(7), Duration::MAX, Some(7), None),
            (Duration::ZERO, Duration::from_nanos(9), None, Some(9)),
        ] {
            let mut protocol = stage.protocol();
            (protocol.warm_up.device_time, protocol.stop.sample_time) = (device_time, sample_time);
            let mut run = WorkerRun::default();
            run.warm_up.spent = Spent {
                wall: Duration::from_nanos(100),
                device: Duration::from_nanos(5),
            };
            let expected = Budget {
                warmup_time_ns,
                warmed_up_ns: 5,
                sample_time_ns,
                rests: 0,
                rested_ns: 0,
            };
            assert_eq!(budget(&protocol, &[run], &Rests::from_protocol(&protocol)), expected);
        }
    }
}
