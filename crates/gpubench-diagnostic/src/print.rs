//! Errors and warnings on standard error, coloured where that is wanted.

use std::fmt::{self, Display};
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::layout::{UNBOUNDED, columns_of, fitted, in_one_line};
use crate::{Expected, printable};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const CAUSE: Style = Style::new().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Prints `warning: …` to standard error.
pub fn print_warning(warning: &dyn Display) {
    let text = after_our_word(&warning.to_string());
    print_to_stderr(&format_args!("{WARNING}warning{WARNING:#}: {text}\n"));
}

/// Prints `error: …` to standard error, for an error that the command goes on after.
pub fn print_error(error: &dyn Display) {
    let text = after_our_word(&error.to_string());
    print_to_stderr(&format_args!("{ERROR}error{ERROR:#}: {text}\n"));
}

/// An error as it is shown: its text, the chain of its causes, its hint, a line or more each.
///
/// The text holds ANSI styles of its own and none of what it quotes; the stream it is written to
/// decides whether they are kept.
pub struct Explanation<'a, E: ?Sized>(pub &'a E);

impl<E: Expected + ?Sized> Display for Explanation<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{ERROR}error{ERROR:#}: {}", after_our_word(&self.0.to_string()))?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            // Other crates' errors may have several lines, some of which look like errors of their
            // own.
            writeln!(f, "{CAUSE}caused by{CAUSE:#}: {}", after_our_word(&error.to_string()))?;
            cause = error.source();
        }
        if let Some(hint) = self.0.hint() {
            writeln!(f, "({HINT}hint{HINT:#}: {})", after_our_word(&hint))?;
        }
        Ok(())
    }
}

/// A text that is safe to print, after a word of the tool's. Only the tool begins a line at the
/// margin.
fn after_our_word(text: &str) -> String {
    let text = printable(text);
    let mut lines = text.split('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| match line.is_empty() || line.starts_with(' ') {
        true => format!("{text}\n{line}"),
        false => format!("{text}\n  {line}"),
    })
}

/// Prints a text for people to standard error, wrapped where that is a terminal.
///
/// Where standard error is closed there is nobody left to tell, so a failed write is no reason to
/// fail.
pub fn print_to_stderr(text: &dyn Display) {
    rewrite_line_of_stderr("");
    let text = fitted(&text.to_string(), columns_of(&io::stderr()));
    let mut stderr = anstream::stderr().lock();
    let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
}

/// Puts a line in the place of what stands in the cursor's line of a terminal, be it an earlier one
/// or the `^C` of a person. The cursor stays at its start, so that whatever is printed next takes
/// its place. Nothing happens where standard error is no terminal.
pub fn rewrite_line_of_stderr(line: &str) {
    let mut stderr = io::stderr().lock();
    let columns = columns_of(&stderr);
    if columns != UNBOUNDED && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb") {
        // A terminal would go on below a line that is full.
        let line = in_one_line(line, columns - 1);
        let _ = write!(stderr, "\r\x1b[K{line}\r").and_then(|()| stderr.flush());
    }
}
