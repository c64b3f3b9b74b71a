//! Options that say what is shown and written.

use clap::{Args, ValueEnum, ValueHint};

use super::report::ReportArgument;
use crate::broker::options::{
    Export, ExportFormat, MessageFormat, OutputOptions, ProgressShown, UserOutput, Verbosity,
};
use gpubench_report::{Color, Outlet};

const HEADING: &str = "Output options";

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(super) struct OutputArguments {
    /// Write results to standard output for people or for programs
    ///
    /// `json` is one object a line, each with `reason` and `schema_version`; whatever is for people then goes to standard error.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    message_format: MessageFormatArgument,

    /// Colour the output
    ///
    /// `auto` colours on a terminal and heeds `NO_COLOR` and `CLICOLOR_FORCE`. Without the option `CARGO_TERM_COLOR` counts. Progress is shown on a
    /// terminal unless `CARGO_TERM_PROGRESS_WHEN` is `never`.
    #[arg(long, value_name = "WHEN")]
    pub(super) color: Option<Color>,

    /// Show failures and the summary only
    #[arg(short, long, conflicts_with = "verbose", overrides_with = "quiet")]
    quiet: bool,

    /// Show details of every case as well
    #[arg(short, long, overrides_with = "verbose")]
    verbose: bool,

    /// Show what kernels, benchmark functions, generators and references print, as they print it
    ///
    /// It goes to standard error. Without the option the last of it is shown, and only where a kernel fails or a process ends.
    #[arg(long, visible_alias = "nocapture")]
    no_capture: bool,

    /// Write the results to this file as well, as `--message-format json` prints them
    ///
    /// `-` is standard output; the table then goes to standard error.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    export_json: Option<Outlet>,

    /// Write the results to this file as well, a row a case
    ///
    /// `-` is standard output; the table then goes to standard error.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    export_csv: Option<Outlet>,

    /// Write the results to this file as well, as a Markdown table
    ///
    /// `-` is standard output; the table then goes to standard error.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    export_markdown: Option<Outlet>,

    /// Write the results to this file as well, as JUnit's XML, which most CI services show
    ///
    /// `-` is standard output; the table then goes to standard error.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    export_junit: Option<Outlet>,

    /// Write a page about the run as well: `html`, or `html=FILE` to say where
    ///
    /// The page is one file that needs no network and no script. Without FILE it is `gpubench/report.html` in the target directory; `html=-` is standard output,
    /// and the table then goes to standard error. `cargo gpubench report` makes it from stored results.
    #[arg(long, value_name = "KIND")]
    pub(super) report: Option<ReportArgument>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum MessageFormatArgument {
    /// A table
    Human,
    /// One JSON object a line
    Json,
}

impl From<MessageFormatArgument> for MessageFormat {
    fn from(format: MessageFormatArgument) -> Self {
        match format {
            MessageFormatArgument::Human => Self::Human,
            MessageFormatArgument::Json => Self::Json,
        }
    }
}

impl OutputArguments {
    pub(super) fn into_options(self, color: Color) -> OutputOptions {
        let Self {
            message_format,
            color: _,
            quiet,
            verbose,
            no_capture,
            export_json,
            export_csv,
            export_markdown,
            export_junit,
            report: _,
        } = self;
        let exports = [
            (ExportFormat::Json, export_json),
            (ExportFormat::Csv, export_csv),
            (ExportFormat::Markdown, export_markdown),
            (ExportFormat::Junit, export_junit),
        ];
        OutputOptions {
            format: message_format.into(),
            color,
            verbosity: verbosity(quiet, verbose),
            progress: progress(std::env::var("CARGO_TERM_PROGRESS_WHEN").ok().as_deref()),
            user_output: if no_capture {
                UserOutput::Shown
            } else {
                UserOutput::Captured
            },
            exports: exports
                .into_iter()
                .filter_map(|(format, outlet)| outlet.map(|outlet| Export { format, outlet }))
                .collect(),
        }
    }
}

/// The option, else what cargo's own output does. A value that cargo would refuse is left for cargo to refuse.
pub(super) fn color(option: Option<Color>, cargo_term_color: Option<&str>) -> Color {
    match (option, cargo_term_color) {
        (Some(option), _) => option,
        (None, Some("always")) => Color::Always,
        (None, Some("never")) => Color::Never,
        (None, _) => Color::Auto,
    }
}

/// As cargo's own progress is shown.
fn progress(cargo_term_progress_when: Option<&str>) -> ProgressShown {
    match cargo_term_progress_when {
        Some("never") => ProgressShown::Never,
        _ => ProgressShown::Auto,
    }
}

/// clap admits at most one of the two.
fn verbosity(quiet: bool, verbose: bool) -> Verbosity {
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
    fn an_option_overrides_what_cargo_was_told_about_colour() {
        assert_eq!(color(Some(Color::Never), Some("always")), Color::Never);
        assert_eq!(color(None, Some("always")), Color::Always);
        assert_eq!(color(None, None), Color::Auto);
    }

    #[test]
    fn progress_is_hidden_where_cargo_hides_its_own() {
        assert_eq!(progress(Some("never")), ProgressShown::Never);
        assert_eq!(progress(Some("always")), ProgressShown::Auto);
        assert_eq!(progress(None), ProgressShown::Auto);
    }
}
