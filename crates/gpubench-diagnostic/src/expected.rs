//! Errors a person can act on: how they are told apart and what the command exits with.

use std::error::Error;

use crate::ExitCode;

/// What every error that reaches a person knows beside its text and its causes.
pub trait Expected: Error {
    /// What the command exits with.
    fn exit_code(&self) -> ExitCode;

    /// What the person can do about it: a sentence fragment without a full stop.
    fn hint(&self) -> Option<String> {
        None
    }

    /// Whether a reader of standard output has gone, as in `| head`: then nothing is wrong, and
    /// nobody wants to hear of it.
    fn is_of_a_reader_who_left(&self) -> bool {
        false
    }
}

/// An error and the chain of its causes on one line.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // A transparent error shows its source's text already.
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}
