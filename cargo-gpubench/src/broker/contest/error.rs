//! Why there can be no contest.

use gpubench_diagnostic::{ExitCode, Expected, in_backticks};

/// Why there can be no contest.
#[derive(Debug, thiserror::Error)]
pub(in crate::broker) enum ContestError {
    /// No two selected cases solve the same problem with the same arguments.
    #[error("`--contest` needs two cases of one problem with the same arguments")]
    NoRivals {
        /// Problems that several benchmarks of the libraries solve, with their number.
        problems: Vec<(String, usize)>,
    },
    /// A contestant has several modes.
    #[error("`--contest` measures in one mode, but `{case}` has {}", in_backticks(modes))]
    SeveralModes { case: String, modes: Vec<String> },
    /// The times of a contestant are not measured.
    #[error("`--contest` compares times, but `--metric` leaves out those of `{case}`")]
    NoTimes { case: String },
}

impl Expected for ContestError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoRivals { problems } if problems.is_empty() => {
                "benchmarks compete if they have the same `problem = ..` in their attributes, and so do the values of the axes that one adds to its problem".to_owned()
            }
            Self::NoRivals { problems } => {
                let problems = problems
                    .iter()
                    .map(|(problem, number)| format!("`{problem}` ({number})"));
                let problems: Vec<String> = problems.collect();
                format!("these problems have several benchmarks: {}", problems.join(", "))
            }
            Self::SeveralModes { modes, .. } => {
                let first = modes.first().map_or("cold", String::as_str);
                format!("choose one, as with `--mode {first}`")
            }
            Self::NoTimes { .. } => "leave out `--contest`: counts need no turns".to_owned(),
        })
    }
}
