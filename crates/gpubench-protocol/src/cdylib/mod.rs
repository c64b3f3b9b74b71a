//! A user's cdylib in the process of a role: loading it, and calling the functions of its table. Authors hold one, and the workers of hosted benchmarks; broker and
//! referee never do, since its constructors would run there.

mod library;

pub use library::{HostedBenchmark, Library, Recorded};

/// Why a cdylib could not be used, or a function of it did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LibraryError {
    /// Whose fault it is.
    pub failure: LibraryFailure,
    /// What happened.
    pub message: String,
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryFailure {
    /// The library's: it cannot be loaded, or is not of this version.
    Unusable,
    /// The library's: it has no benchmarks.
    NoBenchmarks,
    /// The user's function returned an error.
    Returned,
    /// The user's function panicked.
    Panicked,
}

impl LibraryError {
    fn new(failure: LibraryFailure, message: impl Into<String>) -> LibraryError {
        LibraryError {
            failure,
            message: message.into(),
        }
    }
}
