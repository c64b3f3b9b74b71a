//! Conservation of time: the worker's windows beside those of the null worker.

use super::evidence::sampled_by_worker;
use super::finding::{Finding, finding};
use super::{Cause, Evidence, Verdict, WindowEvidence};
use gpubench_device::ClockBound;
use gpubench_protocol::wire::WindowEnd;
use gpubench_stats::{Balance, Clocked, Imbalance, Residuals, will_be_precise};

/// What the referee's clock says of the claims; `None` where it bounds nothing or too few windows were seen.
pub fn balance(evidence: &Evidence<'_>) -> Option<Balance> {
    with_residuals(evidence, Balance::of)?
}

/// Whether the clock would bound the claims precisely if there were `growth` times as many windows.
pub fn bound_will_be_precise(evidence: &Evidence<'_>, growth: f64) -> bool {
    with_residuals(evidence, |residuals| will_be_precise(residuals, growth)).unwrap_or(false)
}

/// `None` where the clock bounds nothing.
fn with_residuals<T>(evidence: &Evidence<'_>, of: impl FnOnce(Residuals<'_>) -> T) -> Option<T> {
    if *evidence.clock_bound != ClockBound::Exclusive {
        return None;
    }
    let clocked = |window: &WindowEvidence| {
        let (claim_ns, residual_ns) = (timed_claim(window)?, residual(window)?);
        Some(Clocked { claim_ns, residual_ns })
    };
    let workers = sampled_by_worker(evidence.windows, evidence.warm_ups);
    let workers: Vec<Vec<Clocked>> = workers
        .map(|windows| windows.iter().filter_map(clocked).collect())
        .collect();
    Some(of(Residuals {
        workers: &workers,
        null: &null_residuals(evidence.null.windows),
        alone: &null_residuals(evidence.null.alone),
        kernel_part_ns: evidence.kernel_part.ns,
    }))
}

/// What the referee's clock saw beyond the claims of null windows, of those that nothing disturbed.
pub fn null_residuals(windows: &[WindowEvidence]) -> Vec<f64> {
    let undisturbed = windows.iter().filter(|window| is_undisturbed(window));
    undisturbed.filter_map(residual).collect()
}

/// What the referee's clock saw of a timed window beyond its claim, in nanoseconds.
pub fn residual(window: &WindowEvidence) -> Option<f64> {
    let observed = window.facts.s2_ns.saturating_sub(window.facts.s1_ns) as f64;
    Some(observed - timed_claim(window)?)
}

/// Whether the seal of a null window is that of what the referee found then.
pub(super) fn is_undisturbed(window: &WindowEvidence) -> bool {
    let outputs = window.facts.outputs();
    outputs.iter().all(|output| output.seal_claimed == output.seal_expected)
}

fn timed_claim(window: &WindowEvidence) -> Option<f64> {
    let ended = window.facts.end == WindowEnd::Checked;
    let claim = window.claim.as_deref()?;
    (window.facts.kind.is_timed() && ended).then_some(claim.elapsed_ns)
}

pub(super) fn judge_conservation(balance: &Balance) -> Option<Finding> {
    let Balance {
        excess_ns,
        bound_ns,
        imbalance,
        ..
    } = *balance;
    let us = |ns: f64| format!("{:.1} µs", ns / 1e3);
    let (cause, message) = match imbalance? {
        Imbalance::Hidden => (
            Cause::ClaimTooShort,
            format!(
                "in the median window {} more passed for the referee than the worker claims, beyond what a null worker needs; {} can be explained",
                us(excess_ns),
                us(bound_ns)
            ),
        ),
        Imbalance::HiddenFromReport { excess_ns, bound_ns } => (
            Cause::ClaimTooShort,
            format!(
                "the reported median would be {} longer if it were made of what passed for the referee, less what a null worker needs; {} can be explained",
                us(excess_ns),
                us(bound_ns)
            ),
        ),
        Imbalance::HiddenInSome {
            windows,
            allowed,
            beyond_ns,
        } => (
            Cause::ClaimTooShort,
            format!(
                "in {windows} windows more than {} passed for the referee beyond the worker's claim and a null worker's window; {allowed} such windows can be explained",
                us(beyond_ns)
            ),
        ),
        Imbalance::Uneven { excess_ns, bound_ns } => (
            Cause::ClaimsInconsistent,
            format!(
                "the worker claims less for some windows than for others of the same length: the quartiles of what passed beside its claims lie {} further apart than a null worker's; {} can be explained",
                us(excess_ns),
                us(bound_ns)
            ),
        ),
    };
    finding(Verdict::TimeMismatch, cause, message)
}
