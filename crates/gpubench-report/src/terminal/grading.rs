//! The scores of submissions on the terminal.

use super::options::TerminalOptions;
use super::style::{BAD, FAINT, GOOD, PLAIN, TITLE};
use super::table::{GAP, Table};
use crate::grading::{rank, subject, tables, value, words};
use gpubench_contract::ProblemComplete;
use gpubench_diagnostic::layout::width;
use gpubench_diagnostic::printable_line;

/// Returns the scores of each problem. Empty if no submission has one, as in a test.
pub(super) fn table(graded: &[ProblemComplete], options: TerminalOptions) -> String {
    let tables = tables(graded);
    let scored = tables
        .iter()
        .filter(|table| table.iter().any(|one| one.score.is_some()));
    scored.map(|table| of_problem(table, options)).collect()
}

fn of_problem(graded: &[&ProblemComplete], options: TerminalOptions) -> String {
    let styling = options.styling;
    let widest = graded.iter().map(|one| width(&rank(one))).max().unwrap_or_default();
    let longest_value = graded.iter().map(|one| width(&value(one))).max().unwrap_or_default();
    let rows = graded.iter().map(|one| {
        let name = format!("  {:<widest$}  {}", rank(one), printable_line(&one.submission));
        let style = match (one.rank, one.ties.is_empty()) {
            (Some(1), true) => GOOD,
            (None, _) => BAD,
            _ => PLAIN,
        };
        let words = styling.paint(style, &printable_line(&words(one)));
        (
            name,
            format!("{}{:>longest_value$}  {words}", " ".repeat(GAP), value(one)),
        )
    });
    let rows: Vec<(String, String)> = rows.collect();
    let longest = rows.iter().map(|(_, outcome)| width(outcome)).max().unwrap_or(0);
    let room = options.table_width().saturating_sub(longest);
    let table: Table<()> = Table::new(Vec::new(), rows.iter().map(|(name, _)| width(name)), room, styling);
    let title = styling.paint(TITLE, &printable_line(&graded[0].reading().label(&graded[0].problem)));
    let lines = rows.iter().map(|(name, outcome)| table.row(name, "  ", outcome));
    format!(
        "\n{title} {}\n{}",
        styling.paint(FAINT, &subject(graded)),
        lines.collect::<String>()
    )
}
