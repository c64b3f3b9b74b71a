//! The last line of a run.

use std::time::Duration;

use gpubench_contract::units::wall_time;
use gpubench_contract::{RunEnd, RunFinished};

/// `12 passed, 1 failed, 2 skipped in 14.2 s`.
pub(super) fn line(finished: &RunFinished) -> String {
    let counts = counts(finished).map(|(count, what)| format!("{count} {what}"));
    let not_run = match finished.not_run {
        0 => String::new(),
        count => format!(", {count} not run"),
    };
    let wall = wall_time(Duration::from_nanos(finished.wall_ns));
    format!("{}{}{not_run} in {wall}", how_it_ended(finished.end), counts.join(", "))
}

/// The counts and what is counted.
pub(super) fn counts(finished: &RunFinished) -> [(u64, &'static str); 3] {
    [
        (finished.passed, "passed"),
        (finished.failed, "failed"),
        (finished.skipped, "skipped"),
    ]
}

/// What stands before the counts of a run that did not end by itself.
fn how_it_ended(end: RunEnd) -> &'static str {
    match end {
        RunEnd::Completed => "",
        RunEnd::FailedFast => "stopped at the first failure: ",
        RunEnd::Interrupted => "interrupted: ",
    }
}
