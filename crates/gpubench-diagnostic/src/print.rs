//! Errors and warnings on standard error, coloured where that is wanted.

use std::fmt::{self, Display};
use std::io::Write;

use anstyle::{AnsiColor, Style};

use crate::{Expected, printable};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const CAUSE: Style = Style::new().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Prints `warning: …` to standard error.
pub fn print_warning(warning: &dyn Display) {
    let text = printable(&warning.to_string());
    print_to_stderr(&format_args!("{WARNING}warning{WARNING:#}: {text}\n"));
}

/// Prints `error: …` to standard error, for an error that the command goes on after.
pub fn print_error(error: &dyn Display) {
    let text = printable(&error.to_string());
    print_to_stderr(&format_args!("{ERROR}error{ERROR:#}: {text}\n"));
}

/// An error as it is shown: its text, the chain of its causes, its hint, a line or more each.
///
/// The text holds ANSI styles of its own and none of what it quotes; the stream it is written to decides whether they are kept.
pub struct Explanation<'a, E: ?Sized>(pub &'a E);

impl<E: Expected + ?Sized> Display for Explanation<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{ERROR}error{ERROR:#}: {}", printable(&self.0.to_string()))?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            // Other crates' errors may have several lines, some of which look like errors of their own.
            writeln!(
                f,
                "{CAUSE}caused by{CAUSE:#}: {}",
                printable(&error.to_string()).replace('\n', "\n  ")
            )?;
            cause = error.source();
        }
        if let Some(hint) = self.0.hint() {
            writeln!(f, "({HINT}hint{HINT:#}: {})", printable(&hint))?;
        }
        Ok(())
    }
}

/// Where standard error is closed there is nobody left to tell, so a failed write is no reason to fail.
pub fn print_to_stderr(text: &dyn Display) {
    let mut stderr = anstream::stderr().lock();
    let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
}
