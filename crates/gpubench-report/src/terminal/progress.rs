//! The line that says what is being done while nothing else can be said.

use std::time::{Duration, Instant};

use crate::Progress;
use gpubench_contract::BenchmarkStarted;
use gpubench_contract::units::{counted, listed, percent, wall_time};
use gpubench_diagnostic::{printable_line, rewrite_line_of_stderr};

/// How long a line stays: enough to see life, too little to be seen in a median.
const STAY: Duration = Duration::from_millis(250);

/// A line on standard error, where that is a terminal; nothing anywhere else.
///
/// It is drawn only when something is reported, which is between windows: a thread that ticks would
/// take a processor from the kernel that is timed.
pub(super) struct ProgressLine {
    cases: u64,
    done: u64,
    case: String,
    began: Instant,
    drawn: Option<Instant>,
}

impl ProgressLine {
    /// A line for `cases` cases.
    pub(super) fn of(cases: u64) -> ProgressLine {
        ProgressLine {
            cases,
            done: 0,
            case: String::new(),
            began: Instant::now(),
            drawn: None,
        }
    }

    /// A case begins.
    pub(super) fn start(&mut self, started: &BenchmarkStarted) {
        self.case = printable_line(&started.case);
        self.draw(None);
    }

    /// The case has come further.
    pub(super) fn update(&mut self, progress: &Progress) {
        // Nothing may follow for long on a phase that begins.
        let is_fresh = || self.drawn.is_some_and(|drawn| drawn.elapsed() < STAY);
        if progress.windows == 0 || !is_fresh() {
            self.draw(Some(described(progress)));
        }
    }

    /// The case is done.
    pub(super) fn advance(&mut self) {
        self.done += 1;
    }

    /// Takes the line away, until something is reported again.
    pub(super) fn clear(&mut self) {
        self.drawn = None;
        rewrite_line_of_stderr("");
    }

    fn draw(&mut self, said: Option<String>) {
        let case = Some(self.case.clone()).filter(|case| !case.is_empty());
        let took = Some(wall_time(self.began.elapsed()));
        let said: Vec<String> = [case, said, took].into_iter().flatten().collect();
        rewrite_line_of_stderr(&format!("[{}/{}] {}", self.done, self.cases, said.join(" · ")));
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
    fn progress_says_what_is_known() {
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
