//! Remarks on cases, below the table.

use super::TerminalOptions;
use super::style::DOUBTFUL;
use crate::remarks::{Remarks, named};
use gpubench_diagnostic::printable_line;

/// Remarks as lines; nothing where there are none.
pub(super) fn below_the_table(remarks: &Remarks, options: TerminalOptions) -> String {
    let lines = remarks.iter().map(|(remark, cases)| {
        let said = format!("{} ({})", printable_line(remark), named(cases, printable_line));
        format!("\n{}", noted(&said, options))
    });
    lines.collect()
}

/// Something to know, after a sign.
pub(super) fn noted(text: &str, options: TerminalOptions) -> String {
    format!("{} {text}\n", options.styling.paint(DOUBTFUL, "!"))
}
