//! `cargo gpubench report`, and `--report`.
#![forbid(unsafe_code)]

use std::env;
use std::str::FromStr;

use camino::Utf8PathBuf;
use clap::Args;
use thiserror::Error;

use super::output::{ColorArgument, color};
use crate::broker::options::{ReportOptions, ReportTarget};
use crate::store::RunName;

/// Every option of `cargo gpubench report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct ReportArguments {
    /// A stored run: a baseline's name, its file, or the lines that `--export-json` writes
    ///
    /// Of several runs on one device the latest is reported, and the others are the history that it is shown with.
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<RunName>,

    /// Compare the run with this one as well; may be given several times
    #[arg(long, value_name = "RUN")]
    compare: Vec<RunName>,

    /// Write the page to this file
    #[arg(short, long, value_name = "FILE", default_value = "gpubench-report.html")]
    output: Utf8PathBuf,

    /// Colour the output
    #[arg(long, value_name = "WHEN")]
    color: Option<ColorArgument>,
}

const EXAMPLE: &str = "\
Example: cargo gpubench report results.jsonl --compare main -o report.html";

impl ReportArguments {
    /// Says what is to be done.
    pub(super) fn into_options(self) -> ReportOptions {
        let Self {
            runs,
            compare,
            output,
            color: color_argument,
        } = self;
        ReportOptions {
            runs,
            compare,
            output,
            color: color(color_argument, env::var("CARGO_TERM_COLOR").ok().as_deref()),
        }
    }
}

/// What `--report` takes: the kind of report, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReportArgument(pub(super) ReportTarget);

/// Why a text is no value of `--report`.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum NotAReport {
    /// There are no reports of this kind.
    #[error("there is no report of the kind `{0}`, only `html` and `html=FILE`")]
    Kind(String),
    /// A file without a name.
    #[error("a file is missing behind `html=`")]
    File,
}

impl FromStr for ReportArgument {
    type Err = NotAReport;

    fn from_str(text: &str) -> Result<Self, NotAReport> {
        let (kind, file) = match text.split_once('=') {
            Some((kind, file)) => (kind, Some(file)),
            None => (text, None),
        };
        match (kind, file) {
            ("html", None) => Ok(Self(ReportTarget::TargetDirectory)),
            ("html", Some("")) => Err(NotAReport::File),
            ("html", Some(file)) => Ok(Self(ReportTarget::File(file.into()))),
            _ => Err(NotAReport::Kind(kind.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Result<ReportTarget, String> {
        let argument: Result<ReportArgument, NotAReport> = text.parse();
        argument.map(|argument| argument.0).map_err(|error| error.to_string())
    }

    #[test]
    fn a_report_is_of_a_kind_and_may_have_a_file() {
        assert_eq!(target("html"), Ok(ReportTarget::TargetDirectory));
        assert_eq!(target("html=a=b.html"), Ok(ReportTarget::File("a=b.html".into())));
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
