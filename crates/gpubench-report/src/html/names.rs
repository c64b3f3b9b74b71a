//! How cases, verdicts, revisions and moments are named.

use std::fmt::Display;

use super::markup::{Element, Markup, element, span, text};
use crate::wording::sign;
use gpubench_contract::units::listed;
use gpubench_contract::{BenchmarkComplete, Grade, Params, Revision, Verdict};

/// Where the section of a case is: named after its position among the results, since no name can be
/// trusted to be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Anchor(pub(super) usize);

impl Display for Anchor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "case-{}", self.0)
    }
}

impl Anchor {
    /// A link to the section.
    pub(super) fn link(self, what: impl Into<Markup>) -> Element {
        element("a").with("href", format_args!("#{self}")).child(what)
    }
}

/// A benchmark and its axis values.
pub(super) fn case_name(result: &BenchmarkComplete) -> Markup {
    name_with_params(&result.benchmark, &result.params)
}

/// A name and axis values behind it.
pub(super) fn name_with_params(name: &str, params: &Params) -> Markup {
    let params = params.to_string();
    let behind = (!params.is_empty()).then(|| text(" ").then(span("params").child(breakable(&params))));
    Markup::from(span("name").child(breakable(name)).child(behind))
}

/// A name by itself.
pub(super) fn name(name: &str) -> Element {
    span("name").child(breakable(name))
}

/// A text in which lines may break behind what separates its parts.
fn breakable(name: &str) -> Markup {
    let mut pieces = name.split_inclusive("::").flat_map(|part| part.split_inclusive(','));
    let first = pieces.next().map(text);
    let others = pieces.map(|piece| Markup::from(element("wbr")).then(text(piece)));
    Markup::from(first).then(others.collect::<Markup>())
}

/// A sign, and the word that says the same.
pub(super) fn verdict(verdict: Verdict) -> Element {
    let class = match verdict {
        Verdict::Pass => "mark good",
        Verdict::Skipped => "mark doubtful",
        _ => "mark bad",
    };
    marked(class, sign(verdict), verdict)
}

/// A sign before a word; who listens hears the word only.
pub(super) fn marked(class: &'static str, sign: char, word: impl Display) -> Element {
    let sign = span("sign").with("aria-hidden", "true").text(sign);
    span(class).child(sign).text(format_args!(" {word}"))
}

/// A grade in the colour of its worth.
pub(super) fn grade(grade: Grade) -> Element {
    let class = match grade {
        Grade::Sealed => "good",
        Grade::Bracketed => "plain",
        Grade::Advisory => "doubtful",
    };
    span(class).text(grade)
}

/// A moment in RFC 3339 as people write it, to the minute; a text that is none stands as it is.
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
