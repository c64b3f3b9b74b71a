//! Verdicts of cases that could not be measured.

use super::error::MeasureError;
use crate::clients::{AuthorProblem, End, RoleFailure};
use crate::provider::ProviderError;
use gpubench_contract::{Cause, Verdict};
use gpubench_diagnostic::quoted;
use gpubench_protocol::wire::AuthorFailure;

const GENERATOR: &str = "the input generator failed";
const REFERENCE: &str = "the reference failed";
const CHECK: &str = "the check failed";

/// Why a case was not measured completely, for its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFailure {
    /// The verdict.
    pub verdict: Verdict,
    /// The cause.
    pub cause: Cause,
    /// The message.
    pub message: String,
}

impl CaseFailure {
    /// Returns an `error`, which blames no kernel.
    pub fn error(cause: Cause, message: impl Into<String>) -> CaseFailure {
        CaseFailure {
            verdict: Verdict::Error,
            cause,
            message: message.into(),
        }
    }

    /// Returns the result of a case that skips itself.
    pub fn skipped(reason: impl Into<String>) -> CaseFailure {
        CaseFailure {
            verdict: Verdict::Skipped,
            ..CaseFailure::error(Cause::NotApplicable, reason)
        }
    }

    /// Returns a failure of the user's host code, with the last output of its process if it died.
    pub fn author(cause: Cause, problem: &AuthorProblem) -> CaseFailure {
        let message = match problem {
            AuthorProblem::Refused {
                failure: AuthorFailure::Panicked,
                message,
            } => format!("it panicked: {message}"),
            AuthorProblem::Role(RoleFailure::Ended { log, .. }) if !log.is_empty() => {
                format!(
                    "{}; it last wrote:\n{}",
                    gpubench_diagnostic::chain(problem),
                    quoted(log)
                )
            }
            AuthorProblem::Role(RoleFailure::Silent { within, .. }) => {
                let code = match cause {
                    Cause::RecordingTimeout => "your benchmark function",
                    Cause::GeneratorTimeout => "your generator",
                    Cause::ReferenceTimeout => "your reference",
                    _ => "your code",
                };
                format!(
                    "{code} did not return within {} (hint: raise `--reference-timeout`; `--timeout` limits only calls of kernels)",
                    humantime::format_duration(*within)
                )
            }
            problem => gpubench_diagnostic::chain(problem),
        };
        CaseFailure::error(cause, message)
    }

    /// Returns the failure for a case that could not be measured; `None` if the user interrupted.
    pub fn of_measuring(error: &MeasureError) -> Option<CaseFailure> {
        let own_code = |problem: &AuthorProblem, failed: Cause, timed_out: Cause, what: &str| {
            let is_silent = matches!(problem, AuthorProblem::Role(RoleFailure::Silent { .. }));
            let cause = if is_silent { timed_out } else { failed };
            CaseFailure::author(cause, problem).prefixed(what)
        };
        Some(match error {
            MeasureError::Interrupted
            | MeasureError::Open(RoleFailure::Interrupted)
            | MeasureError::Worker(RoleFailure::Interrupted)
            | MeasureError::Attach(AuthorProblem::Role(RoleFailure::Interrupted)) => return None,
            MeasureError::Open(RoleFailure::Generator { text }) => {
                CaseFailure::error(Cause::GeneratorFailed, text).prefixed(GENERATOR)
            }
            MeasureError::Open(RoleFailure::Reference { text }) => {
                CaseFailure::error(Cause::ReferenceFailed, text).prefixed(REFERENCE)
            }
            MeasureError::Generator(problem) => {
                own_code(problem, Cause::GeneratorFailed, Cause::GeneratorTimeout, GENERATOR)
            }
            MeasureError::Reference(problem) => {
                own_code(problem, Cause::ReferenceFailed, Cause::ReferenceTimeout, REFERENCE)
            }
            MeasureError::Check(problem) => own_code(problem, Cause::ReferenceFailed, Cause::ReferenceTimeout, CHECK),
            MeasureError::Provider(problem) => {
                let cause = match problem {
                    ProviderError::Silent { .. } => Cause::ReferenceTimeout,
                    _ => Cause::ReferenceFailed,
                };
                CaseFailure::error(cause, gpubench_diagnostic::chain(problem)).prefixed(REFERENCE)
            }
            MeasureError::Sets { .. } => CaseFailure::error(Cause::ReferenceFailed, gpubench_diagnostic::chain(error)),
            MeasureError::Open(RoleFailure::OutOfMemory { .. })
            | MeasureError::Worker(RoleFailure::OutOfMemory { .. })
            | MeasureError::Referee(RoleFailure::OutOfMemory { .. })
            | MeasureError::Open(RoleFailure::Ended {
                end: End::OutOfMemory(_),
                ..
            })
            | MeasureError::Worker(RoleFailure::Ended {
                end: End::OutOfMemory(_),
                ..
            })
            | MeasureError::Referee(RoleFailure::Ended {
                end: End::OutOfMemory(_),
                ..
            }) => {
                let hint = "(hint: choose a smaller size with `--axis`)";
                CaseFailure::error(
                    Cause::OutOfMemory,
                    format!("{} {hint}", gpubench_diagnostic::chain(error)),
                )
            }
            MeasureError::Referee(_) | MeasureError::Open(_) => {
                CaseFailure::error(Cause::RefereeFailed, gpubench_diagnostic::chain(error))
            }
            MeasureError::Attach(_) => CaseFailure::error(Cause::AuthorFailed, gpubench_diagnostic::chain(error)),
            MeasureError::Worker(RoleFailure::Plan { text }) => CaseFailure::error(Cause::PlanInvalid, text.clone()),
            MeasureError::Worker(RoleFailure::ObserverEnded { log, .. }) => {
                let message = if log.is_empty() {
                    gpubench_diagnostic::chain(error)
                } else {
                    format!("{}; it last wrote:\n{}", gpubench_diagnostic::chain(error), quoted(log))
                };
                CaseFailure::error(Cause::ObserverFailed, message)
            }
            MeasureError::Worker(_) => CaseFailure::error(Cause::WorkerFailed, gpubench_diagnostic::chain(error)),
        })
    }

    fn prefixed(self, what: &str) -> CaseFailure {
        CaseFailure {
            message: format!("{what}: {}", self.message),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clients::RoleName;

    fn ended(end: End) -> RoleFailure {
        RoleFailure::Ended {
            role: RoleName::Worker,
            end,
            log: "last words".to_owned(),
        }
    }

    fn silent() -> RoleFailure {
        RoleFailure::Silent {
            role: RoleName::Author,
            within: Duration::from_secs(3),
        }
    }

    fn memory() -> RoleFailure {
        RoleFailure::OutOfMemory {
            role: RoleName::Worker,
            text: "1 GiB do not fit".to_owned(),
        }
    }

    fn plan() -> RoleFailure {
        RoleFailure::Plan {
            text: "no plan".to_owned(),
        }
    }

    fn panicked() -> AuthorProblem {
        AuthorProblem::Refused {
            failure: AuthorFailure::Panicked,
            message: "it was odd".to_owned(),
        }
    }

    #[test]
    fn an_interrupted_measurement_is_no_failure_of_the_case() {
        for error in [
            MeasureError::Interrupted,
            MeasureError::Open(RoleFailure::Interrupted),
            MeasureError::Worker(RoleFailure::Interrupted),
            MeasureError::Attach(RoleFailure::Interrupted.into()),
        ] {
            assert_eq!(CaseFailure::of_measuring(&error), None, "{error:?}");
        }
    }

    #[test]
    fn each_error_of_a_measurement_has_its_cause() {
        let text = || "it failed".to_owned();
        let oom = || ended(End::OutOfMemory(1 << 30));
        let observer = RoleFailure::ObserverEnded {
            observer: "ncu".to_owned(),
            end: End::Exited(1),
            log: "no rights".to_owned(),
        };
        for (error, cause, beginning) in [
            (
                MeasureError::Open(RoleFailure::Generator { text: text() }),
                Cause::GeneratorFailed,
                "the input generator failed: it failed",
            ),
            (
                MeasureError::Open(RoleFailure::Reference { text: text() }),
                Cause::ReferenceFailed,
                "the reference failed: it failed",
            ),
            (
                MeasureError::Generator(panicked()),
                Cause::GeneratorFailed,
                "the input generator failed: it panicked: it was odd",
            ),
            (
                MeasureError::Generator(silent().into()),
                Cause::GeneratorTimeout,
                "the input generator failed: your generator did not return within 3s",
            ),
            (
                MeasureError::Reference(panicked()),
                Cause::ReferenceFailed,
                "the reference failed: it panicked: it was odd",
            ),
            (
                MeasureError::Reference(silent().into()),
                Cause::ReferenceTimeout,
                "the reference failed: your reference did not return within 3s",
            ),
            (
                MeasureError::Open(memory()),
                Cause::OutOfMemory,
                "the referee cannot open",
            ),
            (
                MeasureError::Worker(memory()),
                Cause::OutOfMemory,
                "the worker cannot be set up",
            ),
            (
                MeasureError::Referee(memory()),
                Cause::OutOfMemory,
                "the referee failed",
            ),
            (MeasureError::Open(oom()), Cause::OutOfMemory, "the referee cannot open"),
            (
                MeasureError::Worker(oom()),
                Cause::OutOfMemory,
                "the worker cannot be set up",
            ),
            (MeasureError::Referee(oom()), Cause::OutOfMemory, "the referee failed"),
            (
                MeasureError::Open(plan()),
                Cause::RefereeFailed,
                "the referee cannot open",
            ),
            (
                MeasureError::Referee(ended(End::Exited(1))),
                Cause::RefereeFailed,
                "the referee failed",
            ),
            (
                MeasureError::Attach(panicked()),
                Cause::AuthorFailed,
                "the author process cannot",
            ),
            (MeasureError::Worker(plan()), Cause::PlanInvalid, "no plan"),
            (
                MeasureError::Worker(observer),
                Cause::ObserverFailed,
                "the worker cannot be set up",
            ),
            (
                MeasureError::Worker(ended(End::Exited(1))),
                Cause::WorkerFailed,
                "the worker cannot be set up",
            ),
        ] {
            let failure = CaseFailure::of_measuring(&error).unwrap();
            assert_eq!((failure.verdict, failure.cause), (Verdict::Error, cause), "{error:?}");
            assert!(failure.message.starts_with(beginning), "{}", failure.message);
        }
    }

    #[test]
    fn a_process_of_the_author_or_the_observer_that_ends_is_shown_with_what_it_last_wrote() {
        let observer = |log: &str| {
            let failure = RoleFailure::ObserverEnded {
                observer: "ncu".to_owned(),
                end: End::Exited(1),
                log: log.to_owned(),
            };
            CaseFailure::of_measuring(&MeasureError::Worker(failure))
                .unwrap()
                .message
        };
        let author = |log: &str| {
            let failure = RoleFailure::Ended {
                role: RoleName::Author,
                end: End::Exited(1),
                log: log.to_owned(),
            };
            CaseFailure::author(Cause::RecordingFailed, &failure.into()).message
        };
        for message in [observer("last words"), author("last words")] {
            let (_, log) = message.split_once("; it last wrote:\n").unwrap();
            assert!(log.contains("last words"), "{message}");
        }
        for message in [observer(""), author("")] {
            assert!(!message.contains("it last wrote"), "{message}");
        }
    }

    #[test]
    fn code_of_the_author_that_does_not_return_is_named() {
        for (cause, code) in [
            (Cause::RecordingTimeout, "your benchmark function"),
            (Cause::GeneratorTimeout, "your generator"),
            (Cause::ReferenceTimeout, "your reference"),
            (Cause::AuthorFailed, "your code"),
        ] {
            let message = CaseFailure::author(cause, &silent().into()).message;
            assert!(
                message.starts_with(&format!("{code} did not return within 3s (hint: raise")),
                "{message}"
            );
        }
    }
}
