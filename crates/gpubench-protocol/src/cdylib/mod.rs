//! A user's cdylib in the process of a role: loading it, and calling the functions of its table. Authors hold one, and the workers of hosted benchmarks; broker and
//! referee never do, since its constructors would run there.

mod library;

pub use library::{HostedBenchmark, Library, Recorded};

use crate::wire::AuthorFailure;

/// Why a cdylib could not be used, or a function of it did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LibraryError {
    /// Whose fault it is.
    pub failure: AuthorFailure,
    /// What happened.
    pub message: String,
}

impl LibraryError {
    fn new(failure: AuthorFailure, message: impl Into<String>) -> LibraryError {
        LibraryError {
            failure,
            message: message.into(),
        }
    }
}
