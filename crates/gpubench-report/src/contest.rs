//! Words about the ranking of a contest.

use super::wording::best;
use gpubench_contract::units::percent;
use gpubench_contract::{ContestComplete, Contestant, Verdict};
use gpubench_diagnostic::in_backticks;

/// Most ties of a contestant that are named; more are counted.
const TIES_NAMED: usize = 3;

/// The place of a contestant without a rank.
const UNRANKED: &str = "–";

/// Returns what the ranking is about, after the problem and its arguments.
pub(super) fn subject(contest: &ContestComplete) -> String {
    match contest.arguments {
        1 => "alternating".to_owned(),
        several => format!("alternating, geometric mean over {several} arguments"),
    }
}

/// Returns the rank of a contestant: `1`, `2–3`, or a dash.
pub(super) fn rank(contestant: &Contestant) -> String {
    contestant
        .rank()
        .map_or_else(|| UNRANKED.to_owned(), |rank| rank.to_string())
}

/// Returns the value of a contestant with its unit, if it has one.
pub(super) fn value(contest: &ContestComplete, contestant: &Contestant) -> String {
    let value = contestant.value.map(|value| contest.metric.quantity(value));
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Whether a contestant won alone.
pub(super) fn has_won(contest: &ContestComplete, contestant: &Contestant) -> bool {
    contest.winner().is_some_and(|winner| std::ptr::eq(winner, contestant))
}

/// Returns the ratio of a contestant to the winner and its ties, or why it dropped out.
pub(super) fn words(contest: &ContestComplete, contestant: &Contestant) -> String {
    if contestant.verdict != Verdict::Pass {
        return contestant.verdict.to_string();
    }
    if let Some(verdict) = contestant.failed_alternating {
        return format!("{verdict} in alternation, passes alone");
    }
    let (Some(ratio), Some([low, high])) = (contestant.ratio, contestant.interval) else {
        return String::new();
    };
    let ratio = if has_won(contest, contestant) {
        best(&contest.metric).to_owned()
    } else {
        let name = &contest.metric.name;
        format!("{}× the {name} ({} to {})", factor(ratio), factor(low), factor(high))
    };
    std::iter::once(ratio)
        .chain(ties(&contestant.ties))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the remarks below all rankings of contests, each once.
pub(super) fn remarks<'c>(contests: impl IntoIterator<Item = &'c ContestComplete>) -> Vec<String> {
    let mut remarks: Vec<String> = Vec::new();
    for remark in contests.into_iter().flat_map(remarks_of) {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    remarks
}

/// Returns how a ranking came about, if there is one, and the doubt about it.
fn remarks_of(contest: &ContestComplete) -> impl Iterator<Item = String> {
    let confidence = percent(contest.confidence);
    let arrangement = contest.winner().map(|_| {
        format!("measured alternately; all intervals and ranks of a ranking hold at once with {confidence} confidence")
    });
    arrangement.into_iter().chain(contest.doubt.clone())
}

/// Small differences need another digit.
fn factor(ratio: f64) -> String {
    match ratio {
        0.5..2.0 => format!("{ratio:.3}"),
        _ => format!("{ratio:.2}"),
    }
}

fn ties(names: &[String]) -> Option<String> {
    match names.len() {
        0 => None,
        1..=TIES_NAMED => Some(format!("ties with {}", in_backticks(names))),
        more => Some(format!("ties with {more} others")),
    }
}
