//! Verdicts of cases that could not be measured.

use super::error::MeasureError;
use crate::clients::{AuthorProblem, End, RoleFailure};
use gpubench_contract::{Cause, Verdict};
use gpubench_diagnostic::quoted;
use gpubench_protocol::wire::AuthorFailure;

const GENERATOR: &str = "the input generator failed";
const REFERENCE: &str = "the reference failed";

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
