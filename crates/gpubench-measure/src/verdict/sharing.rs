//! Whether the calls of a sample share work: a call among others, compared with a call alone.

use super::conservation::observed_ns;
use super::{Evidence, WindowEvidence};
use gpubench_contract::Sharing;
use gpubench_protocol::window::WindowKind;
use gpubench_protocol::wire::WindowEnd;
use gpubench_stats::{TimingAudit, interquartile_mean};

/// Least number of windows that make one call alone, and of their control windows.
const FEWEST: usize = 4;

/// What calls that share nothing can save by being together, beyond the launch of the tool's own
/// kernel: this, in nanoseconds, ...
const TOLERANCE_NS: f64 = 300.0;

/// ... and this share of a call.
const TOLERANCE: f64 = 0.05;

/// They save at most this share of a call. What saves more can be paid for work that it shares.
const MOST: f64 = 0.1;

/// Returns what the calls of a sample save by being together. `None` if a window has one call, if
/// the referee's clock does not check the claims, or if there are too few windows.
pub fn sharing(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> Option<Sharing> {
    let calls = f64::from(evidence.calls.get());
    let bound_ns = balance?.bound_ns;
    let of_kind = |windows: &[&WindowEvidence], kind, value: fn(&WindowEvidence) -> Option<f64>, least: usize| {
        let checked = windows.iter().filter(|window| window.facts.end == WindowEnd::Checked);
        let values: Vec<f64> = checked
            .filter(|window| window.facts.kind == kind)
            .filter_map(|window| value(window))
            .collect();
        // As the reported time: calls that share work in a part of the windows gain and show it in
        // that part.
        interquartile_mean(&values).filter(|_| values.len() >= least)
    };
    let sampled = evidence.sampled();
    let control: Vec<_> = evidence.controls().collect();
    let control_single: Vec<_> = evidence.runs.iter().flat_map(|run| run.single_controls).collect();
    let alone = |windows, kind| {
        let claimed_ns = of_kind(windows, kind, WindowEvidence::elapsed_ns, FEWEST)?;
        let unclaimed_ns = of_kind(windows, kind, unclaimed_ns, FEWEST)?;
        Some((claimed_ns, unclaimed_ns))
    };
    let (alone_ns, unclaimed_alone_ns) = alone(&sampled, WindowKind::Single)?;
    let (twin_alone_ns, usual_ns) = alone(&control_single, WindowKind::SingleControl)?;
    let together_ns = of_kind(&sampled, WindowKind::Timed, WindowEvidence::elapsed_ns, 1)? / calls;
    let twin_together_ns = of_kind(&control, WindowKind::Control, WindowEvidence::elapsed_ns, 1)? / calls;
    // A claim that is too short for the referee's clock does not count.
    let hidden_ns = Some(unclaimed_alone_ns - usual_ns).filter(|hidden_ns| *hidden_ns > bound_ns);
    let alone_ns = alone_ns + hidden_ns.unwrap_or_default();
    let launch_ns = (twin_alone_ns - twin_together_ns).max(0.0);
    Some(Sharing {
        alone_ns,
        together_ns,
        launch_ns,
        shared_ns: alone_ns - together_ns - launch_ns,
        tolerance_ns: (TOLERANCE_NS + TOLERANCE * together_ns).min(MOST * together_ns),
    })
}

fn unclaimed_ns(window: &WindowEvidence) -> Option<f64> {
    Some(observed_ns(window) - window.elapsed_ns()?)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use bytemuck::Zeroable;
    use gpubench_contract::MetricKind;
    use gpubench_device::ClockBound;
    use gpubench_protocol::window::Gate;
    use gpubench_protocol::wire::{Claim, WindowFacts};
    use gpubench_stats::{Clocked, ClockedTurn};

    use super::*;
    use crate::verdict::{Ending, Execution, RunEvidence, Surroundings};

    /// What a window takes by the referee's clock beyond the calls.
    const USUAL_NS: f64 = 293_000.0;

    fn window(kind: WindowKind, claimed_ns: f64, hidden_ns: f64) -> WindowEvidence {
        let facts = WindowFacts {
            kind,
            s2_ns: (USUAL_NS + claimed_ns + hidden_ns) as u64,
            ..WindowFacts::zeroed()
        };
        let claim = Claim {
            elapsed_ns: claimed_ns,
            ..Claim::empty(1)
        };
        WindowEvidence::new(Box::new(facts), Some(Box::new(claim)))
    }

    fn balance() -> TimingAudit {
        let turn = ClockedTurn {
            windows: vec![
                Clocked {
                    claim_ns: 10_000.0,
                    residual_ns: USUAL_NS
                };
                8
            ],
            control_ns: vec![USUAL_NS; 8],
        };
        TimingAudit::new(&[turn], &[]).expect("there are enough windows")
    }

    /// Ten calls that take `together_ns` each, and one that takes `alone_ns`. The launch of the
    /// tool's own kernel takes 2 µs more alone than among ten.
    fn shared(together_ns: f64, alone_ns: f64, hidden_ns: f64, singles: usize) -> Option<Sharing> {
        let sampled = vec![window(WindowKind::Timed, 10.0 * together_ns, 0.0); 5];
        let single = vec![window(WindowKind::Single, alone_ns, hidden_ns); singles];
        of_windows(&[sampled, single].concat())
    }

    fn of_windows(windows: &[WindowEvidence]) -> Option<Sharing> {
        next_to_twins(windows, 4_000.0)
    }

    /// The same if the tool's own kernel takes `twin_alone_ns` alone, and 2 µs among ten.
    fn next_to_twins(windows: &[WindowEvidence], twin_alone_ns: f64) -> Option<Sharing> {
        let control = vec![window(WindowKind::Control, 20_000.0, 0.0); 5];
        let control_singles = vec![window(WindowKind::SingleControl, twin_alone_ns, 0.0); 5];
        let evidence = Evidence {
            metric: MetricKind::Time,
            tensors: &[],
            calls: NonZeroU32::new(10).unwrap(),
            scratch: &[],
            runs: vec![RunEvidence {
                windows,
                controls: &control,
                single_controls: &control_singles,
                last_call: 1,
            }],
            ending: Ending::Stopped,
            execution: &Execution::Sealed,
            gate: Gate::Stream,
            clock_bound: &ClockBound::Exclusive,
            floor_ns: None,
            surroundings: Surroundings::default(),
            open_sandboxes: &[],
        };
        sharing(&evidence, Some(&balance()))
    }

    #[test]
    fn calls_that_are_hidden_behind_each_other_as_the_twins_are_share_nothing() {
        let honest = shared(1_500.0, 3_600.0, 0.0, 5).expect("there are enough windows");
        assert_eq!((honest.launch_ns, honest.shared_ns.round()), (2_000.0, 100.0));
        assert!(!honest.is_likely());
        let long = shared(71_700.0, 74_100.0, 0.0, 5).expect("there are enough windows");
        assert!(!long.is_likely(), "{long:?}");
        let slower_together = shared(29_000.0, 27_700.0, 0.0, 5).expect("there are enough windows");
        assert!(!slower_together.is_likely());
    }

    #[test]
    fn a_call_that_takes_longer_alone_than_the_launch_explains_shares_work() {
        // A chain of dependent operations, of which the first call makes those of all ten.
        let cheating = shared(2_100.0, 11_900.0, 0.0, 5).expect("there are enough windows");
        assert!(cheating.is_likely(), "{cheating:?}");
        let in_pairs = shared(5_600.0, 10_000.0, 0.0, 5).expect("there are enough windows");
        assert!(in_pairs.is_likely(), "{in_pairs:?}");
    }

    #[test]
    fn no_call_saves_more_than_a_tenth_unseen() {
        for together_ns in [1_000.0, 2_000.0, 4_000.0, 30_000.0] {
            let within = shared(together_ns, 2_000.0 + 1.055 * together_ns, 0.0, 5).expect("enough windows");
            assert!(!within.is_likely(), "{within:?}");
            let beyond = shared(together_ns, 2_000.0 + 1.11 * together_ns, 0.0, 5).expect("enough windows");
            assert!(beyond.is_likely(), "{beyond:?}");
        }
    }

    #[test]
    fn a_call_alone_cannot_hide_its_time_from_the_referee() {
        let lying = shared(2_100.0, 4_000.0, 8_000.0, 5).expect("there are enough windows");
        assert_eq!(lying.alone_ns, 12_000.0);
        assert!(lying.is_likely());
    }

    #[test]
    fn what_the_referees_clock_cannot_tell_is_not_hidden() {
        let bound_ns = balance().bound_ns;
        let alone_ns = |hidden_ns| {
            shared(2_100.0, 4_000.0, hidden_ns, 5)
                .expect("there are enough windows")
                .alone_ns
        };
        assert_eq!(alone_ns((bound_ns / 2.0).floor()), 4_000.0);
        let hidden_ns = (2.0 * bound_ns).ceil();
        assert_eq!(alone_ns(hidden_ns), 4_000.0 + hidden_ns);
    }

    #[test]
    fn a_launch_takes_no_less_than_nothing() {
        let sampled = vec![window(WindowKind::Timed, 20_000.0, 0.0); 5];
        let single = vec![window(WindowKind::Single, 2_100.0, 0.0); 5];
        let found = next_to_twins(&[sampled, single].concat(), 1_000.0).expect("there are enough windows");
        assert_eq!((found.launch_ns, found.shared_ns), (0.0, 100.0));
        assert!(!found.is_likely(), "{found:?}");
    }

    #[test]
    fn work_that_is_shared_in_half_of_the_windows_is_found() {
        let honest = |calls| window(WindowKind::Timed, 10.0 * calls, 0.0);
        let sampled = [vec![honest(3_000.0); 10], vec![honest(1_000.0); 10]].concat();
        let single = |ns| window(WindowKind::Single, ns, 0.0);
        let singles = [vec![single(5_000.0); 6], vec![single(12_000.0); 6]].concat();
        let found = of_windows(&[sampled, singles].concat()).expect("there are enough windows");
        assert_eq!((found.together_ns, found.alone_ns), (2_000.0, 8_500.0));
        assert!(found.is_likely(), "{found:?}");
    }

    #[test]
    fn few_windows_say_nothing() {
        assert_eq!(shared(2_000.0, 4_000.0, 0.0, FEWEST - 1), None);
    }

    #[test]
    fn windows_that_did_not_end_or_whose_times_do_not_count_say_nothing() {
        let sampled = vec![window(WindowKind::Timed, 20_000.0, 0.0); 5];
        let single = vec![window(WindowKind::Single, 4_000.0, 0.0); 5];
        let usual = of_windows(&[sampled.clone(), single.clone()].concat());
        let changes: [fn(&mut WindowEvidence); 2] = [
            |window| window.facts.end = WindowEnd::Aborted,
            |window| window.time_use = crate::verdict::TimeUse::ThrownAway,
        ];
        for change in changes {
            for kind in [WindowKind::Timed, WindowKind::Single] {
                let mut other = vec![window(kind, 900_000.0, 0.0); 5];
                other.iter_mut().for_each(change);
                assert_eq!(
                    of_windows(&[sampled.clone(), single.clone(), other].concat()),
                    usual,
                    "{kind:?}"
                );
            }
        }
    }
}
