//! Options of the output.

use std::env;

use super::settings::OutputArguments;
use crate::broker::options::{Export, ExportFormat, OutputOptions, Verbosity};
use gpubench_measure::clients::Output;
use gpubench_report::{Color, TrackerFormat};

impl OutputArguments {
    /// Returns when output is coloured.
    pub(super) fn color(&self) -> Color {
        color(self.color, env::var("CARGO_TERM_COLOR").ok().as_deref())
    }

    pub(super) fn into_options(self) -> OutputOptions {
        let color = self.color();
        let exports = [
            (ExportFormat::Json, self.export_json),
            (ExportFormat::Csv, self.export_csv),
            (ExportFormat::Samples, self.export_samples),
            (ExportFormat::Markdown, self.export_markdown),
            (ExportFormat::Junit, self.export_junit),
            (ExportFormat::Tracker(TrackerFormat::Bencher), self.export_bencher),
            (
                ExportFormat::Tracker(TrackerFormat::GithubBenchmark),
                self.export_github_benchmark,
            ),
            (
                ExportFormat::Tracker(TrackerFormat::OpenMetrics),
                self.export_openmetrics,
            ),
        ];
        OutputOptions {
            format: self.message_format,
            color,
            verbosity: verbosity(self.quiet, self.verbose),
            hides_progress: hides_progress(env::var("CARGO_TERM_PROGRESS_WHEN").ok().as_deref()),
            user_output: if self.no_capture {
                Output::Shown
            } else {
                Output::Captured
            },
            trace: self.trace,
            reward: None,
            records: None,
            exports: exports
                .into_iter()
                .filter_map(|(format, outlet)| outlet.map(|outlet| Export { format, outlet }))
                .collect(),
        }
    }
}

/// Returns the option, or else cargo's setting. Cargo reports an invalid setting itself.
fn color(option: Option<Color>, cargo_term_color: Option<&str>) -> Color {
    match (option, cargo_term_color) {
        (Some(option), _) => option,
        (None, Some("always")) => Color::Always,
        (None, Some("never")) => Color::Never,
        (None, _) => Color::Auto,
    }
}

/// Returns whether cargo's setting hides progress.
fn hides_progress(cargo_term_progress_when: Option<&str>) -> bool {
    cargo_term_progress_when == Some("never")
}

/// clap accepts at most one of the two.
pub(super) fn verbosity(quiet: bool, verbose: bool) -> Verbosity {
    match (quiet, verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_overrides_cargo_s_setting_of_colour() {
        assert_eq!(color(Some(Color::Never), Some("always")), Color::Never);
        assert_eq!(color(None, Some("always")), Color::Always);
        assert_eq!(color(None, None), Color::Auto);
    }

    #[test]
    fn progress_is_hidden_where_cargo_hides_its_own() {
        assert!(hides_progress(Some("never")));
        assert!(!hides_progress(Some("always")));
        assert!(!hides_progress(None));
    }
}
