//! Failures of a measurement.

use crate::clients::{AuthorProblem, RoleFailure};
use crate::provider::ProviderError;

/// Why a case could not be measured. The kernels under test are not to blame.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The author could not map its buffers.
    #[error("the author process cannot take the case")]
    Attach(#[source] AuthorProblem),
    /// The referee could not make the buffers.
    #[error("the referee cannot open the case")]
    Open(#[source] RoleFailure),
    /// The worker could not be started or set up.
    #[error("the worker cannot be set up")]
    Worker(#[source] RoleFailure),
    /// A CPU generator or a generator kernel failed.
    #[error("the input generator failed")]
    Generator(#[source] AuthorProblem),
    /// The reference failed.
    #[error("the reference failed")]
    Reference(#[source] AuthorProblem),
    /// The check failed.
    #[error("the check failed")]
    Check(#[source] AuthorProblem),
    /// The referee failed.
    #[error("the referee failed")]
    Referee(#[source] RoleFailure),
    /// A reference that is a command failed.
    #[error("the reference failed")]
    Provider(#[source] ProviderError),
    /// The inputs or expected outputs of a call could not be handed to the referee.
    #[error("cannot hand the tensors of a call to the referee")]
    Sets {
        /// Why.
        source: std::io::Error,
    },
    /// The user interrupted the run.
    #[error("interrupted")]
    Interrupted,
}

impl MeasureError {
    /// Returns the error for a failure of a command.
    pub(super) fn provider(error: ProviderError) -> MeasureError {
        match error {
            ProviderError::Interrupted => MeasureError::Interrupted,
            error => MeasureError::Provider(error),
        }
    }

    /// Returns the error for a failure of the referee.
    pub(super) fn referee(failure: RoleFailure) -> MeasureError {
        match failure {
            RoleFailure::Interrupted => MeasureError::Interrupted,
            failure => MeasureError::Referee(failure),
        }
    }

    /// Returns the error for a failure while the referee runs code of the crate. The crate's code
    /// is to blame if the referee reports so, or if it does not answer; `silent` then selects the
    /// error.
    pub(super) fn kernels(silent: fn(AuthorProblem) -> MeasureError) -> impl Fn(RoleFailure) -> MeasureError {
        move |failure| match failure {
            RoleFailure::Generator { .. } => MeasureError::Generator(failure.into()),
            RoleFailure::Reference { .. } => MeasureError::Reference(failure.into()),
            RoleFailure::Silent { .. } => silent(failure.into()),
            failure => MeasureError::referee(failure),
        }
    }

    /// Returns the error for a failure of the crate's generator or reference; `wrap` selects which.
    pub(super) fn own_code(wrap: fn(AuthorProblem) -> MeasureError) -> impl Fn(AuthorProblem) -> MeasureError {
        move |problem| match problem {
            AuthorProblem::Role(RoleFailure::Interrupted) => MeasureError::Interrupted,
            problem => wrap(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::{End, RoleName};
    use crate::measurement::CaseFailure;
    use gpubench_contract::Cause;

    #[test]
    fn crate_code_in_the_referee_is_blamed_only_for_its_own_failures() {
        let (role, text) = (RoleName::Referee, String::new);
        let cause = |failure| {
            let error = MeasureError::kernels(MeasureError::Reference)(failure);
            CaseFailure::of_measuring(&error).map(|failure| failure.cause)
        };
        let (end, within) = (End::Killed(9), std::time::Duration::from_secs(1));
        for (failure, expected) in [
            (RoleFailure::Generator { text: text() }, Some(Cause::GeneratorFailed)),
            (RoleFailure::Reference { text: text() }, Some(Cause::ReferenceFailed)),
            (RoleFailure::Silent { role, within }, Some(Cause::ReferenceTimeout)),
            (
                RoleFailure::OutOfMemory { role, text: text() },
                Some(Cause::OutOfMemory),
            ),
            (RoleFailure::Failed { role, text: text() }, Some(Cause::RefereeFailed)),
            (
                RoleFailure::Ended { role, end, log: text() },
                Some(Cause::RefereeFailed),
            ),
            (
                RoleFailure::Ended {
                    role,
                    end: End::OutOfMemory(150 << 20),
                    log: text(),
                },
                Some(Cause::OutOfMemory),
            ),
            (RoleFailure::protocol(role, text()), Some(Cause::RefereeFailed)),
            (RoleFailure::Interrupted, None),
        ] {
            let message = failure.to_string();
            assert_eq!(cause(failure), expected, "{message}");
        }
    }
}
