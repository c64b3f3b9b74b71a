//! What is shown and written while cases are measured.

use camino::Utf8Path;

use gpubench_measure::clients::Output;
use gpubench_report::{Color, OutputTarget};

/// What is shown and written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Who reads standard output.
    pub format: MessageFormat,
    /// Whether it is coloured.
    pub color: Color,
    /// How much is shown.
    pub verbosity: Verbosity,
    /// Whether progress is shown nowhere, rather than on a terminal.
    pub hides_progress: bool,
    /// `--no-capture`: what becomes of what benchmark functions, generators and references print.
    pub user_output: Output,
    /// What gets the results as well.
    pub exports: Vec<Export>,
}

impl OutputOptions {
    /// The files that are written.
    pub fn files(&self) -> impl Iterator<Item = &Utf8Path> {
        self.exports.iter().filter_map(|export| export.outlet.file())
    }
}

/// Who reads standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum MessageFormat {
    /// A table
    #[default]
    Human,
    /// One JSON object a line
    Json,
}

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// `--quiet`: results, warnings and errors.
    Quiet,
    /// As usual.
    #[default]
    Normal,
    /// `--verbose`: details of every case as well.
    Verbose,
}

/// A file that gets the results, or standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// In which format.
    pub format: ExportFormat,
    /// Where to.
    pub outlet: OutputTarget,
}

/// Formats of files with results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// The lines of `--message-format json`.
    Json,
    /// A row a case.
    Csv,
    /// A table for a page or a comment.
    Markdown,
    /// XML for CI services.
    Junit,
}
