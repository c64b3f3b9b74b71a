//! Control windows that were disturbed: no worker under test has a part in them.

use super::conservation::is_undisturbed;
use super::finding::{Finding, finding};
use super::{Cause, ControlWindows, Evidence, Verdict};
use gpubench_stats::TimingAudit;

/// What disturbed control windows, whoever did it.
pub(super) fn disturbed(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> Option<String> {
    changed(evidence.control).or_else(|| slowed(balance?))
}

/// The worker under test did it where nobody else can have, and where it ended with it.
pub(super) fn judge_disturbance(evidence: &Evidence<'_>, balance: Option<&TimingAudit>) -> Option<Finding> {
    let ControlWindows { alone, rivals, .. } = evidence.control;
    let nobody_else = rivals == 0 && evidence.other_clients.unwrap_or(0) == 0;
    let ended = !alone.is_empty() && alone.iter().all(is_undisturbed);
    let message = disturbed(evidence, balance).filter(|_| nobody_else && ended)?;
    finding(
        Verdict::ProtocolViolation,
        Cause::WorksBetweenWindows,
        format!("{message} (hint: a call's work must have ended with the call; a thread or a kernel may not go on)"),
    )
}

fn changed(control: ControlWindows<'_>) -> Option<String> {
    let control_windows = || control.windows.iter().chain(control.alone);
    let number = control_windows().filter(|window| !is_undisturbed(window)).count();
    let all = control_windows().count();
    (number > 0)
        .then(|| format!("an output changed in {number} of {all} control windows, in which nothing else writes"))
}

/// Control windows that the worker under test made longer while it lived: they would hide as much of
/// its claims.
fn slowed(balance: &TimingAudit) -> Option<String> {
    let longer_by = balance.disturbance_ns?;
    Some(format!(
        "control windows were disturbed while the worker lived: in the median they took {:.1} µs longer than behind its end",
        longer_by / 1e3
    ))
}
