//! Criteria that a case must meet in addition to being right.

use super::failure::CaseFailure;
use gpubench_contract::{BenchmarkComplete, Cause, Execution, Grade, Verdict};

/// Criteria that a case must meet in addition to being right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassCriteria {
    /// The effect of notices about the check.
    pub notices: NoticePolicy,
    /// The lowest accepted grade.
    pub least_grade: Grade,
}

impl Default for PassCriteria {
    /// No criteria.
    fn default() -> PassCriteria {
        PassCriteria {
            notices: NoticePolicy::Report,
            least_grade: Grade::Advisory,
        }
    }
}

/// The effect of notices about a case's check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticePolicy {
    /// Notices are only reported.
    Report,
    /// Notices fail the case.
    Deny,
}

/// What the checks of a case cannot detect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CheckFindings {
    /// Why the check cannot judge the kernel.
    pub(super) blind: Option<String>,
    /// Notices for the reader.
    pub(super) notices: Vec<String>,
}

/// Fails a case that passed but does not meet the criteria.
pub(super) fn apply_criteria(record: &mut BenchmarkComplete, findings: CheckFindings, criteria: PassCriteria) {
    let CheckFindings { blind, notices } = findings;
    if record.verdict != Verdict::Pass {
        record.notices.extend(notices);
        return;
    }
    if let Some(message) = blind {
        record.notices.extend(notices);
        CaseFailure::error(Cause::BlindCheck, message).fill_in(record);
        return;
    }
    add_notices(record, notices, criteria.notices);
    if record.verdict == Verdict::Pass
        && let Some(failure) = grade_too_low(record, criteria.least_grade)
    {
        failure.fill_in(record);
    }
}

/// Adds notices to a result. If notices are denied, they fail a case that passed.
pub fn add_notices(record: &mut BenchmarkComplete, notices: Vec<String>, policy: NoticePolicy) {
    if policy == NoticePolicy::Deny && record.verdict == Verdict::Pass && !notices.is_empty() {
        CaseFailure::error(Cause::DeniedNotice, notices.join("; ")).fill_in(record);
    } else {
        record.notices.extend(notices);
    }
}

/// Returns the failure of a case whose grade is below `least`. A case without times has no grade.
fn grade_too_low(record: &BenchmarkComplete, least: Grade) -> Option<CaseFailure> {
    let grade = record.grade.filter(|grade| !grade.meets(least))?;
    let reason = match (&record.grade_reason, record.execution) {
        (Some(reason), _) => format!(": {reason}"),
        (None, Some(Execution::Hosted | Execution::HostedSync)) => {
            ": the benchmark's host code ran in the worker".to_owned()
        }
        (None, _) => String::new(),
    };
    let message = format!(
        "the grade `{grade}` is lower than the required `{least}`{reason} (hint: `cargo gpubench doctor` shows which grade this machine can give)"
    );
    Some(CaseFailure::error(Cause::GradeTooLow, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::passed_case::passed_case;
    use gpubench_contract::DeviceKind;

    fn passed() -> BenchmarkComplete {
        passed_case(DeviceKind::Cpu)
    }

    fn with_criteria(
        mut record: BenchmarkComplete,
        findings: CheckFindings,
        criteria: PassCriteria,
    ) -> BenchmarkComplete {
        apply_criteria(&mut record, findings, criteria);
        record
    }

    fn noted() -> CheckFindings {
        CheckFindings {
            blind: None,
            notices: vec!["zeros would pass".to_owned()],
        }
    }

    const DENYING: PassCriteria = PassCriteria {
        notices: NoticePolicy::Deny,
        least_grade: Grade::Advisory,
    };

    #[test]
    fn denied_notices_fail_a_case() {
        let reported = with_criteria(passed(), noted(), PassCriteria::default());
        assert_eq!((reported.verdict, reported.notices.len()), (Verdict::Pass, 1));
        let denied = with_criteria(passed(), noted(), DENYING);
        assert_eq!(
            (denied.verdict, denied.cause),
            (Verdict::Error, Some(Cause::DeniedNotice))
        );
        assert_eq!(denied.message.as_deref(), Some("zeros would pass"));
        assert!(denied.notices.is_empty(), "it is reported once");
        assert_eq!(
            with_criteria(passed(), CheckFindings::default(), DENYING).verdict,
            Verdict::Pass
        );
    }

    #[test]
    fn a_blind_check_is_always_an_error() {
        let blind = CheckFindings {
            blind: Some("it cannot".to_owned()),
            ..noted()
        };
        let record = with_criteria(passed(), blind, PassCriteria::default());
        assert_eq!(
            (record.verdict, record.cause),
            (Verdict::Error, Some(Cause::BlindCheck))
        );
        assert_eq!(record.notices.len(), 1);
    }

    #[test]
    fn a_failed_case_keeps_its_verdict() {
        let wrong = BenchmarkComplete {
            verdict: Verdict::WrongOutput,
            ..passed()
        };
        assert_eq!(with_criteria(wrong, noted(), DENYING).verdict, Verdict::WrongOutput);
    }

    #[test]
    fn a_grade_below_the_required_one_is_an_error_with_its_reason() {
        for (grade, least, passes) in [
            (Grade::Sealed, Grade::Sealed, true),
            (Grade::Sealed, Grade::Bracketed, true),
            (Grade::Bracketed, Grade::Sealed, false),
            (Grade::Advisory, Grade::Bracketed, false),
            (Grade::Advisory, Grade::Advisory, true),
        ] {
            let graded = BenchmarkComplete {
                grade: Some(grade),
                grade_reason: Some("two processes overlap".to_owned()),
                ..passed()
            };
            let criteria = PassCriteria {
                least_grade: least,
                ..PassCriteria::default()
            };
            let record = with_criteria(graded, CheckFindings::default(), criteria);
            assert_eq!(record.verdict == Verdict::Pass, passes, "{grade} {least}");
            if !passes {
                assert_eq!(record.cause, Some(Cause::GradeTooLow));
                assert!(
                    record
                        .message
                        .is_some_and(|message| message.contains("two processes overlap"))
                );
            }
        }
        let sealed = PassCriteria {
            least_grade: Grade::Sealed,
            ..PassCriteria::default()
        };
        let ungraded = with_criteria(passed(), CheckFindings::default(), sealed);
        assert_eq!(ungraded.verdict, Verdict::Pass, "a test has no grade");
    }
}
