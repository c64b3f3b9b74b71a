//! A user's cdylib in the process of a role. Authors and hosted workers load one. Broker and
//! referee never do, because its constructors would run there.

mod library;

pub use library::{HostedBenchmark, Library, Recorded};

use crate::wire::{AuthorFailure, ChannelError};

/// Why a cdylib could not be used, a function of it failed, or the author could not carry out an
/// order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AuthorError {
    /// The kind of failure.
    pub failure: AuthorFailure,
    /// The message.
    pub message: String,
}

impl AuthorError {
    pub(crate) fn new(failure: AuthorFailure, message: impl Into<String>) -> AuthorError {
        AuthorError {
            failure,
            message: message.into(),
        }
    }

    pub(crate) fn internal(error: &dyn std::error::Error) -> AuthorError {
        AuthorError::new(AuthorFailure::Internal, gpubench_diagnostic::chain(error))
    }
}

impl From<ChannelError> for AuthorError {
    fn from(error: ChannelError) -> AuthorError {
        AuthorError::internal(&error)
    }
}
