//! The author process: the only one that runs user host code. It lists benchmarks, records plans, generates CPU inputs and computes CPU references.
//!
//! `attached` is the buffers of the open case, `own_kernels` what runs the kernels of generators and references where they are native code,
//! `process` takes the broker's orders.

mod attached;
mod own_kernels;
mod process;

pub use process::serve;

use crate::cdylib::LibraryError;
use crate::wire::{AuthorFailure, ChannelError};

/// Why the author could not carry out an order.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct AuthorError {
    /// Whose fault it is.
    pub failure: AuthorFailure,
    /// What happened.
    pub message: String,
}

impl AuthorError {
    fn new(failure: AuthorFailure, message: impl Into<String>) -> AuthorError {
        AuthorError {
            failure,
            message: message.into(),
        }
    }

    fn internal(error: &dyn std::error::Error) -> AuthorError {
        AuthorError::new(AuthorFailure::Internal, gpubench_diagnostic::chain(error))
    }
}

impl From<ChannelError> for AuthorError {
    fn from(error: ChannelError) -> AuthorError {
        AuthorError::internal(&error)
    }
}

impl From<LibraryError> for AuthorError {
    fn from(error: LibraryError) -> AuthorError {
        AuthorError::new(error.failure, error.message)
    }
}
