//! Names of cases, verdicts, revisions and times.

use std::fmt::Display;

use super::markup::{Element, Markup, element, span, text};
use crate::wording::sign;
use gpubench_contract::units::listed;
use gpubench_contract::{BenchmarkComplete, Grade, Params, Reading, Revision, Verdict};

/// Returns the anchor of a case's section. It is the position among the results, because names may
/// not be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Anchor(pub(super) usize);

impl Display for Anchor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "case-{}", self.0)
    }
}

impl Anchor {
    /// Returns a link to the section.
    pub(super) fn link(self, what: impl Into<Markup>) -> Element {
        element("a").with("href", format_args!("#{self}")).child(what)
    }
}

/// Returns a benchmark, its axis values and its reading, if it is not the usual one.
pub(super) fn case_name(result: &BenchmarkComplete) -> Markup {
    name_with_reading(&result.benchmark, &result.params, &result.reading())
}

/// Returns a name followed by axis values and a reading, if it is not the usual one.
pub(super) fn name_with_reading(name: &str, params: &Params, reading: &Reading) -> Markup {
    let words = reading.words();
    let words = (!words.is_empty()).then(|| text(" ").then(span("reading").text(words.join(", "))));
    name_with_params(name, params).then(words)
}

/// Returns a name followed by axis values.
pub(super) fn name_with_params(name: &str, params: &Params) -> Markup {
    let params = params.to_string();
    let values = (!params.is_empty()).then(|| text(" ").then(span("params").child(breakable(&params))));
    Markup::from(span("name").child(breakable(name)).child(values))
}

/// Returns a name.
pub(super) fn name(name: &str) -> Element {
    span("name").child(breakable(name))
}

/// Returns a text in which lines may break after separators.
fn breakable(name: &str) -> Markup {
    let mut pieces = name.split_inclusive("::").flat_map(|part| part.split_inclusive(','));
    let first = pieces.next().map(text);
    let others = pieces.map(|piece| Markup::from(element("wbr")).then(text(piece)));
    Markup::from(first).then(others.collect::<Markup>())
}

/// Returns a verdict's sign and word.
pub(super) fn verdict(verdict: Verdict) -> Element {
    let class = match verdict {
        Verdict::Pass => "mark good",
        Verdict::Skipped => "mark doubtful",
        _ => "mark bad",
    };
    marked(class, sign(verdict), verdict)
}

/// Returns a sign before a word. Screen readers skip the sign.
pub(super) fn marked(class: &'static str, sign: char, word: impl Display) -> Element {
    let sign = span("sign").with("aria-hidden", "true").text(sign);
    span(class).child(sign).text(format_args!(" {word}"))
}

/// Returns a grade in its colour.
pub(super) fn grade(grade: Grade) -> Element {
    let class = match grade {
        Grade::Sealed => "good",
        Grade::Sandboxed => "plain",
        Grade::Unverified => "doubtful",
    };
    span(class).text(grade)
}

/// Returns an RFC 3339 time in a readable form, to the minute. Returns any other text unchanged.
pub(super) fn moment(rfc3339: &str) -> Element {
    let shown = match rfc3339.parse::<jiff::Timestamp>() {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => return element("span").text(rfc3339),
    };
    element("time").with("datetime", rfc3339).text(shown)
}

/// `main, 3a1605678, modified`.
pub(super) fn revision(revision: &Revision) -> String {
    let modified = revision.modified.then(|| "modified".to_owned());
    listed([revision.branch.clone(), Some(revision.short_commit()), modified])
}
