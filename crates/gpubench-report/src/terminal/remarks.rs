//! Remarks on cases, below the table.

use super::style::{DOUBTFUL, Styling};
use super::text::{width, wrapped};
use crate::remarks::{Remarks, named};
use gpubench_diagnostic::printable_line;

/// Remarks as lines of at most `line` columns; nothing where there are none.
pub(super) fn below_the_table(remarks: &Remarks, line: usize, styling: Styling) -> String {
    let sign = styling.paint(DOUBTFUL, "!");
    let mut text = String::new();
    for (remark, cases) in remarks.iter() {
        let said = format!("{} ({})", printable_line(remark), named(cases, printable_line));
        let lines = wrapped(&said, line.saturating_sub(width("! ")));
        text.extend(["\n", &sign, " ", &lines.join("\n  "), "\n"]);
    }
    text
}
