//! Why parts do not make one run, and what a run of parts lacks.

use std::fmt;

use thiserror::Error;

use gpubench_diagnostic::{ExitCode, Expected};

/// Why stored runs do not make one run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A part has no `run-finished` record.
    #[error("the run in `{part}` has not finished")]
    Unfinished {
        /// The part.
        part: String,
    },
    /// A part has results of submissions.
    #[error("`{part}` has results of submissions, which are only ranked within a run")]
    Graded {
        /// The part.
        part: String,
    },
    /// Two parts have different results of a case.
    #[error("`{case}` is in `{one}` and in `{other}`, with different results")]
    Twice {
        /// The case, with its mode.
        case: String,
        /// A part.
        one: String,
        /// Another part.
        other: String,
    },
    /// A run has only one of something, and two parts differ in it.
    #[error("{what}: {} in `{}`, {} in `{}`", values[0], parts[0], values[1], parts[1])]
    Differs {
        /// What differs.
        what: &'static str,
        /// The parts.
        parts: [String; 2],
        /// The value in each part.
        values: [String; 2],
    },
}

impl Expected for MergeError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        Some(
            match self {
                Self::Unfinished { .. } => "run that part again, or load it alone to see what it has",
                Self::Graded { .. } => "give `cargo gpubench grade` all submissions at once",
                Self::Twice { .. } => {
                    "load one of them, or select other cases for each part, as with `--partition hash:1/2` and \
                     `--partition hash:2/2`"
                }
                Self::Differs { .. } => {
                    "the parts of a run have the same sources, tool and kind of machine; `cargo gpubench compare` \
                     compares others"
                }
            }
            .to_owned(),
        )
    }
}

/// What a run of parts lacks, because two parts differ in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// What it lacks.
    pub what: Lacking,
    /// Two parts that differ in it.
    pub parts: [String; 2],
}

/// What a run of parts can lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// Its seed.
    Seed,
    /// The options that repeat its cases.
    Options,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = &self.parts;
        match self.what {
            Lacking::Seed => write!(
                f,
                "`{one}` and `{other}` have different seeds, so the run of both has none: the record of each part has \
                 the seed that repeats its inputs"
            ),
            Lacking::Options => write!(
                f,
                "`{one}` and `{other}` were measured with different options, so the run of both has none: the record \
                 of each part has the options that repeat its cases"
            ),
        }
    }
}
