//! The section of results that need attention: failures, regressions, and remarks on the rest.

use super::comparison;
use super::markup::{self, Element, Markup, element, list, prose, span, text};
use super::names::{Anchor, case_name, verdict};
use crate::remarks::{NAMED, Remarks};
use crate::wording::{first_wrong_elements, found_in, gloss, wrong_besides_message};
use gpubench_contract::units::{change, counted};
use gpubench_contract::{BenchmarkComplete, ChangeVerdict, ComparisonComplete, ComparisonRow};
use gpubench_store::StoredRun;

/// Returns the section. `None` if nothing needs attention.
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
        markup::section("attention", "Needs attention")
            .child(list("failures", failures))
            .children(regressions)
            .child(list("remarks", remarks)),
    )
}

/// Returns the results with the anchors of their sections.
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

/// Returns `✗ wrong-output: stale (the output of the previous call)`.
pub(super) fn outcome(result: &BenchmarkComplete) -> Element {
    let cause = result
        .cause
        .map(|cause| text(format_args!(": {cause}{}", gloss(cause))));
    element("span").child(verdict(result.verdict)).child(cause)
}

/// Returns the message, and what is wrong with outputs that it does not describe.
pub(super) fn explanation(result: &BenchmarkComplete) -> Markup {
    let message = result
        .message
        .as_ref()
        .map(|message| element("pre").with("tabindex", "0").text(message.trim_end()));
    let wrong = wrong_besides_message(result).map(|check| {
        element("li")
            .child(element("code").text(&check.output))
            .text(format_args!(": {}", found_in(check)))
    });
    let elements = first_wrong_elements(result);
    let elements = (!elements.is_empty()).then(|| element("pre").with("tabindex", "0").text(elements.join("\n")));
    Markup::from(message).then(list("quiet", wrong)).then(elements)
}

/// Returns the cases that regressed.
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

/// Returns remarks on cases that passed, without duplicates. On the CPU device every case is
/// unverified for the same reason, which the masthead states.
fn remarks(run: &StoredRun) -> Vec<Element> {
    let mut remarks = Remarks::default();
    for (anchor, result) in positions(run) {
        remarks.add_result(result, &(anchor, result));
    }
    remarks
        .iter()
        .map(|(remark, cases)| element("li").child(prose(remark)).text(" ").child(named(cases)))
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
