//! The times of a case in earlier runs and in this one.

use std::collections::HashMap;

use super::chart::{self, Path, Scale, drawing, extent, label, line};
use super::markup::{Element, Markup, element, folded, text};
use super::names::{moment, revision};
use crate::wording::capitalized;
use gpubench_contract::units::counted;
use gpubench_contract::{BenchmarkComplete, Reading};
use gpubench_store::StoredRun;
use gpubench_store::history::{HistoryCase, HistoryEntry};

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 118.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = WIDTH - 8.0;
const TOP: f64 = 20.0;
const BASE: f64 = 94.0;

/// Maximum number of runs in the chart.
const RUNS: usize = 40;

/// Maximum number of runs in the list.
const NAMED: usize = 5;

/// The results of earlier runs, by case and reading.
pub(super) struct Past<'a>(HashMap<(String, Reading), Vec<PastResult<'a>>>);

/// The result of one earlier run for a case.
#[derive(Clone, Copy)]
pub(super) struct PastResult<'a> {
    entry: &'a HistoryEntry,
    case: &'a HistoryCase,
}

impl<'a> Past<'a> {
    /// Returns the results of runs that began before `run`. `history` is in the order of the runs.
    pub(super) fn before(run: &StoredRun, history: &'a [HistoryEntry]) -> Past<'a> {
        let began = |text: &str| text.parse::<jiff::Timestamp>().ok();
        let now = began(&run.run.started_at);
        let is_earlier = |entry: &&HistoryEntry| {
            let is_later = began(&entry.started_at).zip(now).is_some_and(|(then, now)| then > now);
            entry.run_id != run.run.run_id && !is_later
        };
        let mut cases: HashMap<(String, Reading), Vec<PastResult<'_>>> = HashMap::new();
        for entry in history.iter().filter(is_earlier) {
            for case in &entry.cases {
                cases
                    .entry((case.case.clone(), case.reading()))
                    .or_default()
                    .push(PastResult { entry, case });
            }
        }
        Past(cases)
    }

    /// Returns the earlier results of a case with the reading of this one.
    pub(super) fn get(&self, result: &BenchmarkComplete) -> &[PastResult<'a>] {
        self.0
            .get(&(result.full_name(), result.reading()))
            .map_or(&[], Vec::as_slice)
    }
}

/// Returns the figure. `None` if there is no earlier run, or no median in this one.
pub(super) fn figure(result: &BenchmarkComplete, past: &[PastResult<'_>]) -> Option<Element> {
    let (now, metric) = (result.stats.as_ref()?, &result.metric);
    let past: Vec<_> = past.iter().filter(|run| run.case.metric == *metric).collect();
    let past = &past[past.len().saturating_sub(RUNS)..];
    let last = past.last()?;
    let runs: Vec<(f64, [f64; 2])> = past
        .iter()
        .map(|run| (run.case.value, run.case.ci95))
        .chain([(now.value, now.ci95)])
        .map(|(value, interval)| (value, interval.unwrap_or([value; 2])))
        .collect();
    let bounds = runs
        .iter()
        .flat_map(|(value, interval)| interval.iter().chain([value]).copied());
    let (least, most) = extent(bounds);
    let x = Scale::new((0.0, (runs.len() - 1) as f64), (LEFT, RIGHT));
    let y = Scale::new((least, most), (BASE, TOP));
    let place = |position: usize| x.at(position as f64);
    let whiskers = runs
        .iter()
        .enumerate()
        .fold(Path::default(), |path, (position, (_, [low, high]))| {
            path.move_to(place(position), y.at(*low)).vertical_to(y.at(*high))
        });
    let first = Path::default().move_to(place(0), y.at(runs[0].0));
    let values = runs.iter().enumerate().fold(first, |path, (position, (value, _))| {
        path.line_to(place(position), y.at(*value))
    });
    let at_most = format!("max {}", metric.quantity(most));
    let at_least = format!("min {}", metric.quantity(least));
    let shapes = Markup::from(line("axis", (LEFT, BASE + 6.0), (RIGHT, BASE + 6.0)))
        .then(whiskers.drawn_as("range"))
        .then(values.drawn_as("curve"))
        .then(
            Path::default()
                .dot(place(runs.len() - 1), y.at(now.value))
                .drawn_as("now"),
        )
        .then(label("t", LEFT, 11.0, at_most))
        .then(label("t", LEFT, HEIGHT - 4.0, at_least))
        .then(label("t end", RIGHT, HEIGHT - 4.0, "this run"));
    let words = format_args!(
        "Earlier runs and this one: {}, the last {}, now {}",
        counted(past.len(), "earlier run"),
        metric.quantity(last.case.value),
        metric.quantity(now.value)
    );
    let drawing = drawing("chart", (WIDTH, HEIGHT), words, shapes);
    let named = past.iter().rev().take(NAMED).map(entry);
    let caption = text(format_args!(
        "{} with its 95% interval in {} and this one.",
        capitalized(&metric.name),
        counted(past.len(), "earlier run")
    ));
    let last_ones = folded("Recent runs").child(element("ul").children(named));
    Some(chart::figure(drawing, caption.then(last_ones)))
}

fn entry(run: &&PastResult<'_>) -> Element {
    let sources = run
        .entry
        .revision
        .as_ref()
        .map(|sources| text(format_args!(", {}", revision(sources))));
    element("li")
        .child(moment(&run.entry.started_at))
        .text(format_args!(": {}", run.case.metric.quantity(run.case.value)))
        .child(sources)
}
