//! Conservation of time: the worker's windows compared with control windows.

use super::evidence::TimeUse;
use super::finding::{Finding, finding};
use super::{Cause, Evidence, Verdict, WindowEvidence};
use gpubench_contract::MetricKind;
use gpubench_device::ClockBound;
use gpubench_protocol::window::Gate;
use gpubench_protocol::wire::WindowEnd;
use gpubench_stats::{Clocked, ClockedTurn, TimingAudit};

/// Compares the claims with the referee's clock. Returns `None` if they are no times, the clock has
/// no bound, or there are too few windows.
pub fn balance(evidence: &Evidence<'_>) -> Option<TimingAudit> {
    if *evidence.clock_bound != ClockBound::Exclusive || evidence.metric != MetricKind::Time {
        return None;
    }
    let clocked = |window: &WindowEvidence| {
        let (claim_ns, residual_ns) = (timed_claim(window)?, residual(window)?);
        Some(Clocked { claim_ns, residual_ns })
    };
    let turns = evidence.runs.iter().map(|run| ClockedTurn {
        windows: run.windows.iter().filter_map(clocked).collect(),
        control_ns: control_residuals(run.controls),
    });
    let compare = match evidence.gate {
        Gate::Stream => TimingAudit::new,
        Gate::Host => TimingAudit::from_wall_times,
    };
    compare(
        &turns.collect::<Vec<_>>(),
        &control_residuals(evidence.surroundings.controls_afterwards),
    )
}

/// Residuals of the control windows that nothing disturbed, in nanoseconds.
pub fn control_residuals<'a>(windows: impl IntoIterator<Item = &'a WindowEvidence>) -> Vec<f64> {
    let undisturbed = windows.into_iter().filter(|window| is_undisturbed(window));
    undisturbed.filter_map(residual).collect()
}

/// How much longer a timed window is by the referee's clock than its claim, in nanoseconds.
pub fn residual(window: &WindowEvidence) -> Option<f64> {
    Some(observed_ns(window) - timed_claim(window)?)
}

/// The time of a window by the referee's clock, in nanoseconds.
pub(super) fn observed_ns(window: &WindowEvidence) -> f64 {
    window.facts.s2_ns.saturating_sub(window.facts.s1_ns) as f64
}

/// Whether every output digest of a control window matches the referee's.
pub(super) fn is_undisturbed(window: &WindowEvidence) -> bool {
    let outputs = window.facts.outputs();
    outputs
        .iter()
        .all(|output| output.digest_claimed == output.digest_expected)
}

/// The claim of a timed window whose time counts.
fn timed_claim(window: &WindowEvidence) -> Option<f64> {
    let ended = window.facts.end == WindowEnd::Checked;
    let elapsed_ns = window.elapsed_ns()?;
    (window.facts.kind.is_timed() && ended && window.time_use == TimeUse::Counts).then_some(elapsed_ns)
}

pub(super) fn judge_conservation(balance: &TimingAudit) -> Option<Finding> {
    if !balance.is_too_short() {
        return None;
    }
    let us = |ns: f64| format!("{:.1} µs", ns / 1e3);
    let message = format!(
        "a call takes {} by the referee's clock, {} more than the worker claims; the bound for honest claims is {}",
        us(balance.verified_ns),
        us(balance.excess_ns),
        us(balance.bound_ns)
    );
    finding(Verdict::TimeMismatch, Cause::ClaimTooShort, message)
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;

    use super::*;
    use crate::verdict::{Ending, Execution, RunEvidence, Surroundings};
    use gpubench_protocol::window::WindowKind;
    use gpubench_protocol::wire::{Claim, OutputFacts, WindowFacts};

    /// A window that the referee timed from 1 µs to 301 µs, with a claim of 10 µs.
    fn window(kind: WindowKind, end: WindowEnd, time_use: TimeUse) -> WindowEvidence {
        let facts = WindowFacts {
            kind,
            end,
            s1_ns: 1_000,
            s2_ns: 301_000,
            ..WindowFacts::zeroed()
        };
        let claim = Claim {
            elapsed_ns: 10_000.0,
            ..Claim::empty(1)
        };
        WindowEvidence {
            time_use,
            ..WindowEvidence::new(Box::new(facts), Some(Box::new(claim)))
        }
    }

    #[test]
    fn only_complete_timed_windows_whose_time_counts_have_a_residual() {
        use WindowEnd::{Aborted, Checked, NotDone};
        use WindowKind::{Control, EarlyCheck, Empty, Parts, Single, SingleControl, Timed};
        let counts = TimeUse::Counts;
        for (kind, end, time_use, is_compared) in [
            (Timed, Checked, counts, true),
            (Control, Checked, counts, true),
            (Timed, NotDone, counts, false),
            (Timed, Aborted, counts, false),
            (Timed, Checked, TimeUse::WarmUp, false),
            (Timed, Checked, TimeUse::ThrownAway, false),
            (Timed, Checked, TimeUse::Energy, false),
            (EarlyCheck, Checked, counts, false),
            (Parts, Checked, counts, false),
            (Single, Checked, counts, false),
            (SingleControl, Checked, counts, false),
            (Empty, Checked, counts, false),
        ] {
            let expected = is_compared.then_some(290_000.0);
            let window = window(kind, end, time_use);
            assert_eq!(residual(&window), expected, "{kind:?} {end:?} {time_use:?}");
        }
        let mut unclaimed = window(Timed, Checked, counts);
        unclaimed.claim = None;
        assert_eq!(residual(&unclaimed), None);
    }

    /// The balance of eight windows of each kind.
    fn balance_of(metric: MetricKind, gate: Gate, clock_bound: &ClockBound) -> Option<TimingAudit> {
        let windows = |kind| {
            let mut window = window(kind, WindowEnd::Checked, TimeUse::Counts);
            window.facts.gate = gate;
            window.facts.call_ns = 10_000;
            vec![window; 8]
        };
        let (own, controls) = (windows(WindowKind::Timed), windows(WindowKind::Control));
        balance(&Evidence {
            tensors: &[],
            calls: std::num::NonZeroU32::MIN,
            scratch: &[],
            runs: vec![RunEvidence {
                windows: &own,
                controls: &controls,
                ..RunEvidence::default()
            }],
            ending: Ending::Stopped,
            metric,
            execution: &Execution::Sealed,
            gate,
            clock_bound,
            floor_ns: None,
            surroundings: Surroundings::default(),
            open_sandboxes: &[],
        })
    }

    #[test]
    fn only_times_are_compared_with_the_clock_and_only_if_it_bounds_them() {
        let absent = ClockBound::Absent("it is shared".into());
        for (metric, clock_bound, is_compared) in [
            (MetricKind::Time, &ClockBound::Exclusive, true),
            (MetricKind::Time, &absent, false),
            (MetricKind::Instructions, &ClockBound::Exclusive, false),
            (MetricKind::Memory, &ClockBound::Exclusive, false),
        ] {
            let balance = balance_of(metric, Gate::Stream, clock_bound);
            assert_eq!(balance.is_some(), is_compared, "{metric:?} {clock_bound:?}");
        }
    }

    #[test]
    fn wall_times_have_more_room_than_times_between_events() {
        let bound_ns =
            |gate| balance_of(MetricKind::Time, gate, &ClockBound::Exclusive).map(|balance| balance.bound_ns);
        assert_eq!(bound_ns(Gate::Stream), Some(2_020.0));
        assert_eq!(bound_ns(Gate::Host), Some(2_200.0));
    }

    #[test]
    fn control_windows_whose_outputs_changed_are_left_out() {
        let control = |digests: &[[u64; 2]]| {
            let mut window = window(WindowKind::Control, WindowEnd::Checked, TimeUse::Counts);
            window.facts.output_count = digests.len() as u32;
            for (output, [digest_claimed, digest_expected]) in window.facts.outputs.iter_mut().zip(digests) {
                *output = OutputFacts {
                    digest_claimed: *digest_claimed,
                    digest_expected: *digest_expected,
                    ..OutputFacts::zeroed()
                };
            }
            window
        };
        let residuals = |digests: &[[u64; 2]]| control_residuals(&[control(digests)]).len();
        assert_eq!(residuals(&[]), 1);
        assert_eq!(residuals(&[[7, 7], [8, 8]]), 1);
        assert_eq!(residuals(&[[7, 7], [8, 9]]), 0);
        assert_eq!(residuals(&[[6, 7], [8, 8]]), 0);
    }
}
