//! Below a comparison of counts: the functions that execute more or fewer instructions.

use super::options::TerminalOptions;
use super::style::TITLE;
use crate::wording::{function_change, further_functions, machine_code_change, shown_machine_code};
use gpubench_contract::ComparisonRow;
use gpubench_contract::units::counted;
use gpubench_diagnostic::printable_line;

/// The largest number of cases with their functions.
const CASES_SHOWN: usize = 10;

/// Returns the largest changes of functions, for the first rows that have some.
pub(super) fn functions(rows: &[&ComparisonRow], options: TerminalOptions) -> String {
    let mut changed = rows.iter().filter(|row| !row.largest_functions().0.is_empty());
    let shown: String = changed
        .by_ref()
        .take(CASES_SHOWN)
        .map(|row| of_case(row, options))
        .collect();
    match changed.count() {
        0 => shown,
        more => format!("{shown}\nnot shown: the functions of {}\n", counted(more, "case")),
    }
}

fn of_case(row: &ComparisonRow, options: TerminalOptions) -> String {
    let (largest, more) = row.largest_functions();
    let functions = largest.iter().map(function_change).chain(further_functions(more));
    let lines = functions.chain(shown_machine_code(row).map(machine_code_change));
    let lines: String = lines.map(|line| format!("  {}\n", printable_line(&line))).collect();
    let case = options.styling.paint(TITLE, &printable_line(&row.label()));
    format!("\n{case}\n{lines}")
}
