//! Several kernels for one problem.

use super::chart::{At, rectangle};
use super::markup::{Element, Markup, element, text};
use super::names::{Anchor, name, name_with_params};
use crate::contest::{Contest, Contests, Ranked, Standing};
use gpubench_contract::units::time;
use gpubench_store::StoredRun;

/// The section; nothing where no problem was solved twice.
pub(super) fn section(run: &StoredRun) -> Option<Element> {
    let mut contests = Contests::default();
    run.results.iter().for_each(|result| contests.enter(result));
    let tables: Vec<Element> = contests.held().iter().map(|contest| table(run, contest)).collect();
    (!tables.is_empty()).then(|| {
        element("section")
            .with("id", "contests")
            .with("aria-labelledby", "contests-title")
            .child(
                element("h2")
                    .with("id", "contests-title")
                    .text("One problem, several kernels"),
            )
            .child(element("div").class("contests").children(tables))
    })
}

fn table(run: &StoredRun, contest: &Contest<'_>) -> Element {
    let heads = [("kernel", ""), ("median", "number"), ("beside the fastest", "standing")];
    let heads = heads.map(|(head, class)| element("th").with("scope", "col").class(class).text(head));
    let slowest = contest.ranking.last().map_or(0.0, |ranked| ranked.median_ns);
    let rows = contest.ranking.iter().map(|ranked| row(run, ranked, slowest));
    element("table")
        .child(element("caption").child(name_with_params(contest.problem, &contest.params)))
        .child(element("thead").child(element("tr").children(heads)))
        .child(element("tbody").children(rows))
}

fn row(run: &StoredRun, ranked: &Ranked, slowest: f64) -> Element {
    let position = run.results.iter().position(|result| result.index == ranked.index);
    let label = name(&ranked.name);
    let label = match position {
        Some(position) => Markup::from(Anchor(position).link(label)),
        None => label.into(),
    };
    let standing = match ranked.standing {
        Standing::Fastest => Markup::from(element("span").class("good").text("fastest")),
        Standing::NotToldApart => text("not told apart by 95 % intervals"),
        Standing::Slower(ratio) => text(format_args!("{ratio:.2}× the time")),
        Standing::Undefined => Markup::default(),
    };
    element("tr")
        .child(element("th").with("scope", "row").child(label))
        .child(element("td").class("number").text(time(ranked.median_ns)))
        .child(
            element("td")
                .class("standing")
                .child(standing)
                .child(bar(ranked.median_ns / slowest)),
        )
}

/// The time as a length.
fn bar(share: f64) -> Element {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    element("svg")
        .class("bar")
        .with("viewBox", "0 0 100 4")
        .with("aria-hidden", "true")
        .with("preserveAspectRatio", "none")
        .child(rectangle("mass", (At(0.0), At(100.0 * share)), (At(0.0), At(4.0))))
}
