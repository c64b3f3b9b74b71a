//! The page of an observation.

use super::document::{NamedSection, Parts, whole};
use super::facts::Facts;
use super::markup::{Element, element, list, note, span, text};
use super::names::moment;
use super::{course, observed, outlined};
use crate::terminal::probe::figures::{count, several};
use crate::terminal::probe::outline;
use crate::terminal::probe::screen::what;
use crate::terminal::probe::summary::{Calls, counts, left_out, outcome};
use gpubench_contract::{ProbeFinished, ProbeOutline, ProbeStarted, ProbeState};

/// The data of the page of `cargo gpubench probe`.
#[derive(Clone, Copy, Debug)]
pub struct ObservationPage<'a> {
    /// The start.
    pub started: &'a ProbeStarted,
    /// The end, with everything that was seen.
    pub finished: &'a ProbeFinished,
}

impl ObservationPage<'_> {
    /// Returns the page: one file that loads nothing and runs nothing.
    pub fn page(&self) -> String {
        whole(Parts {
            title: &format!("Observation of {}", what(self.started)),
            masthead: self.masthead(),
            skip: ("#processes", "Skip to the processes"),
            sections: self.sections(),
            footer: element("p").text(self.footer()),
        })
    }

    fn footer(&self) -> &'static str {
        match self.finished.calls {
            Some(_) => {
                "Seen from outside of the processes, at the functions of the CUDA driver. Launches of a graph count \
                 once, however many kernels it has. Times of calls are those of the host."
            }
            None => {
                "Seen from outside of the processes, without the functions of the CUDA driver. A submission is a \
                 write to the doorbell of a GPU: a launch, a launch of a graph and a copy are one each. It counts \
                 from when the doorbell was found."
            }
        }
    }

    fn masthead(&self) -> Element {
        let Self { started, finished } = self;
        let heading = element("h1").child(span("name").text(what(started)));
        let sums = match (&finished.calls, &finished.processes_only) {
            (Some(seen), _) => counts(seen),
            (None, Some(outline)) => format!("{} {}", outline::counts(outline), outline::UNKNOWN),
            (None, None) => outline::UNKNOWN.to_owned(),
        };
        let outcome = format!("{}. {sums}", outcome(finished));
        let facts = Facts::default()
            .and("Started", moment(&started.started_at))
            .and("Observed", text(started.target.describe().trim_end_matches('.')))
            .and_known("Children", (!started.children).then_some("not observed"))
            .and_known("Process", started.pid)
            .and_known("Events", finished.calls.as_ref().map(|seen| count(seen.events)));
        element("header")
            .child(
                element("p")
                    .class("eyebrow")
                    .text(format_args!("cargo gpubench {} probe", started.tool_version)),
            )
            .child(heading)
            .child(element("p").class("outcome").text(outcome))
            .child(self.notes())
            .child(facts.list())
    }

    /// Returns what makes the page incomplete.
    fn notes(&self) -> Option<Element> {
        let Self { started, finished } = self;
        let of_calls = finished.calls.iter().flat_map(incomplete);
        let of_outline = finished.processes_only.iter().flat_map(|outline| {
            let left_out = outline
                .left_out
                .and_then(|counts| left_out(&counts, Calls::NotObserved));
            let lost = (outline.lost_events > 0).then(|| outline::lost(outline));
            left_out.into_iter().chain(lost).map(|remark| format!("{remark}."))
        });
        let items = of_calls.chain(of_outline).chain(started.notices.iter().cloned());
        let list = list("", items.map(|item| element("li").text(item)))?;
        Some(note("div").child(list))
    }

    fn sections(&self) -> Vec<NamedSection> {
        match (&self.finished.calls, &self.finished.processes_only) {
            (Some(seen), _) => self.sections_of_calls(seen),
            (None, Some(outline)) => sections_of_outline(outline),
            (None, None) => Vec::new(),
        }
    }

    fn sections_of_calls(&self, seen: &ProbeState) -> Vec<NamedSection> {
        let sections = [
            ("unfreed", "Left allocated", observed::unfreed(seen)),
            ("errors", "Errors", observed::errors(seen)),
            ("live", "Still allocated", observed::still_allocated(seen)),
            ("course", "Over time", course::section_of(self.finished)),
            ("processes", "Processes", observed::processes(seen)),
            ("kernels", "Kernels", observed::kernels(seen)),
            ("memory", "Memory", observed::memory(seen)),
            ("copies", "Copies", observed::copies(seen)),
            ("durations", "Durations", observed::durations(seen)),
            ("calls", "Calls", observed::calls(seen)),
        ];
        let sections = sections.into_iter();
        sections
            .filter_map(|(id, name, section)| Some((id.to_owned(), name.to_owned(), section?)))
            .collect()
    }
}

fn sections_of_outline(outline: &ProbeOutline) -> Vec<NamedSection> {
    let section = outlined::processes(outline);
    let named = section.map(|section| ("processes".to_owned(), "Processes".to_owned(), section));
    named.into_iter().collect()
}

/// Returns what makes the tables of calls incomplete.
fn incomplete(seen: &ProbeState) -> Vec<String> {
    let lost = several(seen.lost_events, "event was", "events were");
    let lost = (seen.lost_events > 0).then(|| format!("{lost} lost: all tables but that of calls may be incomplete."));
    let unknown = several(seen.unknown_frees, "call", "calls");
    let unknown =
        (seen.unknown_frees > 0).then(|| format!("{unknown} freed memory that was not seen to be allocated."));
    let notices = seen.notices.iter().map(|notice| format!("{notice}."));
    let left_out = seen.left_out.and_then(|counts| left_out(&counts, Calls::Observed));
    let left_out = left_out.map(|remark| format!("{remark}."));
    left_out.into_iter().chain(lost).chain(unknown).chain(notices).collect()
}
