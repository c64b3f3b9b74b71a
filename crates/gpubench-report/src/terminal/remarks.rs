//! Remarks below the table.

use super::options::TerminalOptions;
use super::style::DOUBTFUL;
use crate::remarks::{Remarks, named};
use gpubench_diagnostic::printable_line;

/// Returns the remarks as lines. Empty if there are none.
pub(super) fn below_the_table(remarks: &Remarks, options: TerminalOptions) -> String {
    let lines = remarks.iter().map(|(remark, cases)| {
        let line = format!("{} ({})", printable_line(remark), named(cases, printable_line));
        format!("\n{}", noted(&line, options))
    });
    lines.collect()
}

/// Returns a remark after its sign.
pub(super) fn noted(text: &str, options: TerminalOptions) -> String {
    format!("{} {text}\n", options.styling.paint(DOUBTFUL, "!"))
}
