//! The times of a case in earlier runs and in this one.

use std::collections::HashMap;

use super::chart::{self, Path, Scale, drawing, extent, label, line};
use super::markup::{Element, Markup, element, folded, text};
use super::names::{moment, revision};
use crate::wording::capitalized;
use gpubench_contract::units::{counted, percent};
use gpubench_contract::{BenchmarkComplete, ChangeOrigin, HistoryChange, Reading};
use gpubench_store::StoredRun;
use gpubench_store::history::{HistoryCase, HistoryEntry, Series, changes};

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

/// The results of earlier runs, by case, reading and GPU.
pub(super) struct Past<'a>(HashMap<Key, PastResults<'a>>);

/// What results have in common that are compared from run to run.
type Key = (String, Reading, Option<String>);

/// The results of earlier runs for a case.
#[derive(Default)]
pub(super) struct PastResults<'a> {
    earlier: Vec<PastResult<'a>>,
    /// The changes of level in them and this run.
    changes: Vec<HistoryChange>,
}

/// The result of one earlier run for a case.
#[derive(Clone, Copy)]
struct PastResult<'a> {
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
        let earlier: Vec<&HistoryEntry> = history.iter().filter(is_earlier).collect();
        let mut entries: Vec<HistoryEntry> = earlier.iter().copied().cloned().collect();
        entries.push(HistoryEntry::from_run(run));
        let series = Series::all(&entries);
        let mut cases: HashMap<Key, PastResults<'_>> = HashMap::new();
        for (series, changes) in series.iter().zip(changes(&series)) {
            let is_of_series = |case: &&HistoryCase| {
                case.case == series.case
                    && case.reading() == series.reading
                    && case.metric == *series.metric
                    && case.gpu.as_deref() == series.gpu
            };
            let result = |entry: &&'a HistoryEntry| {
                let case = entry.cases.iter().find(is_of_series)?;
                Some(PastResult { entry, case })
            };
            let key = (
                series.case.to_owned(),
                series.reading.clone(),
                series.gpu.map(str::to_owned),
            );
            let earlier = earlier.iter().filter_map(result).collect();
            cases.insert(key, PastResults { earlier, changes });
        }
        Past(cases)
    }

    /// Returns the earlier results of a case with the reading and the GPU of this one. `None` if
    /// there are none.
    pub(super) fn get(&self, result: &BenchmarkComplete) -> Option<&PastResults<'a>> {
        self.0
            .get(&(result.full_name(), result.reading(), result.device.uuid.clone()))
    }
}

/// Returns the figure. `None` if there is no earlier run, or no median in this one.
pub(super) fn figure(result: &BenchmarkComplete, past: Option<&PastResults<'_>>) -> Option<Element> {
    let (now, metric) = (result.stats.as_ref()?, &result.metric);
    let PastResults { earlier, changes } = past?;
    let left_out = earlier.len().saturating_sub(RUNS);
    let past = &earlier[left_out..];
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
    let mut shown: Vec<(&HistoryChange, usize)> = Vec::new();
    for change in changes {
        let position = usize::try_from(change.run)
            .ok()
            .and_then(|run| run.checked_sub(left_out));
        shown.extend(
            position
                .filter(|position| *position > 0)
                .map(|position| (change, position)),
        );
    }
    let lines = shown.iter().map(|(_, position)| {
        let x = place(*position) - (place(1) - place(0)) / 2.0;
        line("tick dashed", (x, TOP), (x, BASE))
    });
    let at_most = format!("max {}", metric.quantity(most));
    let at_least = format!("min {}", metric.quantity(least));
    let shapes = Markup::from(line("axis", (LEFT, BASE + 6.0), (RIGHT, BASE + 6.0)))
        .then(lines.collect::<Markup>())
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
    let levels = shown.iter().map(|(change, position)| {
        let run = past.get(*position).map(|run| run.entry);
        element("p").text(level_change(change)).child(run.map(began))
    });
    let caption = caption.then(levels.collect::<Markup>());
    Some(chart::figure(drawing, caption.then(last_ones)))
}

/// Returns `Level changed by +9.10%`.
fn level_change(change: &HistoryChange) -> String {
    let relative = change.after / change.before - 1.0;
    let sign = if relative < 0.0 { '-' } else { '+' };
    let origin = match change.origin {
        ChangeOrigin::Case => "Level",
        ChangeOrigin::Machine => "Level of the machine",
    };
    format!("{origin} changed by {sign}{} ", percent(relative.abs()))
}

/// Returns the time and the sources of a run.
fn began(entry: &HistoryEntry) -> Markup {
    let sources = entry
        .revision
        .as_ref()
        .map(|sources| text(format_args!(", {}", revision(sources))));
    Markup::from(moment(&entry.started_at)).then(sources)
}

fn entry(run: &PastResult<'_>) -> Element {
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
