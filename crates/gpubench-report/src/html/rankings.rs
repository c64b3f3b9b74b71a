//! Rankings of the implementations of a problem.

use super::chart::bar;
use super::contest;
use super::markup::{self, Element, Markup, cell, element, span, text};
use super::names::{Anchor, name, name_with_reading};
use crate::ranking::{Rank, Ranked, Ranking, Rankings};
use crate::wording::best;
use gpubench_contract::Metric;
use gpubench_store::{StoredRun, contests};

/// Returns the section. `None` if no problem has two implementations.
pub(super) fn section(run: &StoredRun) -> Option<Element> {
    let mut rankings = Rankings::default();
    run.results.iter().for_each(|result| rankings.add(result));
    let mut tables: Vec<Element> = rankings.rankings().iter().map(|ranking| table(run, ranking)).collect();
    tables.extend(contest::parts(run, &contests(run)));
    (!tables.is_empty())
        .then(|| markup::section("rankings", "Rankings").child(element("div").class("rankings").children(tables)))
}

fn table(run: &StoredRun, ranking: &Ranking<'_>) -> Element {
    let ratio = format!("relative to the {}", best(ranking.metric));
    let columns = [
        ("kernel", ""),
        (ranking.value_name(), "number"),
        (ratio.as_str(), "rank"),
    ];
    let most = ranking.entries.iter().map(|ranked| ranked.value).fold(0.0, f64::max);
    let rows = ranking
        .entries
        .iter()
        .map(|ranked| row(run, ranking.metric, ranked, most));
    let caption = name_with_reading(ranking.problem, ranking.params, &ranking.reading());
    markup::table(caption, columns).child(element("tbody").children(rows))
}

fn row(run: &StoredRun, metric: &Metric, ranked: &Ranked<'_>, most: f64) -> Element {
    let position = run.results.iter().position(|result| result.index == ranked.index);
    let label = name(ranked.name);
    let label = match position {
        Some(position) => Markup::from(Anchor(position).link(label)),
        None => label.into(),
    };
    let rank = match (ranked.rank, ranked.rank.words(metric)) {
        (Rank::Best, Some(words)) => Markup::from(span("good").text(words)),
        (_, Some(words)) => text(words),
        (_, None) => Markup::default(),
    };
    element("tr")
        .child(element("th").with("scope", "row").child(label))
        .child(cell("number").text(metric.quantity(ranked.value)))
        .child(cell("rank").child(rank).child(bar(ranked.value / most)))
}
