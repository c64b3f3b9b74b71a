//! Criteria that a case must meet in addition to being right.

use super::failure::CaseFailure;
use super::outcome::Outcome;
use gpubench_contract::{Cause, Execution, Grade, Verdict};

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
            least_grade: Grade::Unverified,
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

/// The grade of a case, if it has samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Graded<'g> {
    pub(super) grade: Option<Grade>,
    /// Why it is only `unverified`.
    pub(super) reason: Option<&'g str>,
    /// Whose code ran in the worker.
    pub(super) execution: Execution,
}

/// Adds what the checks cannot detect to the outcome of a case. Fails one that passed but does not
/// meet the criteria.
pub(super) fn with_criteria(
    outcome: Outcome,
    graded: Graded<'_>,
    findings: CheckFindings,
    criteria: PassCriteria,
) -> Outcome {
    let CheckFindings { blind, notices } = findings;
    if outcome.verdict != Verdict::Pass {
        return outcome.noted(notices, NoticePolicy::Report);
    }
    if let Some(message) = blind {
        let blind = CaseFailure::error(Cause::BlindCheck, message);
        return outcome.noted(notices, NoticePolicy::Report).failed(blind);
    }
    let outcome = outcome.noted(notices, criteria.notices);
    match grade_too_low(graded, criteria.least_grade) {
        Some(failure) if outcome.verdict == Verdict::Pass => outcome.failed(failure),
        _ => outcome,
    }
}

/// Returns the failure of a case whose grade is below `least`. A case without times has no grade.
fn grade_too_low(graded: Graded<'_>, least: Grade) -> Option<CaseFailure> {
    let grade = graded.grade.filter(|grade| !grade.meets(least))?;
    let reason = match (graded.reason, graded.execution) {
        (Some(reason), _) => format!(": {reason}"),
        (None, Execution::Hosted | Execution::HostedSync) => ": the benchmark's host code ran in the worker".to_owned(),
        (None, Execution::Sealed) => String::new(),
    };
    let message = format!(
        "the grade `{grade}` is lower than the required `{least}`{reason} (hint: `cargo gpubench doctor` shows which grade this machine can give)"
    );
    Some(CaseFailure::error(Cause::GradeTooLow, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed() -> Outcome {
        Outcome {
            verdict: Verdict::Pass,
            cause: None,
            message: None,
            notices: Vec::new(),
        }
    }

    const UNGRADED: Graded<'_> = Graded {
        grade: None,
        reason: None,
        execution: Execution::Sealed,
    };

    fn with_criteria(outcome: Outcome, findings: CheckFindings, criteria: PassCriteria) -> Outcome {
        super::with_criteria(outcome, UNGRADED, findings, criteria)
    }

    fn noted() -> CheckFindings {
        CheckFindings {
            blind: None,
            notices: vec!["zeros would pass".to_owned()],
        }
    }

    const DENYING: PassCriteria = PassCriteria {
        notices: NoticePolicy::Deny,
        least_grade: Grade::Unverified,
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
        let outcome = with_criteria(passed(), blind, PassCriteria::default());
        assert_eq!(
            (outcome.verdict, outcome.cause),
            (Verdict::Error, Some(Cause::BlindCheck))
        );
        assert_eq!(outcome.notices.len(), 1);
    }

    #[test]
    fn of_several_criteria_the_first_that_is_not_met_decides_and_notices_remain() {
        let blind = CheckFindings {
            blind: Some("it cannot".to_owned()),
            ..noted()
        };
        let graded = Graded {
            grade: Some(Grade::Unverified),
            ..UNGRADED
        };
        for (findings, notices, cause, remaining) in [
            (blind.clone(), NoticePolicy::Report, Cause::BlindCheck, 1),
            (blind, NoticePolicy::Deny, Cause::BlindCheck, 1),
            (noted(), NoticePolicy::Deny, Cause::DeniedNotice, 0),
            (noted(), NoticePolicy::Report, Cause::GradeTooLow, 1),
        ] {
            let criteria = PassCriteria {
                notices,
                least_grade: Grade::Sealed,
            };
            let outcome = super::with_criteria(passed(), graded, findings, criteria);
            assert_eq!(
                (outcome.cause, outcome.notices.len()),
                (Some(cause), remaining),
                "{notices:?}"
            );
        }
    }

    #[test]
    fn a_failed_case_keeps_its_verdict() {
        let wrong = Outcome {
            verdict: Verdict::WrongOutput,
            ..passed()
        };
        assert_eq!(with_criteria(wrong, noted(), DENYING).verdict, Verdict::WrongOutput);
    }

    #[test]
    fn a_grade_below_the_required_one_is_an_error_with_its_reason() {
        for (grade, least, passes) in [
            (Grade::Sealed, Grade::Sealed, true),
            (Grade::Sealed, Grade::Sandboxed, true),
            (Grade::Sandboxed, Grade::Sealed, false),
            (Grade::Unverified, Grade::Sandboxed, false),
            (Grade::Unverified, Grade::Unverified, true),
        ] {
            let graded = Graded {
                grade: Some(grade),
                reason: Some("two processes overlap"),
                ..UNGRADED
            };
            let criteria = PassCriteria {
                least_grade: least,
                ..PassCriteria::default()
            };
            let outcome = super::with_criteria(passed(), graded, CheckFindings::default(), criteria);
            assert_eq!(outcome.verdict == Verdict::Pass, passes, "{grade} {least}");
            if !passes {
                assert_eq!(outcome.cause, Some(Cause::GradeTooLow));
                assert!(
                    outcome
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
