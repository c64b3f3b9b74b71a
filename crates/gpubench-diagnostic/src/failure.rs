//! Errors that stop a command.

use std::error::Error;
use std::fmt;
use std::ops::Deref;

use thiserror::Error;

use crate::{ExitCode, Expected, Explanation, print_to_stderr};

/// Any error that stops a command. `?` converts every [`Expected`] error to it.
#[derive(Debug)]
pub struct Failure(Box<dyn Expected + Send + Sync>);

impl Failure {
    /// Returns the error, for use as the cause of another.
    pub fn as_error(&self) -> &(dyn Error + 'static) {
        &*self.0
    }

    /// Prints the error, its causes and its hint to standard error, with color if enabled.
    ///
    /// Prints nothing if the reader of standard output closed it (`| head`).
    pub fn print(&self) {
        if !self.0.is_broken_pipe() {
            print_to_stderr(&Explanation(&*self.0));
        }
    }
}

impl<E: Expected + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl Deref for Failure {
    type Target = dyn Expected + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A signal interrupted the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("interrupted")]
pub struct Interrupted;

impl Expected for Interrupted {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Interrupted
    }
}

/// A requirement of the machine is missing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct SetupMissing {
    /// What is missing.
    pub what: String,
    /// What the user can do.
    pub hint: String,
}

impl Expected for SetupMissing {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        Some(self.hint.clone())
    }
}

/// A bug in the tool.
#[derive(Debug, Error)]
#[error("internal error: {what}")]
pub struct InternalError {
    what: &'static str,
    source: Box<dyn Error + Send + Sync>,
}

impl InternalError {
    /// Wraps the reason why `what` failed.
    pub fn because<E: Into<Box<dyn Error + Send + Sync>>>(what: &'static str) -> impl FnOnce(E) -> InternalError {
        move |source| InternalError {
            what,
            source: source.into(),
        }
    }
}

impl Expected for InternalError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Internal
    }

    fn hint(&self) -> Option<String> {
        Some("this is a bug in `cargo gpubench`; please report it".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn plain(failure: &Failure) -> String {
        anstream::adapter::strip_str(&Explanation(&**failure).to_string()).to_string()
    }

    #[test]
    fn an_error_shows_its_causes_and_its_hint() {
        let no_device = io::Error::new(io::ErrorKind::NotFound, "no such device");
        let failure = Failure::from(InternalError::because("no entropy")(no_device));
        insta::assert_snapshot!(plain(&failure), @r"
        error: internal error: no entropy
        caused by: no such device
        (hint: this is a bug in `cargo gpubench`; please report it)
        ");
        assert_eq!(failure.exit_code(), ExitCode::Internal);
    }

    #[test]
    fn quoted_text_in_an_error_cannot_move_the_cursor() {
        let error = SetupMissing {
            what: "`evil\x1b[2J` is missing".to_owned(),
            hint: "get `evil\x1b]0;title\x07\r`".to_owned(),
        };
        let shown = Explanation(&error).to_string();
        assert!(
            !shown.contains("\x1b[2J") && !shown.contains("\x1b]0") && !shown.contains(['\r', '\x07']),
            "{shown:?}"
        );
    }

    #[test]
    fn only_lines_of_the_tool_start_at_the_margin() {
        let error = SetupMissing {
            what: "nothing works\nerror: not the tool's\n  note: indented\n\nwarning: neither".to_owned(),
            hint: "try\nhint: something else".to_owned(),
        };
        insta::assert_snapshot!(plain(&error.into()), @r"
        error: nothing works
          error: not the tool's
          note: indented

          warning: neither
        (hint: try
          hint: something else)
        ");
    }

    #[test]
    fn the_text_of_an_error_contains_styles() {
        assert!(Explanation(&Interrupted).to_string().contains("\u{1b}["));
    }
}
