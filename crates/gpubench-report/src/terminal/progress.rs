//! The progress line.

use std::time::{Duration, Instant};

use crate::Progress;
use gpubench_contract::BenchmarkStarted;
use gpubench_contract::units::{counted, listed, percent, wall_time};
use gpubench_diagnostic::{printable_line, rewrite_line_of_stderr};

/// Minimum time between updates: short enough to show activity, long enough not to affect a median.
const STAY: Duration = Duration::from_millis(250);

/// A line on standard error if that is a terminal, else nothing.
///
/// It is redrawn only on events, which come between windows. A timer thread would take a processor
/// from the measurement.
pub(super) struct ProgressLine {
    cases: u64,
    done: u64,
    case: String,
    began: Instant,
    drawn: Option<Instant>,
}

impl ProgressLine {
    /// Returns the progress line for `cases` cases.
    pub(super) fn new(cases: u64) -> ProgressLine {
        ProgressLine {
            cases,
            done: 0,
            case: String::new(),
            began: Instant::now(),
            drawn: None,
        }
    }

    /// Shows the start of a case.
    pub(super) fn start(&mut self, started: &BenchmarkStarted) {
        self.case = printable_line(&started.label());
        self.draw(None);
    }

    /// Shows the progress of the case.
    pub(super) fn update(&mut self, progress: &Progress) {
        // Always show a new phase: the next event may take long.
        let is_fresh = || self.drawn.is_some_and(|drawn| drawn.elapsed() < STAY);
        if progress.windows == 0 || !is_fresh() {
            self.draw(Some(printable_line(&described(progress))));
        }
    }

    /// Counts the case as done.
    pub(super) fn advance(&mut self) {
        self.done += 1;
    }

    /// Removes the line until the next event.
    pub(super) fn clear(&mut self) {
        self.drawn = None;
        rewrite_line_of_stderr("");
    }

    fn draw(&mut self, status: Option<String>) {
        let case = Some(self.case.clone()).filter(|case| !case.is_empty());
        let took = Some(wall_time(self.began.elapsed()));
        let parts: Vec<String> = [case, status, took].into_iter().flatten().collect();
        rewrite_line_of_stderr(&format!("[{}/{}] {}", self.done, self.cases, parts.join(" · ")));
        self.drawn = Some(Instant::now());
    }
}

/// `sampling, 34 windows, 1.204 ms, cv 0.42%`.
fn described(progress: &Progress) -> String {
    let windows = (progress.windows > 0).then(|| counted(progress.windows, "window"));
    listed([
        Some(progress.phase.to_string()),
        windows,
        progress.value.as_ref().map(ToString::to_string),
        progress.cv.map(|cv| format!("cv {}", percent(cv))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;

    #[test]
    fn progress_shows_known_values() {
        let begun = Progress {
            phase: Phase::WarmingUp,
            windows: 1,
            value: None,
            cv: None,
        };
        assert_eq!(described(&begun), "warming up, 1 window");
        let later = Progress {
            phase: Phase::Sampling,
            windows: 34,
            value: Some(gpubench_contract::units::time(1_204_000.0)),
            cv: Some(0.0042),
        };
        assert_eq!(described(&later), "sampling, 34 windows, 1.204 ms, cv 0.42%");
    }
}
