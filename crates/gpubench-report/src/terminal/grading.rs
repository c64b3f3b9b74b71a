//! The scores of submissions on the terminal.

use super::options::TerminalOptions;
use super::style::{BAD, FAINT, GOOD, PLAIN, TITLE};
use super::table::{GAP, Table};
use crate::grading::{Optional, failure, interval, no_sol_score, optional, rank, remarks, subject, tables, value};
use gpubench_contract::ProblemComplete;
use gpubench_diagnostic::layout::width;
use gpubench_diagnostic::printable_line;

/// Returns the scores of each problem. Empty if there are no submissions.
pub(super) fn table(graded: &[ProblemComplete], options: TerminalOptions) -> String {
    tables(graded).iter().map(|table| of_problem(table, options)).collect()
}

fn of_problem(graded: &[&ProblemComplete], options: TerminalOptions) -> String {
    let styling = options.styling;
    let widest = |of: fn(&ProblemComplete) -> String| graded.iter().map(|one| width(&of(one))).max().unwrap_or(0);
    let (ranks, values, intervals) = (widest(rank), widest(value), widest(interval));
    let optional: Vec<(usize, Optional)> = optional(graded).into_iter().map(|one| (widest(one.1), one)).collect();
    let rows: Vec<(String, String)> = graded
        .iter()
        .map(|one| {
            let name = format!("  {:<ranks$}  {}", rank(one), printable_line(&one.submission));
            let outcome = match failure(one) {
                Some(failure) => styling.paint(BAD, &printable_line(&failure)),
                None => {
                    let style = match (one.rank, one.ties.is_empty()) {
                        (Some(1), true) => GOOD,
                        _ => PLAIN,
                    };
                    let further: String = optional.iter().map(|figure| further(one, figure)).collect();
                    let figures = format!("{:>values$}  {:>intervals$}{further}", value(one), interval(one));
                    styling.paint(style, figures.trim_end())
                }
            };
            (name, " ".repeat(GAP) + &outcome)
        })
        .collect();
    let longest = rows.iter().map(|(_, outcome)| width(outcome)).max().unwrap_or(0);
    let room = options.table_width().saturating_sub(longest);
    let table: Table<()> = Table::new(Vec::new(), rows.iter().map(|(name, _)| width(name)), room, styling);
    let title = styling.paint(TITLE, &printable_line(&graded[0].reading().label(&graded[0].problem)));
    let lines = rows.iter().zip(graded).map(|((name, outcome), one)| {
        let indent = " ".repeat(ranks + 4);
        let remarks = remarks(one).map(|remarks| styling.paint(FAINT, &printable_line(&remarks)));
        let below = remarks
            .map(|remarks| format!("{indent}{remarks}\n"))
            .unwrap_or_default();
        table.row(name, "  ", outcome) + &below
    });
    let why = no_sol_score(graded).map(|why| format!("  {}\n", styling.paint(FAINT, &why)));
    format!(
        "\n{title} {}\n{}{}",
        styling.paint(FAINT, &subject(graded)),
        lines.collect::<String>(),
        why.unwrap_or_default()
    )
}

/// Returns a figure that not all submissions have. One without a unit has its name.
fn further(one: &ProblemComplete, (width, (title, figure)): &(usize, Optional)) -> String {
    let text = figure(one);
    let name = match text.contains(' ') || text.is_empty() {
        true => String::new(),
        false => format!("{title} "),
    };
    format!("  {name}{text:>width$}")
}
