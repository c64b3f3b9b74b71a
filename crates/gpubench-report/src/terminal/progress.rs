//! The line that says what is being done while nothing else can be said.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Progress;
use gpubench_contract::BenchmarkStarted;
use gpubench_contract::units::{counted, listed, percent};
use gpubench_diagnostic::printable_line;

/// A line on standard error, where that is a terminal; nothing anywhere else.
///
/// It is drawn only when something is reported, which is between windows: a thread that ticks would take a processor from the kernel that is timed.
pub(super) struct ProgressLine {
    bar: ProgressBar,
}

impl ProgressLine {
    /// A line that draws nothing.
    pub(super) fn hidden() -> ProgressLine {
        ProgressLine {
            bar: ProgressBar::hidden(),
        }
    }

    /// A line for `cases` cases.
    pub(super) fn on_stderr(cases: u64) -> ProgressLine {
        // Four times a second: enough to see life, too little to be seen in a median.
        let bar = ProgressBar::with_draw_target(Some(cases), ProgressDrawTarget::stderr_with_hz(4));
        let style = ProgressStyle::with_template("[{pos}/{len}] {wide_msg} {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        ProgressLine { bar }
    }

    /// A case begins.
    pub(super) fn start(&self, started: &BenchmarkStarted) {
        self.bar.set_prefix(printable_line(&started.case));
        self.bar.set_message(printable_line(&started.case));
    }

    /// The case has come further.
    pub(super) fn update(&self, progress: &Progress) {
        self.bar
            .set_message(format!("{} · {}", self.bar.prefix(), described(progress)));
    }

    /// The case is done.
    pub(super) fn advance(&self) {
        self.bar.inc(1);
    }

    /// Runs `print` with the line out of the way.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
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
