//! Why a case could not be measured.

use crate::clients::{AuthorProblem, RoleFailure};

/// Why a case could not be measured for no fault of its kernels.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The author could not take its buffers.
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
    /// The referee failed.
    #[error("the referee failed")]
    Referee(#[source] RoleFailure),
    /// The user wants the run to end.
    #[error("interrupted")]
    Interrupted,
}

impl MeasureError {
    /// A failure of the referee's own.
    pub(super) fn referee(failure: RoleFailure) -> MeasureError {
        match failure {
            RoleFailure::Interrupted => MeasureError::Interrupted,
            failure => MeasureError::Referee(failure),
        }
    }

    /// A failure of the crate's generator or reference, as `wrap` says which.
    pub(super) fn own_code(wrap: fn(AuthorProblem) -> MeasureError) -> impl Fn(AuthorProblem) -> MeasureError {
        move |problem| match problem {
            AuthorProblem::Role(RoleFailure::Interrupted) => MeasureError::Interrupted,
            problem => wrap(problem),
        }
    }
}
