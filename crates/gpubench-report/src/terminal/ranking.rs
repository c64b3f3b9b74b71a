//! Rankings on the terminal.

use super::options::TerminalOptions;
use super::style::{FAINT, GOOD, Styling, TITLE};
use super::table::{GAP, Table};
use crate::ranking::{Rank, Ranked, Ranking, Rankings};
use gpubench_contract::Metric;
use gpubench_diagnostic::layout::width;
use gpubench_diagnostic::printable_line;

/// Returns the rankings, one after the other. Empty if there are none.
pub(super) fn table(rankings: &Rankings, options: TerminalOptions) -> String {
    rankings
        .rankings()
        .iter()
        .map(|ranking| ranking_table(ranking, options))
        .collect()
}

fn ranking_table(ranking: &Ranking<'_>, options: TerminalOptions) -> String {
    let styling = options.styling;
    let ranked = ranking.entries.iter().map(|ranked| {
        let name = format!("  {}", printable_line(ranked.name));
        (name, " ".repeat(GAP) + &rank(ranked, ranking.metric, styling))
    });
    let ranked: Vec<(String, String)> = ranked.collect();
    let longest = ranked.iter().map(|(_, rank)| width(rank)).max().unwrap_or(0);
    let room = options.table_width().saturating_sub(longest);
    let table: Table<()> = Table::new(Vec::new(), ranked.iter().map(|(name, _)| width(name)), room, styling);
    let title = styling.paint(TITLE, &printable_line(&ranking.reading().label(ranking.problem)));
    let params = styling.paint(FAINT, &printable_line(&ranking.params.to_string()));
    let lines = ranked.iter().map(|(name, rank)| table.row(name, "  ", rank));
    let remarks = ranking.remark().into_iter().chain(ranking.clock_remark());
    let remarks = remarks.map(|remark| format!("  {}\n", styling.paint(FAINT, remark)));
    format!(
        "\n{}\n{}{}",
        format_args!("{title} {params}").to_string().trim_end(),
        lines.collect::<String>(),
        remarks.collect::<String>()
    )
}

/// Returns the value and its ratio to the best.
fn rank(ranked: &Ranked<'_>, metric: &Metric, styling: Styling) -> String {
    let value = format!("{:>8}", metric.quantity(ranked.value));
    match (ranked.rank, ranked.rank.words(metric)) {
        (Rank::Best, Some(words)) => format!("{value}  {}", styling.paint(GOOD, &words)),
        (_, Some(words)) => format!("{value}  {words}"),
        (_, None) => value,
    }
}
