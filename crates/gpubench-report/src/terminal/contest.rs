//! Implementations of one problem side by side.

use super::style::{FAINT, GOOD, Styling, TITLE};
use super::text::{padded, width};
use crate::contest::{Contest, Contests, Ranked, Standing};
use gpubench_contract::units::time;
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
    let lines = labels
        .iter()
        .zip(&contest.ranking)
        .map(|(label, ranked)| format!("  {}  {}\n", padded(label, longest), standing(ranked, styling)));
    format!(
        "\n{}\n{}",
        format_args!("{title} {params}").to_string().trim_end(),
        lines.collect::<String>()
    )
}

/// The median and how it compares with the best.
fn standing(ranked: &Ranked, styling: Styling) -> String {
    let median = format!("{:>8}", time(ranked.median_ns));
    match ranked.standing {
        Standing::Fastest => format!("{median}  {}", styling.paint(GOOD, "fastest")),
        Standing::NotToldApart => format!("{median}  not told apart by 95% intervals"),
        Standing::Slower(ratio) => format!("{median}  {ratio:.2}× the time"),
        Standing::Undefined => median,
    }
}
