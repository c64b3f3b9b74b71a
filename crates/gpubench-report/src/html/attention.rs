//! What a reader must know first: what failed, what became slower, and what was remarked about the
//! rest.

use super::comparison;
use super::markup::{self, Element, Markup, element, list, span, text};
use super::names::{Anchor, case_name, verdict};
use crate::remarks::{NAMED, Remarks};
use crate::wording::{found_in, gloss};
use gpubench_contract::units::{change, counted};
use gpubench_contract::{BenchmarkComplete, ChangeVerdict, ComparisonComplete, ComparisonRow};
use gpubench_store::StoredRun;

/// The section; nothing where there is nothing to say.
pub(super) fn section(run: &StoredRun, comparisons: &[ComparisonComplete]) -> Option<Element> {
    let failures: Vec<Element> = positions(run)
        .filter(|(_, result)| result.verdict.is_failure())
        .map(|(anchor, result)| failure(anchor, result))
        .collect();
    let regressions: Vec<Element> = comparisons
        .iter()
        .filter_map(|comparison| regressions(run, comparison))
        .collect();
    let remarks = remarks(run);
    if failures.is_empty() && regressions.is_empty() && remarks.is_empty() {
        return None;
    }
    Some(
        markup::section("attention", "Needs a look")
            .child(list("failures", failures))
            .children(regressions)
            .child(list("remarks", remarks)),
    )
}

/// The results with where their sections are.
pub(super) fn positions(run: &StoredRun) -> impl Iterator<Item = (Anchor, &BenchmarkComplete)> {
    run.results
        .iter()
        .enumerate()
        .map(|(position, result)| (Anchor(position), result))
}

fn failure(anchor: Anchor, result: &BenchmarkComplete) -> Element {
    element("li")
        .child(
            element("p")
                .child(anchor.link(case_name(result)))
                .text(" ")
                .child(outcome(result)),
        )
        .child(explanation(result))
}

/// `✗ wrong-output: stale (the answer to the call before)`.
pub(super) fn outcome(result: &BenchmarkComplete) -> Element {
    let cause = result
        .cause
        .map(|cause| text(format_args!(": {cause}{}", gloss(cause))));
    element("span").child(verdict(result.verdict)).child(cause)
}

/// The message, and what was found where several outputs were wrong.
pub(super) fn explanation(result: &BenchmarkComplete) -> Markup {
    let message = result
        .message
        .as_ref()
        .map(|message| element("pre").with("tabindex", "0").text(message.trim_end()));
    // The message speaks of the output that decided; of a single one there is nothing to add.
    let wrong = result
        .checks
        .iter()
        .filter(|check| result.checks.len() > 1 && check.matched < check.elements);
    let wrong = wrong.map(|check| {
        element("li")
            .child(element("code").text(&check.output))
            .text(format_args!(": {}", found_in(check)))
    });
    Markup::from(message).then(list("quiet", wrong))
}

/// The cases that became slower.
fn regressions(run: &StoredRun, comparison: &ComparisonComplete) -> Option<Element> {
    let regressed = |row: &&ComparisonRow| row.verdict == ChangeVerdict::Regressed;
    let rows = comparison.by_relevance().into_iter().filter(regressed);
    let lines: Vec<Element> = rows.map(|row| regression(run, row)).collect();
    let (name, cases) = (comparison::short_name(comparison), counted(lines.len(), "case"));
    let title = element("p").child(comparison::mark(ChangeVerdict::Regressed));
    let title = title.text(format_args!(" against {name}: {cases}"));
    Some(element("div").child(title).child(list("plain-list", lines)?))
}

fn regression(run: &StoredRun, row: &ComparisonRow) -> Element {
    let ratio = row
        .change
        .as_ref()
        .map(|figures| element("b").class("bad").text(change(figures.ratio)));
    element("li")
        .child(comparison::linked_name(run, row))
        .text(" ")
        .child(ratio)
}

/// Remarks about cases that passed, each once. On the CPU device every case is advisory for one and
/// the same reason, which the masthead says.
fn remarks(run: &StoredRun) -> Vec<Element> {
    let mut remarks = Remarks::default();
    for (anchor, result) in positions(run) {
        remarks.enter(result, &(anchor, result));
    }
    remarks
        .iter()
        .map(|(remark, cases)| element("li").text(format_args!("{remark} ")).child(named(cases)))
        .collect()
}

/// `axpy, softmax n=1024, copy and 5 more cases`.
fn named(cases: &[(Anchor, &BenchmarkComplete)]) -> Element {
    let links = cases
        .iter()
        .take(NAMED)
        .enumerate()
        .map(|(position, (anchor, result))| {
            let comma = if position == 0 { "" } else { ", " };
            text(comma).then(anchor.link(case_name(result)))
        });
    let more = cases.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| text(format_args!(" and {}", counted(more, "more case"))));
    span("quiet").children(links).child(more)
}
