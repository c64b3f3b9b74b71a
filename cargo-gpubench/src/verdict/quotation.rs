//! What a process of user code printed, as a message repeats it.

use crate::printable::printable;

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
}
