//! The ranking of a contest.

use super::chart::bar;
use super::markup::{self, Element, Markup, cell, element, note, span, text};
use super::names::{Anchor, name, name_with_reading};
use crate::contest::{has_won, rank, remarks, subject, value, words};
use gpubench_contract::{ContestComplete, Contestant};
use gpubench_store::StoredRun;

/// Returns the tables of contests, and what to know about them.
pub(super) fn parts(run: &StoredRun, contests: &[ContestComplete]) -> Vec<Element> {
    let last = remarks(contests).into_iter().map(|remark| note("p").text(remark));
    contests
        .iter()
        .flat_map(|contest| table(run, contest))
        .chain(last)
        .collect()
}

fn table(run: &StoredRun, contest: &ContestComplete) -> Vec<Element> {
    let columns = [
        ("rank", ""),
        ("kernel", ""),
        (&*contest.metric.name, "number"),
        ("relative to the winner", "rank"),
    ];
    let most = contest.contestants.iter().filter_map(|contestant| contestant.ratio);
    let most = most.fold(0.0, f64::max);
    let rows = contest
        .contestants
        .iter()
        .map(|contestant| row(run, contest, contestant, most));
    let caption = name_with_reading(&contest.problem, &contest.params, &contest.reading());
    let caption = caption.then(text(" ")).then(span("params").text(subject(contest)));
    let table = markup::table(caption, columns).child(element("tbody").children(rows));
    let remark = contest.remark.as_ref().map(|remark| note("p").text(remark));
    std::iter::once(table).chain(remark).collect()
}

fn row(run: &StoredRun, contest: &ContestComplete, contestant: &Contestant, most: f64) -> Element {
    let label = name(&contestant.name());
    let position = match contestant.results[..] {
        [index] => run.results.iter().position(|result| result.index == index),
        _ => None,
    };
    let label = match position {
        Some(position) => Markup::from(Anchor(position).link(label)),
        None => label.into(),
    };
    let class = if contestant.verdict.is_failure() {
        "bad"
    } else if has_won(contest, contestant) {
        "good"
    } else {
        "plain"
    };
    let place = span(class).text(words(contest, contestant));
    element("tr")
        .child(cell("number").text(rank(contestant)))
        .child(element("th").with("scope", "row").child(label))
        .child(cell("number").text(value(contest, contestant)))
        .child(
            cell("rank")
                .child(place)
                .child(contestant.ratio.map(|ratio| bar(ratio / most))),
        )
}
