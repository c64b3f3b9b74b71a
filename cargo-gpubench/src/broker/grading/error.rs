//! Why nothing can be graded.

use gpubench_diagnostic::{ExitCode, Expected};

/// The submissions cannot be graded.
#[derive(Debug, thiserror::Error)]
pub(in crate::broker) enum GradingError {
    /// `--over` names none of them.
    #[error("no submission is called `{name}`")]
    UnknownRival {
        name: String,
        /// The name that the user probably meant.
        closest: Option<String>,
    },
}

impl Expected for GradingError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        let Self::UnknownRival { closest, .. } = self;
        Some(match closest {
            Some(closest) => format!("did you mean `{closest}`?"),
            None => "`--over` takes the `name` in its description, or that of its file without the ending".to_owned(),
        })
    }
}
