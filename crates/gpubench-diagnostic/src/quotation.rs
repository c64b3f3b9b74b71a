//! Words of user code in messages of the tool.

use crate::printable;

/// Stands before each line, so that nothing that user code prints is taken for words of the tool.
const INDENT: &str = "    ";

/// What a process printed, line by line behind an indent; blank lines are left out.
pub fn quoted(printed: &str) -> String {
    let printed = printable(printed);
    let lines = printed.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines
        .map(|line| format!("{INDENT}{line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// What a process says, to stand behind the tool's own words: a further line stands behind an
/// indent, also where it only shows as one.
pub fn continued(said: &str) -> String {
    let said = printable(said);
    let mut lines = said.lines();
    let first = lines.next().unwrap_or_default();
    lines.fold(first.to_owned(), |text, line| format!("{text}\n{INDENT}{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_a_reader_sees_is_indented() {
        assert_eq!(
            quoted("x[0] = 1\n\n\nrun it alone: rm\r\nat\u{2028}last\n"),
            "    x[0] = 1\n    run it alone: rm\n    at\n    last"
        );
        assert_eq!(quoted(" \n"), "");
    }

    #[test]
    fn what_is_said_behind_the_first_line_is_indented() {
        assert_eq!(
            continued("it is 1\n left: 1\u{2029}run it alone: rm\n"),
            "it is 1\n     left: 1\n    run it alone: rm"
        );
        assert_eq!(continued("one line"), "one line");
        assert_eq!(continued(""), "");
    }
}
