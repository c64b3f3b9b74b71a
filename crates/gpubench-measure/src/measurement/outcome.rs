//! How a case ended, for its record.

use super::failure::CaseFailure;
use super::pass_criteria::NoticePolicy;
use gpubench_contract::{BenchmarkComplete, Cause, Verdict};

/// How a case ended, and what its record remarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Why it did not pass; `None` if it passed.
    pub cause: Option<Cause>,
    /// What went wrong and where; `None` if it passed.
    pub message: Option<String>,
    /// Remarks that the verdict does not express.
    pub notices: Vec<String>,
}

impl Outcome {
    /// Replaces the verdict by that of a failure. The notices remain.
    #[must_use]
    pub fn failed(self, failure: CaseFailure) -> Outcome {
        Outcome {
            notices: self.notices,
            ..Outcome::from(failure)
        }
    }

    /// Adds notices. If notices are denied, they fail a case that passed.
    #[must_use]
    pub fn noted(mut self, notices: Vec<String>, policy: NoticePolicy) -> Outcome {
        if policy == NoticePolicy::Deny && self.verdict == Verdict::Pass && !notices.is_empty() {
            return self.failed(CaseFailure::error(Cause::DeniedNotice, notices.join("; ")));
        }
        self.notices.extend(notices);
        self
    }

    /// Returns the record of a case that ended so, with the rest of `record`.
    #[must_use]
    pub fn record(self, record: BenchmarkComplete) -> BenchmarkComplete {
        BenchmarkComplete {
            verdict: self.verdict,
            cause: self.cause,
            message: self.message,
            notices: self.notices,
            ..record
        }
    }
}

impl From<CaseFailure> for Outcome {
    fn from(failure: CaseFailure) -> Outcome {
        debug_assert!(failure.cause.comes_with(failure.verdict), "{failure:?}");
        Outcome {
            verdict: failure.verdict,
            cause: Some(failure.cause),
            message: Some(failure.message),
            notices: Vec::new(),
        }
    }
}
