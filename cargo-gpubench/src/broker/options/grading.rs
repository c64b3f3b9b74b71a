//! Options of a run that grades submissions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_submission::Packed;

/// What is graded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradingOptions {
    /// `--problem`: the name of the problem. Without one, it is that of `--definition`.
    pub problem: Option<String>,
    /// Which of its cases.
    pub cases: GradedCases,
    /// The submissions, in order.
    pub submissions: Vec<SubmissionPlace>,
    /// `--over`: what the submissions are compared with.
    pub over: Option<Rival>,
    /// Time limit of a compiler for one submission.
    pub compile_within: Duration,
}

/// What submissions are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rival {
    /// The reference of the problem.
    Reference,
    /// The submission with this name.
    Submission(String),
}

impl Rival {
    /// The word for the reference.
    pub const REFERENCE: &'static str = gpubench_contract::OVER_REFERENCE;

    /// Reads a word of the command line.
    pub fn from_word(word: String) -> Rival {
        match word == Rival::REFERENCE {
            true => Rival::Reference,
            false => Rival::Submission(word),
        }
    }

    /// Returns its word on the command line.
    pub fn word(&self) -> &str {
        match self {
            Rival::Reference => Rival::REFERENCE,
            Rival::Submission(name) => name,
        }
    }
}

impl GradingOptions {
    /// Returns the name of the submission that the others are compared with.
    pub fn rival_submission(&self) -> Option<&str> {
        match &self.over {
            Some(Rival::Submission(name)) => Some(name),
            Some(Rival::Reference) | None => None,
        }
    }
}

/// Which cases of a problem are graded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GradedCases {
    /// The public ones.
    #[default]
    Public,
    /// `--leaderboard`: the hidden ones, too.
    All,
}

/// The word for standard input.
const STANDARD_INPUT: &str = "-";

/// Where a submission comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubmissionPlace {
    /// A file or a folder.
    Path(Utf8PathBuf),
    /// `-`: standard input.
    StandardInput,
    /// `--solution`: a file of FlashInfer-Bench or SOL-ExecBench.
    Solution(Utf8PathBuf),
    /// It was read before, perhaps on another machine.
    Read(ReadSubmission),
}

/// A submission that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadSubmission {
    /// Where it came from, as results name it.
    pub place: String,
    /// Its files, or why it is no submission.
    pub packed: Result<Arc<Packed>, String>,
}

impl SubmissionPlace {
    /// Reads a word of the command line.
    pub fn from_path(path: Utf8PathBuf) -> SubmissionPlace {
        if path == STANDARD_INPUT {
            SubmissionPlace::StandardInput
        } else {
            SubmissionPlace::Path(path)
        }
    }
}

impl SubmissionPlace {
    /// Returns the file or folder. Standard input has none.
    pub fn path(&self) -> Option<&Utf8Path> {
        match self {
            SubmissionPlace::Path(path) | SubmissionPlace::Solution(path) => Some(path),
            SubmissionPlace::StandardInput => None,
            SubmissionPlace::Read(read) => (read.place != STANDARD_INPUT).then(|| Utf8Path::new(&read.place)),
        }
    }
}

impl fmt::Display for SubmissionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubmissionPlace::Path(path) | SubmissionPlace::Solution(path) => f.write_str(path.as_str()),
            SubmissionPlace::StandardInput => f.write_str(STANDARD_INPUT),
            SubmissionPlace::Read(read) => f.write_str(&read.place),
        }
    }
}
