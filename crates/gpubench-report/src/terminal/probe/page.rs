//! The screen and the summary: of calls, or of processes alone where calls cannot be seen.

use super::outline;
use super::screen::{ScreenSize, screen_of_calls, what};
use super::summary::{outcome, summary_of_calls};
use crate::terminal::style::TITLE;
use gpubench_contract::{ProbeFinished, ProbeSample, ProbeStarted};

/// Returns the lines of the screen: at most as many as it has, none wider than it.
pub fn probe_screen(started: &ProbeStarted, sample: &ProbeSample, size: ScreenSize) -> Vec<String> {
    let mut lines = match (&sample.calls, &sample.processes_only) {
        (Some(seen), _) => screen_of_calls(started, sample, seen, size),
        (None, Some(outline)) => outline::screen(started, sample, outline, size),
        (None, None) => Vec::new(),
    };
    lines.truncate(size.rows);
    lines
}

/// Returns the summary for lines of `columns` columns, with ANSI styles.
pub fn probe_summary(started: &ProbeStarted, finished: &ProbeFinished, columns: usize) -> String {
    let head = format!("{TITLE}{}{TITLE:#}: {}\n", what(started), outcome(finished));
    let body = match (&finished.calls, &finished.processes_only) {
        (Some(seen), _) => summary_of_calls(seen, started, columns),
        (None, Some(outline)) => outline::summary(outline, started, columns),
        (None, None) => String::new(),
    };
    head + &body
}
