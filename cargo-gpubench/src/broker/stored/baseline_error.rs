//! Errors when a baseline does not fit a run.

use std::fmt::Write;

use thiserror::Error;

use gpubench_diagnostic::{ExitCode, Expected};

/// Most names to list in a message.
const MOST_NAMES: usize = 10;

/// An error when a baseline does not fit a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// The baseline lacks results of the selected cases.
    #[error("the baseline `{baseline}` lacks {} of {of} results of the selected cases:{}", lacking.len(), listed(lacking))]
    Lacks {
        /// Its name.
        baseline: String,
        /// The missing results: names of cases with their modes.
        lacking: Vec<String>,
        /// Number of results that the run will have.
        of: usize,
    },
    /// No stored result matches the filters.
    #[error("`{stored}` has no case that matches the filters")]
    NothingFits {
        /// The stored run's name.
        stored: String,
        /// A filter that is the name of a file.
        file: Option<String>,
    },
    /// No name in a stored run matches a grouping expression.
    #[error("`{stored}` has no case whose name matches `{expression}`")]
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
                "nothing was measured; to measure these and list them as new, use `--baseline-lenient {baseline}`"
            )),
            Self::NothingFits { file, .. } => file.as_ref().map(|file| {
                format!("`{file}` is a filter here; to load it as a part of the run, add `--load-baseline {file}`")
            }),
            Self::NothingMatches { example, .. } => example
                .as_ref()
                .map(|example| format!("names start with the package, as in `{example}`")),
        }
    }
}

/// Lists the first names, one per line.
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
    fn missing_benchmarks_of_a_baseline_are_listed() {
        let lacks = |count: usize| {
            let error = BaselineError::Lacks {
                baseline: "main".to_owned(),
                lacking: (0..count).map(|n| format!("suite::axpy::n={n}")).collect(),
                of: 14,
            };
            anstream::adapter::strip_str(&Explanation(&error).to_string()).to_string()
        };
        insta::assert_snapshot!(lacks(2), @r"
        error: the baseline `main` lacks 2 of 14 results of the selected cases:
          suite::axpy::n=0
          suite::axpy::n=1
        (hint: nothing was measured; to measure these and list them as new, use `--baseline-lenient main`)
        ");
        assert!(lacks(13).contains("n=9\n  and 3 more\n"));
        assert!(!lacks(10).contains("more\n"));
    }
}
