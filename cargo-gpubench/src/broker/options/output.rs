//! Options of output while cases are measured.

use camino::{Utf8Path, Utf8PathBuf};

use gpubench_measure::clients::Output;
use gpubench_report::{Color, OutputTarget, RewardFile, TrackerFormat};

/// Options of output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// The format of standard output.
    pub format: MessageFormat,
    /// Whether output is coloured.
    pub color: Color,
    /// How much is shown.
    pub verbosity: Verbosity,
    /// Whether progress is hidden even on a terminal.
    pub hides_progress: bool,
    /// `--no-capture`: where the output of benchmark functions, generators and references goes.
    pub user_output: Output,
    /// Files that also get the results.
    pub exports: Vec<Export>,
    /// The file for a timeline of the run.
    pub trace: Option<Utf8PathBuf>,
    /// `--reward`: the file for the reward of a submission.
    pub reward: Option<RewardFile>,
    /// `--resume`: the file for the records of a grading.
    pub records: Option<Utf8PathBuf>,
}

impl OutputOptions {
    /// Returns whether somebody gets the records.
    pub fn has_records(&self) -> bool {
        let mut exports = self.exports.iter();
        let are_exported = exports.any(|export| export.format == ExportFormat::Json);
        self.format == MessageFormat::Json || self.records.is_some() || are_exported
    }

    /// Returns the files that are written.
    pub fn files(&self) -> impl Iterator<Item = &Utf8Path> {
        let exports = self.exports.iter().filter_map(|export| export.outlet.file());
        let reward = self.reward.as_ref().map(RewardFile::path);
        let records = self.records.as_deref();
        exports.chain(self.trace.as_deref()).chain(reward).chain(records)
    }
}

/// The format of standard output.
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
    /// The default.
    #[default]
    Normal,
    /// `--verbose`: details of every case as well.
    Verbose,
}

/// A file that gets the results, or standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The format.
    pub format: ExportFormat,
    /// The target.
    pub outlet: OutputTarget,
}

/// Formats of files with results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// The lines of `--message-format json`.
    Json,
    /// A row a case.
    Csv,
    /// A row a sample.
    Samples,
    /// A row a submission.
    Ranking,
    /// A trace of FlashInfer-Bench or SOL-ExecBench a line.
    Traces,
    /// A table for a page or a comment.
    Markdown,
    /// XML for CI services.
    Junit,
    /// A format of a service that keeps the results of many runs.
    Tracker(TrackerFormat),
}

impl ExportFormat {
    /// Returns the option that asks for it.
    pub fn option(self) -> &'static str {
        match self {
            ExportFormat::Json => "--export-json",
            ExportFormat::Csv => "--export-csv",
            ExportFormat::Samples => "--export-samples",
            ExportFormat::Ranking => "--export-ranking",
            ExportFormat::Traces => "--export-trace",
            ExportFormat::Markdown => "--export-markdown",
            ExportFormat::Junit => "--export-junit",
            ExportFormat::Tracker(TrackerFormat::Bencher) => "--export-bencher",
            ExportFormat::Tracker(TrackerFormat::GithubBenchmark) => "--export-github-benchmark",
            ExportFormat::Tracker(TrackerFormat::OpenMetrics) => "--export-openmetrics",
        }
    }
}
