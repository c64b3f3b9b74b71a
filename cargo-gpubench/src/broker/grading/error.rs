//! Why nothing can be graded.

use gpubench_diagnostic::{ExitCode, Expected, printable_line};

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
    /// `--over` names the only one.
    #[error("`{name}` is the only submission, so there is nothing to compare with it")]
    OnlyRival { name: String },
    /// `--over` names several of them. A submission chooses its own name.
    #[error("several submissions are called `{name}`")]
    SeveralRivals { name: String },
    /// `--over reference`, and a submission has the word as its name.
    #[error("a submission is called `reference`, as `--over` calls the reference of the problem")]
    CalledReference,
    /// The reference computes on the CPU.
    #[error("the reference of the problem is a function on the CPU, so it has no time on the device")]
    ReferenceOnCpu,
    /// The reference is a command.
    #[error("the reference of the problem is a command, whose times nobody can check")]
    ReferenceIsCommand,
    /// A program is to observe a call of host code that nobody trusts.
    #[error("`{option}` is not for libraries, and `{name}` is one")]
    ObservedLibrary {
        name: String,
        /// The option that chooses the program.
        option: String,
    },
    /// Two solutions have one name.
    #[error("the solutions `{first}` and `{second}` are both called `{}`", printable_line(.name))]
    SameSolution {
        name: String,
        first: String,
        second: String,
    },
}

impl Expected for GradingError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownRival {
                closest: Some(closest), ..
            } => format!("did you mean `{closest}`?"),
            Self::UnknownRival { closest: None, .. } => {
                "`--over` takes the `name` in its description, or that of its file without the ending".to_owned()
            }
            Self::CalledReference => "give it another `name` in its description, or its file another name".to_owned(),
            Self::ReferenceOnCpu => {
                "grade a kernel that solves it as another submission, and name that one with `--over`; or let the problem launch its reference: `cuda(reference = launch(..))`, or a launcher as its first parameter".to_owned()
            }
            Self::ReferenceIsCommand => {
                "grade a kernel that does the same as another submission, and name that one with `--over`".to_owned()
            }
            Self::OnlyRival { .. } => "name the file of another one, too".to_owned(),
            Self::ObservedLibrary { .. } => {
                "the program would need the sandbox of its host code open: observe code that you trust as a `hosted` benchmark of your own".to_owned()
            }
            Self::SameSolution { .. } => {
                "traces tell solutions apart by their `name`: change one, or grade them one by one".to_owned()
            }
            Self::SeveralRivals { .. } => "grade the one to compare with under a name of its own".to_owned(),
        })
    }
}
