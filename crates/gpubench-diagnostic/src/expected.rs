//! The interface of errors that users see.

use std::error::Error;

use crate::ExitCode;

/// An error that is shown to a user, with its exit code and a hint.
pub trait Expected: Error {
    /// Returns the exit code of the command.
    fn exit_code(&self) -> ExitCode;

    /// Returns what the user can do about it, as a phrase without a full stop.
    fn hint(&self) -> Option<String> {
        None
    }

    /// Whether the reader of standard output closed it, as in `| head`. This is not an error, and
    /// nothing is printed.
    fn is_broken_pipe(&self) -> bool {
        false
    }
}

/// Returns an error and the chain of its causes on one line.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // A transparent error already shows the text of its source.
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}
