//! Rankings of contests on the terminal.

use super::options::TerminalOptions;
use super::style::{BAD, FAINT, GOOD, PLAIN, TITLE};
use super::table::{GAP, Table};
use crate::contest::{has_won, rank, remarks, subject, value, words};
use gpubench_contract::{ContestComplete, Contestant, Verdict};
use gpubench_diagnostic::layout::width;
use gpubench_diagnostic::printable_line;

/// Returns the rankings of contests, one after the other, and remarks about them. Empty if there
/// are none.
pub(super) fn table(contests: &[ContestComplete], options: TerminalOptions) -> String {
    let tables = contests.iter().map(|contest| contest_table(contest, options));
    let remarks = remarks(contests).into_iter();
    let remarks = remarks.map(|remark| format!("\n{}\n", options.styling.paint(FAINT, &printable_line(&remark))));
    tables.chain(remarks).collect()
}

fn contest_table(contest: &ContestComplete, options: TerminalOptions) -> String {
    let styling = options.styling;
    let widest = contest
        .contestants
        .iter()
        .map(|contestant| width(&rank(contestant)))
        .max();
    let widest = widest.unwrap_or_default();
    let rows = contest.contestants.iter().map(|contestant| {
        let name = format!(
            "  {:<widest$}  {}",
            rank(contestant),
            printable_line(&contestant.name())
        );
        (name, " ".repeat(GAP) + &outcome(contest, contestant, options))
    });
    let rows: Vec<(String, String)> = rows.collect();
    let longest = rows.iter().map(|(_, outcome)| width(outcome)).max().unwrap_or(0);
    let room = options.table_width().saturating_sub(longest);
    let table: Table<()> = Table::new(Vec::new(), rows.iter().map(|(name, _)| width(name)), room, styling);
    let title = styling.paint(TITLE, &printable_line(&contest.reading().label(&contest.problem)));
    let params = printable_line(&contest.params.to_string());
    let about = [params, subject(contest)].into_iter().filter(|part| !part.is_empty());
    let about = styling.paint(FAINT, &about.collect::<Vec<_>>().join(" · "));
    let lines = rows.iter().map(|(name, outcome)| table.row(name, "  ", outcome));
    let remark = contest.remark.as_deref();
    let remark = remark.map(|remark| format!("  {}\n", styling.paint(FAINT, remark)));
    format!(
        "\n{title} {about}\n{}{}",
        lines.collect::<String>(),
        remark.unwrap_or_default()
    )
}

/// Returns the value of a contestant and its ratio to the winner, or how it dropped out.
fn outcome(contest: &ContestComplete, contestant: &Contestant, options: TerminalOptions) -> String {
    let style = match contestant.verdict {
        Verdict::Pass if has_won(contest, contestant) => GOOD,
        verdict if verdict.is_failure() => BAD,
        _ => PLAIN,
    };
    let words = options
        .styling
        .paint(style, &printable_line(&words(contest, contestant)));
    match contest.arguments {
        1 => format!("{:>8}  {words}", value(contest, contestant)),
        _ => words,
    }
}
