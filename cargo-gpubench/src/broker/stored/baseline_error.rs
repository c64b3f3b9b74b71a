//! Why a baseline does not fit a run.

use std::fmt::Write;

use thiserror::Error;

use gpubench_diagnostic::{ExitCode, Expected};

/// More names than this do not help.
const MOST_NAMES: usize = 10;

/// Why a baseline does not fit a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// Benchmarks were selected that the baseline does not have.
    #[error("the baseline `{baseline}` lacks {} of {of} selected benchmarks:{}", lacking.len(), listed(lacking))]
    Lacks {
        /// Its name.
        baseline: String,
        /// The benchmarks.
        lacking: Vec<String>,
        /// How many are selected.
        of: usize,
    },
    /// No stored result has a name that was asked for.
    #[error("`{stored}` has no benchmark that fits the filters")]
    NothingFits {
        /// The stored run's name.
        stored: String,
    },
    /// An expression whose groups match names is found in no name of a stored run.
    #[error("`{stored}` has no benchmark in whose name `{expression}` is found")]
    NothingMatches {
        /// The stored run's name.
        stored: String,
        /// The expression.
        expression: String,
        /// A name that the run has.
        example: Option<String>,
    },
}

impl Expected for BaselineError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Lacks { .. } => ExitCode::Usage,
            Self::NothingFits { .. } | Self::NothingMatches { .. } => ExitCode::NothingSelected,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Lacks { baseline, .. } => Some(format!(
                "nothing was measured; `--baseline-lenient {baseline}` measures them too and lists them as new"
            )),
            Self::NothingFits { .. } => None,
            Self::NothingMatches { example, .. } => example
                .as_ref()
                .map(|example| format!("names have the package in front, such as `{example}`")),
        }
    }
}

/// A line for each of the first names.
fn listed(names: &[String]) -> String {
    let mut text = String::new();
    for name in names.iter().take(MOST_NAMES) {
        let _ = write!(text, "\n  {name}");
    }
    match names.len().checked_sub(MOST_NAMES) {
        None | Some(0) => text,
        Some(more) => format!("{text}\n  and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_diagnostic::Explanation;

    #[test]
    fn what_a_baseline_lacks_is_listed() {
        let lacks = |count: usize| {
            let error = BaselineError::Lacks {
                baseline: "main".to_owned(),
                lacking: (0..count).map(|n| format!("suite::axpy::n={n}")).collect(),
                of: 14,
            };
            anstream::adapter::strip_str(&Explanation(&error).to_string()).to_string()
        };
        insta::assert_snapshot!(lacks(2), @r"
        error: the baseline `main` lacks 2 of 14 selected benchmarks:
          suite::axpy::n=0
          suite::axpy::n=1
        (hint: nothing was measured; `--baseline-lenient main` measures them too and lists them as new)
        ");
        assert!(lacks(13).contains("n=9\n  and 3 more\n"));
        assert!(!lacks(10).contains("more\n"));
    }
}
