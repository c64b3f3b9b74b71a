//! Why the command stops: [`ExpectedError`] gathers the errors of every area for the exit code and the message.

use std::error::Error;
use std::io;

use gpubench_diagnostic::{ExitCode, Expected, Explanation, print_to_stderr};
use thiserror::Error;

use crate::broker::cases::CaseError;
use crate::build::BuildError;
use crate::cli::UsageError;

/// Why the command stops before it has results for everything.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExpectedError {
    /// The command line makes no sense.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigError),
    /// What is to be benchmarked cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// An archive cannot be made or used.
    #[error(transparent)]
    Archive(#[from] crate::archive::ArchiveError),
    /// The cases cannot be chosen.
    #[error(transparent)]
    Cases(#[from] CaseError),
    /// A stored run or a history cannot be used.
    #[error(transparent)]
    Store(#[from] gpubench_store::StoreError),
    /// Another revision cannot be checked out.
    #[error(transparent)]
    Checkout(#[from] crate::checkout::CheckoutError),
    /// `--against` names a revision where there is an archive and no sources.
    #[error("`--against {revision}` needs sources, and `{archive}` is an archive")]
    NoSources {
        /// What was asked for.
        revision: String,
        /// What is run.
        archive: camino::Utf8PathBuf,
    },
    /// Another revision cannot be built, unpacked or listed.
    #[error("the baseline, `{name}`, cannot be measured")]
    OtherRevision {
        /// What was asked for.
        name: String,
        /// Why.
        #[source]
        source: Box<ExpectedError>,
    },
    /// An archive was made, and lacks kernels that were asked for.
    #[error("`{archive}` is without the kernels that could not be compiled for {}", .targets.join(" and "))]
    NotCompiledAhead {
        /// What was made.
        archive: camino::Utf8PathBuf,
        /// What they were to be compiled for.
        targets: Vec<String>,
    },
    /// There is no history to show.
    #[error(transparent)]
    History(#[from] crate::history::HistoryError),
    /// A baseline does not fit the run.
    #[error(transparent)]
    Baseline(#[from] crate::broker::BaselineError),
    /// The benchmarks cannot be listed.
    #[error(transparent)]
    Listing(#[from] crate::broker::ListingError),
    /// Something the machine must have is missing.
    #[error("{what}")]
    SetupMissing {
        /// What.
        what: String,
        /// What the person can do.
        hint: String,
    },
    /// No compiler makes kernels for the CPU device.
    #[error("the CPU device needs a C++ compiler")]
    CompilerMissing(#[from] gpubench_device::compilers::CompilerMissing),
    /// `--nvrtc` names no compiler.
    #[error(transparent)]
    NvrtcNotFound(#[from] gpubench_device::compilers::NvrtcNotFound),
    /// A role's process failed.
    #[error(transparent)]
    Role(#[from] gpubench_measure::clients::RoleFailure),
    /// A report cannot be written.
    #[error(transparent)]
    Report(#[from] gpubench_report::OutputError),
    /// An answer or a result cannot be written.
    #[error("could not write {what}")]
    Output {
        /// What was being written: `the list of benchmarks`.
        what: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A signal asked the command to stop.
    #[error("interrupted")]
    Interrupted,
    /// The tool cannot do what it should always be able to do.
    #[error("internal error: {what}")]
    Internal {
        /// What could not be done.
        what: String,
        /// Why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl Expected for ExpectedError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(error) => error.exit_code(),
            Self::Config(error) => error.exit_code(),
            Self::Build(error) => error.exit_code(),
            Self::Archive(error) => error.exit_code(),
            Self::Cases(error) => error.exit_code(),
            Self::Store(error) => error.exit_code(),
            Self::Checkout(error) => error.exit_code(),
            Self::NoSources { .. } => ExitCode::Usage,
            Self::NotCompiledAhead { .. } => ExitCode::BuildFailed,
            Self::OtherRevision { source, .. } => source.exit_code(),
            Self::Baseline(error) => error.exit_code(),
            Self::History(error) => error.exit_code(),
            Self::Listing(error) => error.exit_code(),
            Self::SetupMissing { .. } | Self::CompilerMissing(_) | Self::NvrtcNotFound(_) => ExitCode::SetupMissing,
            Self::Role(_) => ExitCode::Internal,
            Self::Output { .. } | Self::Report(_) => ExitCode::OutputFailed,
            Self::Interrupted => ExitCode::Interrupted,
            Self::Internal { .. } => ExitCode::Internal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Usage(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Build(error) => error.hint(),
            Self::Archive(error) => error.hint(),
            Self::Cases(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Checkout(error) => error.hint(),
            Self::NotCompiledAhead { .. } => Some("cases that launch them fail where it is run; `requires(..)` keeps a case from devices that it is not for".to_owned()),
            Self::NoSources { .. } => Some("`--against-archive FILE` takes an archive of the revision".to_owned()),
            Self::OtherRevision { source, .. } => source.hint(),
            Self::Baseline(error) => error.hint(),
            Self::History(error) => error.hint(),
            Self::Listing(error) => error.hint(),
            Self::SetupMissing { hint, .. } => Some(hint.clone()),
            Self::CompilerMissing(_) => Some("install g++ or clang, or name a compiler in `CXX`".to_owned()),
            Self::NvrtcNotFound(_) => Some(
                "name `libnvrtc.so` or a folder that has it, such as a toolkit or Python's `site-packages` after \
                 `pip install nvidia-cuda-nvrtc`"
                    .to_owned(),
            ),
            Self::Output { .. } | Self::Report(_) | Self::Role(_) | Self::Interrupted => None,
            Self::Internal { .. } => Some("this is a defect of `cargo gpubench`; please report it".to_owned()),
        }
    }
}

impl ExpectedError {
    /// Prints the error, its causes and its hint to standard error, coloured where that is wanted.
    ///
    /// A reader of standard output who went away (`| head`) is not told that it went away.
    pub fn print(&self) {
        let closed = match self {
            Self::Output { source, .. } => source.kind() == io::ErrorKind::BrokenPipe,
            Self::Report(error) => matches!(error, gpubench_report::OutputError::Closed { .. }),
            _ => false,
        };
        if closed {
            return;
        }
        print_to_stderr(&Explanation(self));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(error: &ExpectedError) -> String {
        anstream::adapter::strip_str(&Explanation(error).to_string()).to_string()
    }

    #[test]
    fn an_error_shows_its_causes_and_its_hint() {
        let error = ExpectedError::Internal {
            what: "no entropy".to_owned(),
            source: Box::new(io::Error::new(io::ErrorKind::NotFound, "no such device")),
        };
        insta::assert_snapshot!(plain(&error), @r"
        error: internal error: no entropy
        caused by: no such device
        (hint: this is a defect of `cargo gpubench`; please report it)
        ");
    }

    #[test]
    fn an_output_error_names_what_was_written() {
        let error = ExpectedError::Output {
            what: "`out.csv`".to_owned(),
            source: io::Error::new(io::ErrorKind::StorageFull, "no space left"),
        };
        insta::assert_snapshot!(plain(&error), @r"
        error: could not write `out.csv`
        caused by: no space left
        ");
        assert_eq!(error.exit_code().number(), 110);
    }

    #[test]
    fn what_an_error_quotes_cannot_move_the_cursor() {
        let error = ExpectedError::SetupMissing {
            what: "`evil\x1b[2J` is missing".to_owned(),
            hint: "get `evil\x1b]0;title\x07\r`".to_owned(),
        };
        let shown = Explanation(&error).to_string();
        assert!(
            !shown.contains("\x1b[2J") && !shown.contains("\x1b]0") && !shown.contains(['\r', '\x07']),
            "{shown:?}"
        );
    }

    #[test]
    fn styles_are_in_the_text_for_the_stream_to_keep_or_drop() {
        assert!(Explanation(&ExpectedError::Interrupted).to_string().contains("\u{1b}["));
    }
}
