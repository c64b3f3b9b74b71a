//! Printing of errors and warnings to standard error, with color if enabled.

use std::fmt::{self, Display};
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::layout::{UNBOUNDED, columns_of, fitted, in_one_line};
use crate::{CommandMarks, Expected, printable};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const CAUSE: Style = Style::new().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Prints `warning: …` to standard error.
pub fn print_warning(warning: &dyn Display) {
    let text = after_label(&warning.to_string());
    print_to_stderr(&format_args!("{WARNING}warning{WARNING:#}: {text}\n"));
}

/// Prints `error: …` to standard error, for an error after which the command continues.
pub fn print_error(error: &dyn Display) {
    let text = after_label(&error.to_string());
    print_to_stderr(&format_args!("{ERROR}error{ERROR:#}: {text}\n"));
}

/// Displays an error: its text, the chain of its causes and its hint, each on a separate line.
///
/// The text contains the tool's ANSI styles but none from quoted text. The output stream decides
/// whether to keep them.
pub struct Explanation<'a, E: ?Sized>(pub &'a E);

impl<E: Expected + ?Sized> Display for Explanation<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{ERROR}error{ERROR:#}: {}", after_label(&self.0.to_string()))?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            // Errors of other crates can have several lines, and some of them look like separate
            // errors.
            writeln!(f, "{CAUSE}caused by{CAUSE:#}: {}", after_label(&error.to_string()))?;
            cause = error.source();
        }
        if let Some(hint) = self.0.hint() {
            writeln!(f, "({HINT}hint{HINT:#}: {})", after_label(&hint))?;
        }
        Ok(())
    }
}

/// Makes a text safe to print after `error:` or a similar label. Continuation lines are indented,
/// so that only the tool's own lines start at the margin.
fn after_label(text: &str) -> String {
    let text = printable(text);
    let mut lines = text.split('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| {
        if line.is_empty() || line.starts_with(' ') {
            format!("{text}\n{line}")
        } else {
            format!("{text}\n  {line}")
        }
    })
}

/// Prints a text to standard error, wrapped if that is a terminal. Marks commands of CI systems
/// ([`CommandMarks`]).
///
/// Ignores write errors: if standard error is closed, nobody can read a message about it.
pub fn print_to_stderr(text: &dyn Display) {
    rewrite_line_of_stderr("");
    let text = fitted(&text.to_string(), columns_of(&io::stderr()));
    let text = CommandMarks::default().mark(&text);
    let mut stderr = anstream::stderr().lock();
    let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
}

/// Replaces the current line of a terminal on standard error, such as an earlier progress line or
/// the `^C` of the user. The cursor stays at the start, so that the next output replaces the line.
/// Does nothing if standard error is not a terminal.
pub fn rewrite_line_of_stderr(line: &str) {
    let mut stderr = io::stderr().lock();
    let columns = columns_of(&stderr);
    if columns != UNBOUNDED && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb") {
        // A full line would make the terminal move to the next one.
        let line = in_one_line(line, columns - 1);
        let _ = write!(stderr, "\r\x1b[K{line}\r").and_then(|()| stderr.flush());
    }
}
