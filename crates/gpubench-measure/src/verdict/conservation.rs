//! Conservation of time: the worker's windows beside control windows.

use super::evidence::sampled_by_worker;
use super::finding::{Finding, finding};
use super::{Cause, Evidence, Verdict, WindowEvidence};
use gpubench_device::ClockBound;
use gpubench_protocol::wire::WindowEnd;
use gpubench_stats::{Clocked, ClockedTurn, TimingAudit};

/// What the referee's clock says of the claims; `None` where it bounds nothing or too few windows
/// were seen.
pub fn balance(evidence: &Evidence<'_>) -> Option<TimingAudit> {
    if *evidence.clock_bound != ClockBound::Exclusive {
        return None;
    }
    let clocked = |window: &WindowEvidence| {
        let (claim_ns, residual_ns) = (timed_claim(window)?, residual(window)?);
        Some(Clocked { claim_ns, residual_ns })
    };
    let workers = sampled_by_worker(evidence.windows, evidence.warm_ups);
    let turns = workers.zip(evidence.control.by_worker());
    let turns = turns.map(|(windows, control)| ClockedTurn {
        windows: windows.iter().filter_map(clocked).collect(),
        control_ns: control_residuals(control),
    });
    TimingAudit::of(&turns.collect::<Vec<_>>(), &control_residuals(evidence.control.alone))
}

/// What the referee's clock saw beyond the claims of control windows, of those that nothing disturbed.
pub fn control_residuals(windows: &[WindowEvidence]) -> Vec<f64> {
    let undisturbed = windows.iter().filter(|window| is_undisturbed(window));
    undisturbed.filter_map(residual).collect()
}

/// What the referee's clock saw of a timed window beyond its claim, in nanoseconds.
pub fn residual(window: &WindowEvidence) -> Option<f64> {
    let observed = window.facts.s2_ns.saturating_sub(window.facts.s1_ns) as f64;
    Some(observed - timed_claim(window)?)
}

/// Whether the output digest of a control window is that of what the referee found then.
pub(super) fn is_undisturbed(window: &WindowEvidence) -> bool {
    let outputs = window.facts.outputs();
    outputs
        .iter()
        .all(|output| output.digest_claimed == output.digest_expected)
}

fn timed_claim(window: &WindowEvidence) -> Option<f64> {
    let ended = window.facts.end == WindowEnd::Checked;
    let claim = window.claim.as_deref()?;
    (window.facts.kind.is_timed() && ended).then_some(claim.elapsed_ns)
}

pub(super) fn judge_conservation(balance: &TimingAudit) -> Option<Finding> {
    if !balance.is_too_short() {
        return None;
    }
    let us = |ns: f64| format!("{:.1} µs", ns / 1e3);
    let message = format!(
        "by the referee's clock a call takes {}, {} more than the worker claims; {} can be explained",
        us(balance.verified_ns),
        us(balance.excess_ns),
        us(balance.bound_ns)
    );
    finding(Verdict::TimeMismatch, Cause::ClaimTooShort, message)
}
