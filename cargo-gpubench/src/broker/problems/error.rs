//! Errors of `cargo gpubench problem`.

use camino::Utf8PathBuf;
use gpubench_diagnostic::{ExitCode, Expected};

/// An error of `cargo gpubench problem`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProblemError {
    /// The crates have none.
    #[error("there are no problems")]
    None {
        /// Their packages.
        packages: Vec<String>,
    },
    /// No problem has the name.
    #[error("there is no problem `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// A similar one.
        closest: Option<String>,
        /// The number of problems.
        of: usize,
    },
    /// Several problems have the name.
    #[error("`{name}` is the name of {} problems", known.len())]
    Ambiguous {
        /// The name.
        name: String,
        /// Their whole names.
        known: Vec<String>,
    },
    /// A starter needs the tensors.
    #[error("the tensors of `{name}` are not known")]
    NoTensors {
        /// The problem.
        name: String,
        /// Why its first case could not be recorded.
        #[source]
        reason: Unrecorded,
    },
    /// A starter needs a place for its description.
    #[error("the starter cannot be `{path}`, which is the place of its description")]
    IsDescription {
        /// The file.
        path: Utf8PathBuf,
    },
    /// A file of the starter exists.
    #[error("`{path}` exists already")]
    Exists {
        /// The file.
        path: Utf8PathBuf,
    },
    /// A file cannot be written.
    #[error("cannot write `{path}`")]
    Unwritable {
        /// The file.
        path: Utf8PathBuf,
        /// The reason.
        #[source]
        source: std::io::Error,
    },
    /// The cases cannot be listed.
    #[error(transparent)]
    Cases(#[from] crate::broker::cases::CaseError),
}

/// Why the first case of a problem could not be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unrecorded(pub(super) String);

impl Expected for ProblemError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::None { .. } => ExitCode::NothingSelected,
            Self::Unknown { .. } | Self::Ambiguous { .. } | Self::IsDescription { .. } | Self::Exists { .. } => {
                ExitCode::Usage
            }
            Self::NoTensors { .. } => ExitCode::BenchmarkFailed,
            Self::Unwritable { .. } => ExitCode::OutputFailed,
            Self::Cases(error) => error.exit_code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::None { packages } => Some(match &packages[..] {
                [package] => format!("package `{package}` has no `#[problem]` functions"),
                _ => "the selected packages have no `#[problem]` functions".to_owned(),
            }),
            Self::Unknown {
                closest: Some(closest), ..
            } => Some(format!("did you mean `{closest}`?")),
            Self::Unknown { of, .. } => Some(format!("`cargo gpubench problem list` shows the names of all {of}")),
            Self::Ambiguous { known, .. } => Some(format!("write one of `{}`", known.join("`, `"))),
            Self::NoTensors { .. } => None,
            Self::IsDescription { .. } => Some("name the source, such as `solution.cu`".to_owned()),
            Self::Exists { .. } => Some("name another file, or remove it".to_owned()),
            Self::Unwritable { .. } => None,
            Self::Cases(error) => error.hint(),
        }
    }
}
