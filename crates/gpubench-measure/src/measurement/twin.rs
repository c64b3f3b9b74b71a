//! The twin of a case: a fixed job of the tool that shows the speed of the machine during the case.

use std::ops::Range;

use crate::verdict::{ControlWindows, TimeUse, WindowEvidence, sampled_by_worker};
use gpubench_contract::Twin;
use gpubench_protocol::wire::{WindowEnd, WindowFacts};

/// Returns the twin of a case. If there are control windows, it is the time of their kernel, which
/// reads and writes the case's buffers between two events like the code under test. Otherwise it is
/// the referee's work before each sampled call. No window takes longer because of it.
pub(super) fn twin(windows: &[WindowEvidence], warm_ups: &[Range<usize>], control: ControlWindows<'_>) -> Option<Twin> {
    let times = |windows: &[WindowEvidence], job_ns: fn(&WindowEvidence) -> Option<f64>| -> Vec<f64> {
        let checked = windows.iter();
        let checked =
            checked.filter(|window| window.facts.end == WindowEnd::Checked && window.time_use == TimeUse::Counts);
        checked.filter_map(job_ns).collect()
    };
    let rounds: Vec<Vec<f64>> = if control.windows.is_empty() {
        let workers = sampled_by_worker(windows, warm_ups);
        workers.map(|windows| times(windows, prepared_ns)).collect()
    } else {
        let workers = control.by_worker().take(control.turns.len() + 1);
        workers.map(|windows| times(windows, claimed_ns)).collect()
    };
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

    #[test]
    fn the_twin_times_the_referee_before_sampled_calls() {
        let times_ns = [70_000, 20_000, 60_000, 90_000, 80_000, 14_000];
        let mut windows = times_ns.map(|before_ns| window(WindowEnd::Checked, before_ns));
        windows[3].facts.end = WindowEnd::NotDone;
        let twin = twin(&windows, &[0..1, 4..5], ControlWindows::default()).unwrap();
        assert_eq!(twin.rounds_ns, [40_000.0, 14_000.0]);
        assert_eq!(twin.value_ns, 27_000.0);
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
        let control = ControlWindows {
            windows: &control,
            turns: &[0, 2],
            ..ControlWindows::default()
        };
        let twin = twin(&[window(WindowEnd::Checked, 60_000)], &[], control).unwrap();
        assert_eq!(twin.rounds_ns, [9_100.0, 9_400.0]);
    }

    #[test]
    fn no_windows_have_no_twin() {
        assert_eq!(twin(&[], &[], ControlWindows::default()), None);
        assert_eq!(
            twin(&[window(WindowEnd::Aborted, 1)], &[], ControlWindows::default()),
            None
        );
    }
}
