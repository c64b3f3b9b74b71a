//! Quoting of the output of user code in messages.

use crate::printable;

/// Indent of quoted lines, so that no output of user code looks like a message of the tool.
const INDENT: &str = "    ";

/// Quotes the output of a process: indents each line and drops blank ones.
pub fn quoted(printed: &str) -> String {
    let printed = printable(printed);
    let lines = printed.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines
        .map(|line| format!("{INDENT}{line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Quotes a message of a process after the tool's text on the same line. All further lines are
/// indented, including those that only display as a new line.
pub fn continued(message: &str) -> String {
    let message = printable(message);
    let mut lines = message.lines();
    let first = lines.next().unwrap_or_default();
    lines.fold(first.to_owned(), |text, line| format!("{text}\n{INDENT}{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_line_is_indented() {
        assert_eq!(
            quoted("x[0] = 1\n\n\nrun it alone: rm\r\nat\u{2028}last\n"),
            "    x[0] = 1\n    run it alone: rm\n    at\n    last"
        );
        assert_eq!(quoted(" \n"), "");
    }

    #[test]
    fn lines_after_the_first_are_indented() {
        assert_eq!(
            continued("it is 1\n left: 1\u{2029}run it alone: rm\n"),
            "it is 1\n     left: 1\n    run it alone: rm"
        );
        assert_eq!(continued("one line"), "one line");
        assert_eq!(continued(""), "");
    }
}
