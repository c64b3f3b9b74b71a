//! Conservation of time: the worker's windows compared with control windows.

use super::evidence::TimeUse;
use super::finding::{Finding, finding};
use super::{Cause, Evidence, Verdict, WindowEvidence};
use gpubench_contract::MetricKind;
use gpubench_device::ClockBound;
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
    TimingAudit::new(
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
