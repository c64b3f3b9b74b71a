//! Why a run cannot go on with a file.

use camino::Utf8PathBuf;

use gpubench_diagnostic::{ExitCode, Expected, in_backticks, printable_line};
use gpubench_store::StoreError;

/// `--resume` cannot go on with the file. It stays as it is.
#[derive(Debug, thiserror::Error)]
pub(in crate::broker) enum ResumeError {
    /// It cannot be read, has no records of a run, or another process writes to it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It is of a run that graded nothing.
    #[error("`{path}` has the records of a run that graded no submissions")]
    NoGrading { path: Utf8PathBuf },
    /// It is of a run that cannot be taken over.
    #[error("`{path}` has the records of a run without `--resume`, or of submissions")]
    NoRun { path: Utf8PathBuf },
    /// The libraries with the benchmarks have changed.
    #[error("`{path}` has the records of another run: the code of the benchmarks has changed since")]
    OtherCode { path: Utf8PathBuf },
    /// Something that decides all results is not what it was.
    #[error("`{path}` has the records of another run: its {what} is `{}`, and this one's `{}`", printable_line(.there), printable_line(.here))]
    Other {
        path: Utf8PathBuf,
        what: String,
        there: String,
        here: String,
    },
    /// The code or the files of the problem have changed.
    #[error("`{path}` has the records of another grading: the problem `{}` has changed since", printable_line(.problem))]
    OtherProblem { path: Utf8PathBuf, problem: String },
    /// The settings are not what they were.
    #[error("`{path}` has the records of a run with other settings: `{}`", printable_line(.command))]
    OtherSettings { path: Utf8PathBuf, command: String },
    /// Results would be lost.
    #[error("`{path}` has results of {}, which this command does not measure", in_backticks(.names.iter().map(|name| printable_line(name))))]
    NotGraded { path: Utf8PathBuf, names: Vec<String> },
}

impl Expected for ResumeError {
    fn exit_code(&self) -> ExitCode {
        match self {
            ResumeError::Store(error) => error.exit_code(),
            _ => ExitCode::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            ResumeError::Store(error) => error.hint(),
            ResumeError::NotGraded { .. } => {
                Some("select all cases or give all submissions of the earlier run, or name another file".to_owned())
            }
            _ => Some("name another file, and the run begins anew".to_owned()),
        }
    }
}
