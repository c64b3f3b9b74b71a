//! The twin of a case: a fixed job of the tool that shows the speed of the machine during the case.

use super::run::WorkerRun;
use crate::verdict::{TimeUse, WindowEvidence};
use gpubench_contract::Twin;
use gpubench_protocol::wire::{WindowEnd, WindowFacts};

/// Returns the twin of a case. If there are control windows, it is the time of their kernel, which
/// reads and writes the case's buffers between two events like the code under test. Otherwise it is
/// the referee's work before each sampled call. No window takes longer because of it.
pub(super) fn twin(workers: &[WorkerRun]) -> Option<Twin> {
    let times = |windows: &[WindowEvidence], job_ns: fn(&WindowEvidence) -> Option<f64>| -> Vec<f64> {
        let checked = windows.iter();
        let checked =
            checked.filter(|window| window.facts.end == WindowEnd::Checked && window.time_use == TimeUse::Counts);
        checked.filter_map(job_ns).collect()
    };
    let of_worker = |run: &WorkerRun| {
        if workers.iter().all(|run| run.controls.windows.is_empty()) {
            times(&run.windows, prepared_ns)
        } else {
            times(&run.controls.windows, claimed_ns)
        }
    };
    let rounds: Vec<Vec<f64>> = workers.iter().map(of_worker).collect();
    gpubench_stats::twin(&rounds.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn claimed_ns(window: &WindowEvidence) -> Option<f64> {
    window.elapsed_ns()
}

/// The referee's work on the buffers before a call: it restores them, flushes the cache and
/// replaces the decoys. Its work after the call does not count, because its threads have slept
/// longer after a longer call.
fn prepared_ns(window: &WindowEvidence) -> Option<f64> {
    let WindowFacts { s0_ns, s1_ns, .. } = *window.facts;
    Some(s1_ns.saturating_sub(s0_ns) as f64)
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;

    use super::*;
    use gpubench_protocol::wire::Claim;

    /// A window in which the referee works for `before_ns` before the call. The call and the copies
    /// after it take longer.
    fn window(end: WindowEnd, before_ns: u64) -> WindowEvidence {
        let facts = WindowFacts {
            end,
            s0_ns: 1_000,
            s1_ns: 1_000 + before_ns,
            s2_ns: 900_000,
            s3_ns: 980_000,
            ..WindowFacts::zeroed()
        };
        WindowEvidence::new(Box::new(facts), None)
    }

    fn run(windows: &[WindowEvidence], controls: &[WindowEvidence]) -> WorkerRun {
        let mut run = WorkerRun {
            windows: windows.to_vec(),
            ..WorkerRun::default()
        };
        run.controls.windows = controls.to_vec();
        run
    }

    #[test]
    fn the_twin_times_the_referee_before_sampled_calls() {
        let mut windows =
            [70_000, 20_000, 60_000, 90_000, 80_000, 14_000].map(|before_ns| window(WindowEnd::Checked, before_ns));
        windows[3].facts.end = WindowEnd::NotDone;
        for warm_up in [0, 4] {
            windows[warm_up].time_use = TimeUse::WarmUp;
        }
        let [first, second] = [&windows[..4], &windows[4..]].map(|windows| run(windows, &[]));
        let twin = twin(&[first, second]).unwrap();
        assert_eq!(twin.rounds_ns, [40_000.0, 14_000.0]);
        assert_eq!(twin.value_ns, 27_000.0);
    }

    #[test]
    fn windows_whose_time_does_not_count_are_not_in_the_twin() {
        for time_use in [TimeUse::WarmUp, TimeUse::ThrownAway, TimeUse::Energy] {
            let mut windows = [10_000, 90_000].map(|before_ns| window(WindowEnd::Checked, before_ns));
            windows[1].time_use = time_use;
            let twin = twin(&[run(&windows, &[])]).unwrap();
            assert_eq!(twin.value_ns, 10_000.0, "{time_use:?}");
        }
    }

    #[test]
    fn the_twin_uses_the_claims_of_control_windows() {
        let claims_ns = [9_000.0, 9_200.0, 9_400.0];
        let control = claims_ns.map(|elapsed_ns| WindowEvidence {
            claim: Some(Box::new(Claim {
                elapsed_ns,
                ..Claim::empty(1)
            })),
            ..window(WindowEnd::Checked, 70_000)
        });
        let own = window(WindowEnd::Checked, 60_000);
        let rounds = [
            run(std::slice::from_ref(&own), &control[..2]),
            run(&[], &control[2..]),
            run(&[own], &[]),
        ];
        let twin = twin(&rounds).unwrap();
        assert_eq!(twin.rounds_ns, [9_100.0, 9_400.0], "the two jobs cannot be compared");
    }

    #[test]
    fn no_windows_have_no_twin() {
        assert_eq!(twin(&[]), None);
        assert_eq!(twin(&[run(&[window(WindowEnd::Aborted, 1)], &[])]), None);
    }
}
