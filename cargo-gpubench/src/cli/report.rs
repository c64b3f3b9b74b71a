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
    /// Every option of `cargo gpubench report`.
    #[command(after_help = EXAMPLES)]
    pub(super) struct ReportArguments {
        /// The run: a baseline's name, its file, or the lines that `--export-json` writes
        ///
        /// Of several runs on one device the latest is reported, and the others are shown as what
        /// went before.
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<RunName> => Line "results.jsonl";

        /// Compare the run with this one; may be given several times
        #[arg(long, value_name = "RUN", help_heading = "Baseline options")]
        compare: Vec<RunName> => Line "results.jsonl --compare main";

        #[command(flatten)]
        change: ChangeArguments;

        /// Write the page to this file, or to standard output, which is `-`
        ///
        /// Without it the page is `gpubench/report.html` in the target directory, where a run with
        /// `--report html` puts its own, and outside of a workspace `gpubench-report.html` here.
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output options")]
        output: Option<OutputTarget> => Line "results.jsonl --output page.html";

        #[command(flatten)]
        places: PlaceArguments;
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo gpubench report main                             a baseline
  cargo gpubench report pr --compare main -o pr.html     a run beside another
  cargo gpubench report nightly/*.jsonl                  the latest of several, with what went before";

impl ReportArguments {
    /// Says what is to be done.
    ///
    /// # Errors
    /// What is to be written would replace what is read.
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

/// Why a text is no value of `--report`.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum NotAReport {
    /// There are no reports of this kind.
    #[error("there is no report of the kind `{0}`, only `html` and `html=FILE`")]
    Kind(String),
    /// A file without a name.
    #[error("a file is missing behind `html=`")]
    File,
}

/// The kind of report, and where it goes.
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
    fn an_unknown_kind_is_refused_with_those_there_are() {
        assert_eq!(
            target("pdf=x").unwrap_err(),
            "there is no report of the kind `pdf`, only `html` and `html=FILE`"
        );
        assert_eq!(target("html=").unwrap_err(), "a file is missing behind `html=`");
    }
}
