//! `cargo gpubench report`, and `--report`.

use std::str::FromStr;

use clap::ValueHint;
use thiserror::Error;

use super::UsageError;
use super::overwriting::refuse_to_overwrite;
use super::settings::{ChangeArguments, PlaceArguments};
use crate::broker::ReportOptions;
use crate::broker::options::PageTarget;
use crate::config::settings;
use gpubench_report::OutputTarget;
use gpubench_store::RunName;

settings! {
    /// The options of `cargo gpubench report`.
    #[command(after_long_help = EXAMPLES)]
    pub(super) struct ReportArguments {
        /// The run: a baseline, or a file of `--export-json`
        ///
        /// Of several runs on one device, the page reports the latest. The others are its history.
        /// If runs are of several devices, a table has the latest run of each.
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<RunName> => Line "results.jsonl", common;

        /// Compare with this run
        ///
        /// May be given several times.
        #[arg(long, value_name = "RUN", help_heading = "Compare")]
        compare: Vec<RunName> => Line "results.jsonl --compare main", common;

        #[command(flatten)]
        change: ChangeArguments;

        /// Write the page to this file; `-` is standard output
        ///
        /// The default is `gpubench/report.html` in the target directory, like `--report html`.
        /// Outside of a workspace it is `gpubench-report.html` in the current folder.
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
        output: Option<OutputTarget> => Line "results.jsonl --output page.html", common;

        #[command(flatten)]
        places: PlaceArguments;
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo gpubench report main                           a baseline
  cargo gpubench report pr --compare main -o pr.html   a run next to another
  cargo gpubench report nightly/*.jsonl                the latest run and its history";

impl ReportArguments {
    /// Checks the rules that clap cannot express.
    ///
    /// # Errors
    /// The page would replace a run that is read.
    pub(super) fn into_options(self) -> Result<ReportOptions, UsageError> {
        refuse_to_overwrite(
            self.runs.iter().chain(&self.compare),
            self.output.iter().filter_map(OutputTarget::file),
        )?;
        Ok(ReportOptions {
            runs: self.runs,
            compare: self.compare,
            judging: self.change.into_options(),
            places: self.places.into_options(),
            output: self.output,
        })
    }
}

/// The reason why a value of `--report` is invalid.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum NotAReport {
    /// An unknown kind of report.
    #[error("unknown kind of report `{0}`; use `html` or `html=FILE`")]
    Kind(String),
    /// An empty file name.
    #[error("missing the file after `html=`")]
    File,
}

/// Reads the kind of report and the file.
impl FromStr for PageTarget {
    type Err = NotAReport;

    fn from_str(text: &str) -> Result<Self, NotAReport> {
        let (kind, file) = match text.split_once('=') {
            Some((kind, file)) => (kind, Some(file)),
            None => (text, None),
        };
        match (kind, file) {
            ("html", None) => Ok(Self::TargetDirectory),
            ("html", Some("")) => Err(NotAReport::File),
            ("html", Some(file)) => Ok(Self::OutputTarget(file.into())),
            _ => Err(NotAReport::Kind(kind.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Result<PageTarget, String> {
        text.parse().map_err(|error: NotAReport| error.to_string())
    }

    #[test]
    fn a_report_is_of_a_kind_and_may_have_a_file() {
        assert_eq!(target("html"), Ok(PageTarget::TargetDirectory));
        let file = PageTarget::OutputTarget(OutputTarget::File("a=b.html".into()));
        assert_eq!(target("html=a=b.html"), Ok(file));
        assert_eq!(
            target("html=-"),
            Ok(PageTarget::OutputTarget(OutputTarget::StandardOutput))
        );
    }

    #[test]
    fn an_unknown_kind_of_report_is_refused_with_the_known_kinds() {
        assert_eq!(
            target("pdf=x").unwrap_err(),
            "unknown kind of report `pdf`; use `html` or `html=FILE`"
        );
        assert_eq!(target("html=").unwrap_err(), "missing the file after `html=`");
    }
}
