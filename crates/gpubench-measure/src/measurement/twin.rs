//! How fast the machine was beside a case: what a job of the tool's own took that is the same whatever the code under test is.

use std::ops::Range;

use crate::verdict::{WindowEvidence, sampled_by_worker};
use gpubench_contract::Twin;
use gpubench_protocol::wire::{WindowEnd, WindowFacts};

/// The twin of a case, from the windows that gave its samples. No window is longer for it: the referee does the job in each of them anyway.
pub(super) fn twin(windows: &[WindowEvidence], warm_ups: &[Range<usize>]) -> Option<Twin> {
    let times = |windows: &[WindowEvidence]| -> Vec<f64> {
        let checked = windows.iter().filter(|window| window.facts.end == WindowEnd::Checked);
        checked.map(|window| job_ns(&window.facts)).collect()
    };
    let rounds: Vec<Vec<f64>> = sampled_by_worker(windows, warm_ups).map(times).collect();
    gpubench_stats::twin(&rounds.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// What the referee does over the case's buffers round a call: before it, it restores them, flushes the cache and reveals the true inputs; behind it, it copies the outputs. The geometric mean of both, so that the copies count as
/// much as the preparation, which takes longer: they come right behind the call, and on busy processors drift as kernels do (`docs/measurements/2026-11-23-apart.md`).
fn job_ns(facts: &WindowFacts) -> f64 {
    let [before, behind] =
        [(facts.s0_ns, facts.s1_ns), (facts.s2_ns, facts.s3_ns)].map(|(from, to)| to.saturating_sub(from));
    (before as f64 * behind as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;

    use super::*;

    /// A window in which the referee takes so long before the call and behind it.
    fn window(end: WindowEnd, before_ns: u64, behind_ns: u64) -> WindowEvidence {
        let facts = WindowFacts {
            end,
            s0_ns: 1_000,
            s1_ns: 1_000 + before_ns,
            s2_ns: 900_000,
            s3_ns: 900_000 + behind_ns,
            ..WindowFacts::zeroed()
        };
        WindowEvidence {
            facts: Box::new(facts),
            claim: None,
        }
    }

    #[test]
    fn a_twin_is_what_the_referee_does_in_the_windows_that_gave_samples() {
        let checked = |before, behind| window(WindowEnd::Checked, before, behind);
        let windows = [
            checked(70_000, 7_000),
            checked(40_000, 10_000),
            checked(90_000, 40_000),
            window(WindowEnd::NotDone, 90_000, 0),
            checked(80_000, 8_000),
            checked(49_000, 4_000),
        ];
        let twin = twin(&windows, &[0..1, 4..5]).unwrap();
        assert_eq!(twin.rounds_ns, [40_000.0, 14_000.0]);
        assert_eq!(twin.value_ns, 27_000.0);
    }

    #[test]
    fn no_windows_have_no_twin() {
        assert_eq!(twin(&[], &[]), None);
        assert_eq!(twin(&[window(WindowEnd::Aborted, 1, 1)], &[]), None);
    }
}
