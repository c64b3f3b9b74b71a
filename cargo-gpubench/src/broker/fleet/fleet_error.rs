//! Why a run over several machines cannot begin.

use camino::Utf8PathBuf;
use gpubench_diagnostic::{ExitCode, Expected};

/// A run over several machines cannot begin.
#[derive(Debug, thiserror::Error)]
pub(super) enum FleetError {
    /// Agents measure and test, and nothing else.
    #[error("agents only measure and test")]
    Action,
    /// A file of a definition is not in an archive.
    #[error("agents cannot grade against files of a definition")]
    Definition,
    /// Agents would need too much memory.
    #[error("the submissions have more than {} MiB together, which agents do not take", .most >> 20)]
    Submissions { most: u64 },
    /// A word of the command line is not UTF-8.
    #[error("the word `{0}` of the command line is not UTF-8, so no agent can have it")]
    Word(String),
    /// The configuration cannot be read again.
    #[error("cannot read `{path}` for the agents")]
    Configuration {
        path: Utf8PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The archive cannot be read.
    #[error("cannot read the archive `{path}`")]
    Archive {
        path: Utf8PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl Expected for FleetError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        match self {
            FleetError::Action | FleetError::Definition => Some("leave out `--runner`".to_owned()),
            FleetError::Submissions { .. } => Some("grade some of them at a time".to_owned()),
            FleetError::Word(_) => Some("rename the file that it names".to_owned()),
            FleetError::Configuration { .. } | FleetError::Archive { .. } => None,
        }
    }
}
