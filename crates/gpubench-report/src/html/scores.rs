//! The scores of graded submissions.

use super::chart::bar;
use super::markup::{self, Element, Markup, cell, element, span, text};
use super::names::{Anchor, name, name_with_reading};
use crate::grading::{Optional, optional, rank, subject, tables, value, words};
use gpubench_contract::{Params, ProblemComplete};
use gpubench_store::{StoredRun, graded};

/// Returns the section. `None` if the run graded nothing.
pub(super) fn section(run: &StoredRun) -> Option<Element> {
    let graded = graded(run, None);
    let tables: Vec<Element> = tables(&graded).iter().map(|one| table(run, one)).collect();
    (!tables.is_empty())
        .then(|| markup::section("scores", "Scores").child(element("div").class("rankings").children(tables)))
}

fn table(run: &StoredRun, graded: &[&ProblemComplete]) -> Element {
    let optional = optional(graded);
    let first = [("rank", ""), ("submission", ""), ("score", "number")];
    let others = optional.iter().map(|(title, _)| (*title, "number"));
    let columns = first.into_iter().chain(others).chain([("outcome", "rank")]);
    let scores = graded.iter().filter_map(|one| Some(one.score.as_ref()?.value));
    let most = scores.fold(0.0, f64::max);
    let rows = graded.iter().map(|one| row(run, one, most, &optional));
    let first = graded[0];
    let caption = name_with_reading(&first.problem, &Params::default(), &first.reading());
    let caption = caption.then(text(" ")).then(span("params").text(subject(graded)));
    markup::table(caption, columns).child(element("tbody").children(rows))
}

/// Returns the row of a submission. Its name leads to its first case, or to the one that failed.
fn row(run: &StoredRun, one: &ProblemComplete, most: f64, optional: &[Optional]) -> Element {
    let mut results = run.results.iter();
    let position = results.position(|result| {
        let is_of = (&result.package, &result.benchmark) == (&one.package, &one.submission);
        let is_shown = one.failed_case.as_ref().is_none_or(|case| result.case == *case);
        is_of && is_shown && result.reading() == one.reading()
    });
    let label = name(&one.submission);
    let label = match position {
        Some(position) => Markup::from(Anchor(position).link(label)),
        None => label.into(),
    };
    let class = match one.rank {
        None if one.verdict.is_failure() => "bad",
        Some(1) if one.ties.is_empty() => "good",
        _ => "plain",
    };
    let score = one.score.as_ref().map(|score| bar(score.value / most));
    element("tr")
        .child(cell("number").text(rank(one)))
        .child(element("th").with("scope", "row").child(label))
        .child(cell("number").text(value(one)))
        .children(optional.iter().map(|(_, figure)| cell("number").text(figure(one))))
        .child(cell("rank").child(span(class).text(words(one))).child(score))
}
