//! Implementations of one problem side by side.

use super::TerminalOptions;
use super::style::{FAINT, GOOD, Styling, TITLE};
use super::table::{GAP, Table};
use crate::contest::{Contest, Contests, Ranked, Standing};
use gpubench_contract::Metric;
use gpubench_diagnostic::layout::width;
use gpubench_diagnostic::printable_line;

/// A ranking for every contest; nothing where there is none.
pub(super) fn table(contests: &Contests, options: TerminalOptions) -> String {
    contests
        .held()
        .iter()
        .map(|contest| ranking(contest, options))
        .collect()
}

fn ranking(contest: &Contest<'_>, options: TerminalOptions) -> String {
    let styling = options.styling;
    let ranked = contest.ranking.iter().map(|ranked| {
        let name = format!("  {}", printable_line(&ranked.name));
        (name, " ".repeat(GAP) + &standing(ranked, contest.metric, styling))
    });
    let ranked: Vec<(String, String)> = ranked.collect();
    let longest = ranked.iter().map(|(_, standing)| width(standing)).max().unwrap_or(0);
    let room = options.table_width().saturating_sub(longest);
    let table: Table<()> = Table::new(Vec::new(), ranked.iter().map(|(name, _)| width(name)), room, styling);
    let title = styling.paint(TITLE, &printable_line(contest.problem));
    let params = styling.paint(FAINT, &printable_line(&contest.params.to_string()));
    let lines = ranked.iter().map(|(name, standing)| table.row(name, "  ", standing));
    let remark = contest
        .remark()
        .map(|remark| format!("  {}\n", styling.paint(FAINT, remark)));
    format!(
        "\n{}\n{}{}",
        format_args!("{title} {params}").to_string().trim_end(),
        lines.collect::<String>(),
        remark.unwrap_or_default()
    )
}

/// The value and how it compares with the best.
fn standing(ranked: &Ranked, metric: &Metric, styling: Styling) -> String {
    let value = format!("{:>8}", metric.quantity(ranked.value));
    match (ranked.standing, ranked.standing.words(metric)) {
        (Standing::Best, Some(words)) => format!("{value}  {}", styling.paint(GOOD, &words)),
        (_, Some(words)) => format!("{value}  {words}"),
        (_, None) => value,
    }
}
