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

/// What the referee does over the case's buffers before a call: it restores them, flushes the cache and reveals the true inputs. What it does behind the call is left out: the longer the call, the longer its threads have slept by then.
fn job_ns(facts: &WindowFacts) -> f64 {
    facts.s1_ns.saturating_sub(facts.s0_ns) as f64
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;

    use super::*;

    /// A window in which the referee takes so long before the call; the call takes longer than that, and the copies behind it.
    fn window(end: WindowEnd, before_ns: u64) -> WindowEvidence {
        let facts = WindowFacts {
            end,
            s0_ns: 1_000,
            s1_ns: 1_000 + before_ns,
            s2_ns: 900_000,
            s3_ns: 980_000,
            ..WindowFacts::zeroed()
        };
        WindowEvidence {
            facts: Box::new(facts),
            claim: None,
        }
    }

    #[test]
    fn a_twin_is_what_the_referee_does_before_the_calls_that_gave_samples() {
        let times_ns = [70_000, 20_000, 60_000, 90_000, 80_000, 14_000];
        let mut windows = times_ns.map(|before_ns| window(WindowEnd::Checked, before_ns));
        windows[3].facts.end = WindowEnd::NotDone;
        let twin = twin(&windows, &[0..1, 4..5]).unwrap();
        assert_eq!(twin.rounds_ns, [40_000.0, 14_000.0]);
        assert_eq!(twin.value_ns, 27_000.0);
    }

    #[test]
    fn no_windows_have_no_twin() {
        assert_eq!(twin(&[], &[]), None);
        assert_eq!(twin(&[window(WindowEnd::Aborted, 1)], &[]), None);
    }
}
