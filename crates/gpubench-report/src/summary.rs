//! The last line of a run.

use std::time::Duration;

use gpubench_contract::units::wall_time;
use gpubench_contract::{RunEnd, RunFinished};

/// `12 passed, 1 failed, 2 skipped in 14.2 s`.
pub(super) fn line(finished: &RunFinished) -> String {
    let RunFinished {
        passed,
        failed,
        skipped,
        ..
    } = finished;
    let not_run = match finished.not_run {
        0 => String::new(),
        count => format!(", {count} not run"),
    };
    // Returns the text before the counts of a run that did not complete.
    let ended = match finished.end {
        RunEnd::Completed => "",
        RunEnd::FailedFast => "stopped at the first failure: ",
        RunEnd::Interrupted => "interrupted: ",
    };
    let wall = wall_time(Duration::from_nanos(finished.wall_ns));
    format!("{ended}{passed} passed, {failed} failed, {skipped} skipped{not_run} in {wall}")
}
