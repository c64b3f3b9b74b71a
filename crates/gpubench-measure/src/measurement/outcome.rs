//! How a case ended, for its record.

use super::failure::CaseFailure;
use super::measured::Measured;
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

/// Why a case that passed is measured once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FurtherPurpose {
    /// To read hardware metrics.
    HardwareMetrics,
    /// To audit its calls.
    Audit,
}

impl FurtherPurpose {
    /// What was done to the calls, after "while".
    fn during(self) -> &'static str {
        match self {
            FurtherPurpose::HardwareMetrics => "hardware metrics were read",
            FurtherPurpose::Audit => "the calls were audited",
        }
    }
}

impl Outcome {
    /// Returns how a case that passed ends after it was measured once more: still so.
    ///
    /// # Errors
    /// The outcome of a case that failed, if a call failed then.
    pub fn confirmed_by(self, measured: &Measured, purpose: FurtherPurpose) -> Result<Outcome, Outcome> {
        match measured.failure(purpose.during()) {
            None => Ok(self),
            Some(failure) => Err(self.failed(failure)),
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::measured::ended;
    use crate::measurement::passed_case::passed_case;
    use gpubench_contract::DeviceKind;

    fn passed() -> Outcome {
        Outcome {
            verdict: Verdict::Pass,
            cause: None,
            message: None,
            notices: vec!["a notice".to_owned()],
        }
    }

    #[test]
    fn a_call_that_fails_when_the_case_is_measured_once_more_fails_it() {
        for (purpose, during) in [
            (FurtherPurpose::HardwareMetrics, "while hardware metrics were read: "),
            (FurtherPurpose::Audit, "while the calls were audited: "),
        ] {
            assert_eq!(
                passed().confirmed_by(&ended((Verdict::Pass, None)), purpose),
                Ok(passed())
            );
            for (verdict, cause) in [
                (Verdict::WrongOutput, Cause::Mismatch),
                (Verdict::LateWrite, Cause::Late),
                (Verdict::Crashed, Cause::Killed),
                (Verdict::Timeout, Cause::Slow),
                (Verdict::ProtocolViolation, Cause::BadClaim),
                (Verdict::Error, Cause::PlanInvalid),
            ] {
                let failed = passed()
                    .confirmed_by(&ended((verdict, Some(cause))), purpose)
                    .unwrap_err();
                assert_eq!((failed.verdict, failed.cause), (verdict, Some(cause)));
                assert_eq!(failed.message, Some(format!("{during}it was {cause}")));
                assert_eq!(failed.notices, passed().notices);
            }
        }
    }

    #[test]
    fn denied_notices_fail_only_a_case_that_has_passed() {
        let wrong = || Outcome::from(CaseFailure::error(Cause::WorkerFailed, "it failed"));
        let more = || vec!["another".to_owned(), "a third".to_owned()];
        let noted = |outcome: Outcome, notices, policy| {
            let Outcome {
                cause,
                message,
                notices,
                ..
            } = outcome.noted(notices, policy);
            (cause, message, notices.len())
        };
        let failed = Some("it failed".to_owned());
        for policy in [NoticePolicy::Report, NoticePolicy::Deny] {
            assert_eq!(
                noted(wrong(), more(), policy),
                (Some(Cause::WorkerFailed), failed.clone(), 2)
            );
            assert_eq!(noted(passed(), Vec::new(), policy), (None, None, 1));
        }
        assert_eq!(noted(passed(), more(), NoticePolicy::Report), (None, None, 3));
        let denied = Some("another; a third".to_owned());
        assert_eq!(
            noted(passed(), more(), NoticePolicy::Deny),
            (Some(Cause::DeniedNotice), denied, 1)
        );
    }

    #[test]
    fn an_outcome_replaces_that_of_the_record() {
        let mut record = passed_case(DeviceKind::Cuda);
        (record.notices, record.message) = (vec!["of before".to_owned()], Some("of before".to_owned()));
        record.samples = vec![1.0];
        let failed = passed().failed(CaseFailure::error(Cause::WorkerFailed, "it failed"));
        let record = failed.record(record);
        assert_eq!(
            (record.verdict, record.cause),
            (Verdict::Error, Some(Cause::WorkerFailed))
        );
        assert_eq!(
            (record.message.as_deref(), record.notices),
            (Some("it failed"), passed().notices)
        );
        assert_eq!(record.samples, [1.0]);
    }
}
