//! Disturbed control windows. No worker under test runs in them.

use super::conservation::is_undisturbed;
use super::finding::{Finding, finding};
use super::{Cause, Evidence, Surroundings, Verdict};
use gpubench_stats::TimingAudit;

/// How control windows were disturbed, by any process.
pub(super) fn disturbed(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> Option<String> {
    changed(evidence).or_else(|| slowed(balance?))
}

/// Blames the worker under test if no other process can have disturbed the control windows and the
/// disturbance ended with the worker.
pub(super) fn judge_disturbance(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> Option<Finding> {
    let Surroundings {
        controls_afterwards,
        rivals,
        other_clients,
        ..
    } = evidence.surroundings;
    let nobody_else = rivals == 0 && other_clients.unwrap_or(0) == 0;
    let ended = !controls_afterwards.is_empty() && controls_afterwards.iter().all(is_undisturbed);
    let message = disturbed(evidence, balance).filter(|_| nobody_else && ended)?;
    finding(
        Verdict::ProtocolViolation,
        Cause::WorksBetweenWindows,
        format!("{message} (hint: all work of a call must end with the call; leave no thread or kernel running)"),
    )
}

fn changed(evidence: &Evidence<'_>) -> Option<String> {
    let control_windows = || evidence.controls().chain(evidence.surroundings.controls_afterwards);
    let number = control_windows().filter(|window| !is_undisturbed(window)).count();
    let all = control_windows().count();
    (number > 0).then(|| {
        format!("an output changed in {number} of {all} control windows, where the call under test does not run")
    })
}

/// Reports control windows that were slower while the worker under test lived. They would hide the
/// same amount of its time.
fn slowed(balance: &TimingAudit) -> Option<String> {
    let longer_by = balance.disturbance_ns?;
    Some(format!(
        "control windows were slower while the worker lived: their median was {:.1} µs longer than after its end",
        longer_by / 1e3
    ))
}
