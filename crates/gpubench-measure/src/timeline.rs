//! A timeline of a run: what each process did, and when.
//!
//! All layers of a run add to one timeline, as they would to a log. It is recorded only after
//! [`begin`], and is written in the [trace event format] that Perfetto and Chrome show.
//!
//! [trace event format]: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use gpubench_device::monotonic_ns;

static IS_RECORDED: AtomicBool = AtomicBool::new(false);
static EVENTS: Mutex<Vec<Event>> = Mutex::new(Vec::new());

/// The row of the device, which no process has as its id.
const DEVICE_ROW: u32 = 0;

/// Where an event is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Track {
    /// The command itself: one row for each of its threads.
    Command,
    /// A process of a role, by its id.
    Process(&'static str, u32),
    /// The device, as the referee's clock sees it.
    Device,
}

/// Something that took time.
#[derive(Clone, Debug)]
struct Event {
    track: Track,
    /// The thread of the command; 0 on other tracks.
    thread: u32,
    name: Cow<'static, str>,
    began_ns: u64,
    ended_ns: u64,
}

/// An event that goes on until it is dropped.
#[derive(Debug)]
#[must_use = "the event ends when it is dropped"]
pub struct Span {
    track: Track,
    name: Cow<'static, str>,
    began_ns: u64,
}

/// Starts to record.
pub fn begin() {
    IS_RECORDED.store(true, Ordering::Relaxed);
}

/// Returns an event that begins now.
pub fn span(track: Track, name: impl Into<Cow<'static, str>>) -> Span {
    Span {
        track,
        name: name.into(),
        began_ns: monotonic_ns(),
    }
}

/// Notes an event, by times of `CLOCK_MONOTONIC` in nanoseconds.
pub fn note(track: Track, name: impl Into<Cow<'static, str>>, [began_ns, ended_ns]: [u64; 2]) {
    if !IS_RECORDED.load(Ordering::Relaxed) {
        return;
    }
    events().push(Event {
        track,
        thread: match track {
            Track::Command => this_thread(),
            Track::Process(..) | Track::Device => 0,
        },
        name: name.into(),
        began_ns,
        ended_ns: ended_ns.max(began_ns),
    });
}

/// Ends the timeline, and returns it as JSON. Times are in microseconds since its first event.
pub fn end() -> String {
    IS_RECORDED.store(false, Ordering::Relaxed);
    to_json(&std::mem::take(&mut *events())).to_string()
}

impl Drop for Span {
    fn drop(&mut self) {
        note(
            self.track,
            std::mem::take(&mut self.name),
            [self.began_ns, monotonic_ns()],
        );
    }
}

impl Track {
    /// Returns the id that the format knows as that of a process.
    fn row(self) -> u32 {
        match self {
            Track::Command => std::process::id(),
            Track::Process(_, process) => process,
            Track::Device => DEVICE_ROW,
        }
    }

    fn title(self) -> String {
        match self {
            Track::Command => "cargo gpubench".to_owned(),
            Track::Process(role, process) => format!("{role} {process}"),
            Track::Device => "device".to_owned(),
        }
    }
}

fn to_json(events: &[Event]) -> Value {
    let first_ns = events.iter().map(|event| event.began_ns).min().unwrap_or_default();
    let rows: BTreeMap<u32, Track> = events.iter().map(|event| (event.track.row(), event.track)).collect();
    let titles = rows
        .iter()
        .map(|(row, track)| json!({"name": "process_name", "ph": "M", "pid": row, "args": {"name": track.title()}}));
    let complete = events.iter().map(|event| {
        json!({
            "name": event.name,
            "ph": "X",
            "pid": event.track.row(),
            "tid": event.thread,
            "ts": micros(event.began_ns - first_ns),
            "dur": micros(event.ended_ns - event.began_ns),
        })
    });
    json!({"displayTimeUnit": "ms", "traceEvents": titles.chain(complete).collect::<Vec<_>>()})
}

fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

/// Returns the number of this thread, from 0.
fn this_thread() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    thread_local!(static NUMBER: u32 = NEXT.fetch_add(1, Ordering::Relaxed));
    NUMBER.with(|number| *number)
}

fn events() -> MutexGuard<'static, Vec<Event>> {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(track: Track, name: &'static str, [began_ns, ended_ns]: [u64; 2]) -> Event {
        Event {
            track,
            thread: 0,
            name: name.into(),
            began_ns,
            ended_ns,
        }
    }

    #[test]
    fn events_are_complete_events_of_named_rows() {
        let worker = Track::Process("worker", 77);
        let timeline = to_json(&[
            event(worker, "timed window", [5_000, 9_500]),
            event(Track::Device, "call", [6_000, 6_250]),
        ]);
        assert_eq!(
            timeline,
            json!({
                "displayTimeUnit": "ms",
                "traceEvents": [
                    {"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "device"}},
                    {"name": "process_name", "ph": "M", "pid": 77, "args": {"name": "worker 77"}},
                    {"name": "timed window", "ph": "X", "pid": 77, "tid": 0, "ts": 0.0, "dur": 4.5},
                    {"name": "call", "ph": "X", "pid": 0, "tid": 0, "ts": 1.0, "dur": 0.25},
                ],
            })
        );
    }

    #[test]
    fn a_timeline_without_events_is_valid() {
        assert_eq!(to_json(&[]), json!({"displayTimeUnit": "ms", "traceEvents": []}));
    }

    #[test]
    fn what_happens_before_the_beginning_and_after_the_end_is_not_recorded() {
        drop(span(Track::Device, "before"));
        begin();
        drop(span(Track::Command, "a case"));
        note(Track::Device, "backwards", [5, 3]);
        let recorded = end();
        drop(span(Track::Device, "after"));
        assert!(
            recorded.contains("a case") && recorded.contains("backwards"),
            "{recorded}"
        );
        assert!(!recorded.contains("before") && !recorded.contains("-"), "{recorded}");
        assert!(!end().contains("after"));
    }
}
