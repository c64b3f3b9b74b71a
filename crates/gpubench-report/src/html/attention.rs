//! The section of results that need attention: failures, regressions, and remarks on the rest.

use super::comparison;
use super::markup::{self, Element, Markup, element, list, prose, span, text};
use super::names::{Anchor, case_name, verdict};
use crate::remarks::{NAMED, Remarks};
use crate::wording::{first_wrong_elements, found_in, gloss, wrong_besides_message};
use gpubench_contract::units::{change, counted};
use gpubench_contract::{BenchmarkComplete, Cause, ChangeVerdict, ComparisonComplete, ComparisonRow, Verdict};
use gpubench_store::StoredRun;

/// Returns the section. `None` if nothing needs attention.
pub(super) fn section(run: &StoredRun, comparisons: &[ComparisonComplete]) -> Option<Element> {
    let failures: Vec<Element> = failure_groups(run).iter().map(Failures::shown).collect();
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

/// Failures with the same verdict and cause, in the order of the run.
struct Failures<'a> {
    verdict: Verdict,
    cause: Option<Cause>,
    /// Each explanation, with the cases that have it.
    explanations: Vec<(Markup, Vec<Case<'a>>)>,
}

/// A result, and the anchor of its section.
type Case<'a> = (Anchor, &'a BenchmarkComplete);

/// Maximum number of explanations of one cause. The sections of the other cases have theirs.
const EXPLAINED: usize = 3;

fn failure_groups(run: &StoredRun) -> Vec<Failures<'_>> {
    let mut groups: Vec<Failures<'_>> = Vec::new();
    for case in positions(run).filter(|(_, result)| result.verdict.is_failure()) {
        let (_, result) = case;
        let same = |group: &Failures<'_>| (group.verdict, group.cause) == (result.verdict, result.cause);
        let position = groups.iter().position(same).unwrap_or_else(|| {
            groups.push(Failures {
                verdict: result.verdict,
                cause: result.cause,
                explanations: Vec::new(),
            });
            groups.len() - 1
        });
        let (explanation, explanations) = (explanation(result), &mut groups[position].explanations);
        match explanations.iter_mut().find(|(known, _)| *known == explanation) {
            Some((_, cases)) => cases.push(case),
            None => explanations.push((explanation, vec![case])),
        }
    }
    groups
}

impl Failures<'_> {
    /// Returns one case with its outcome and explanation, or the outcome with all its cases.
    fn shown(&self) -> Element {
        let outcome = outcome_of(self.verdict, self.cause);
        if let [(explanation, cases)] = &self.explanations[..]
            && let [(anchor, result)] = cases[..]
        {
            let heading = element("p").child(anchor.link(case_name(result))).text(" ");
            return element("li").child(heading.child(outcome)).child(explanation.clone());
        }
        let count: usize = self.explanations.iter().map(|(_, cases)| cases.len()).sum();
        let heading = element("p")
            .child(outcome)
            .text(format_args!(", {}", counted(count, "case")));
        let (explained, others) = self.explanations.split_at(self.explanations.len().min(EXPLAINED));
        let explained = explained.iter().map(|(explanation, cases)| {
            let cases = element("p").class("cases-of").child(linked(cases));
            Markup::from(cases).then(explanation.clone())
        });
        let others: Vec<Case<'_>> = others.iter().flat_map(|(_, cases)| cases).copied().collect();
        let others = (!others.is_empty()).then(|| {
            let words = element("p").class("cases-of").text("With other messages: ");
            words.child(linked(&others))
        });
        element("li").child(heading).children(explained).child(others)
    }
}

/// Returns the names of cases, each with a link to its section.
fn linked(cases: &[Case<'_>]) -> Markup {
    let links = cases.iter().enumerate().map(|(position, (anchor, result))| {
        let comma = if position == 0 { "" } else { ", " };
        text(comma).then(anchor.link(case_name(result)))
    });
    links.collect()
}

/// Returns `✗ wrong-output: stale (the output of the previous call)`.
pub(super) fn outcome(result: &BenchmarkComplete) -> Element {
    outcome_of(result.verdict, result.cause)
}

fn outcome_of(of: Verdict, cause: Option<Cause>) -> Element {
    let cause = cause.map(|cause| text(format_args!(": {cause}{}", gloss(cause))));
    element("span").child(verdict(of)).child(cause)
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
fn named(cases: &[Case<'_>]) -> Element {
    let (shown, more) = cases.split_at(cases.len().min(NAMED));
    let more = (!more.is_empty()).then(|| text(format_args!(" and {}", counted(more.len(), "more case"))));
    span("quiet").child(linked(shown)).child(more)
}
