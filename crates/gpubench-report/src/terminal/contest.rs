//! Implementations of one problem side by side.

use super::style::{FAINT, GOOD, Styling, TITLE};
use super::text::{padded, width};
use crate::contest::{Contest, Contests, Ranked, Standing};
use gpubench_contract::Metric;
use gpubench_diagnostic::printable_line;

/// A ranking for every contest; nothing where there is none.
pub(super) fn table(contests: &Contests, styling: Styling) -> String {
    contests
        .held()
        .iter()
        .map(|contest| ranking(contest, styling))
        .collect()
}

fn ranking(contest: &Contest<'_>, styling: Styling) -> String {
    let labels: Vec<String> = contest
        .ranking
        .iter()
        .map(|ranked| printable_line(&ranked.name))
        .collect();
    let longest = labels.iter().map(|label| width(label)).max().unwrap_or(0);
    let title = styling.paint(TITLE, &printable_line(contest.problem));
    let params = styling.paint(FAINT, &printable_line(&contest.params.to_string()));
    let metric = contest.metric;
    let lines = labels
        .iter()
        .zip(&contest.ranking)
        .map(|(label, ranked)| format!("  {}  {}\n", padded(label, longest), standing(ranked, metric, styling)));
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
