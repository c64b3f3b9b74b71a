//! The observation of processes without the calls that they make, where the machine allows no more.

use std::process::Child;
use std::time::Duration;

use super::observation::{Observation, Started};
use super::outlined::{Look, Processes};
use gpubench_contract::{ProbeEnd, ProbeFinished, ProbeOutline, ProbeSample, SchemaVersion};
use gpubench_diagnostic::Failure;
use gpubench_observe::metrics::Page;
use gpubench_observe::{Event, Timestamp};

/// Rows of a record of an interval, and of the one at the end.
const ROWS: (usize, usize) = (80, 512);

/// Processes, and what they submit to GPUs.
pub(super) struct Outline<S> {
    source: S,
    processes: Processes,
    look: Box<dyn Look>,
    missing: String,
    start: Timestamp,
    before: Before,
}

/// The state at the last sample.
#[derive(Clone, Copy, Debug)]
struct Before {
    at: Timestamp,
    submissions: u64,
}

impl<S: Started> Outline<S> {
    pub(super) fn new(source: S, look: Box<dyn Look>, missing: String, now: Timestamp) -> Self {
        Self {
            source,
            processes: Processes::default(),
            look,
            missing,
            start: now,
            before: Before {
                at: now,
                submissions: 0,
            },
        }
    }

    /// Returns what is known, with rates since `before`.
    fn outline(&self, rows: usize, before: Before, now: Timestamp) -> ProbeOutline {
        let seconds = now.since(before.at).as_secs_f64();
        let submissions = self.processes.submissions();
        let rate = |submissions: u64| {
            if seconds > 0.0 {
                submissions.saturating_sub(before.submissions) as f64 / seconds
            } else {
                0.0
            }
        };
        let (processes, processes_left_out) = self.processes.rows(rows, now);
        ProbeOutline {
            left_out: self.source.left_out().map(Into::into),
            processes_seen: self.processes.seen(),
            processes,
            processes_left_out,
            submissions,
            submissions_per_second: submissions.map(rate),
            lost_events: self.source.lost(),
        }
    }
}

impl<S: Started> Observation for Outline<S> {
    fn child(&mut self) -> Option<&mut Child> {
        self.source.child()
    }

    fn notices(&self) -> Vec<String> {
        vec![self.missing.clone()]
    }

    fn missing(&self) -> Option<&str> {
        Some(&self.missing)
    }

    fn poll(&mut self) -> Result<usize, Failure> {
        let mut events: Vec<Event> = Vec::new();
        self.source.poll(&mut |event| events.push(event))?;
        let count = events.len();
        events.into_iter().for_each(|event| self.processes.apply(event));
        self.processes.look(&mut *self.look);
        Ok(count)
    }

    fn sample(&mut self, now: Timestamp) -> ProbeSample {
        let outline = self.outline(ROWS.0, self.before, now);
        let interval = now.since(self.before.at);
        self.before = Before {
            at: now,
            submissions: outline.submissions.unwrap_or_default(),
        };
        ProbeSample {
            schema_version: SchemaVersion,
            elapsed_ns: nanoseconds(now.since(self.start)),
            interval_ns: nanoseconds(interval),
            calls: None,
            processes_only: Some(outline),
        }
    }

    fn finish(&mut self, now: Timestamp, end: ProbeEnd) -> ProbeFinished {
        let start = Before {
            at: self.start,
            submissions: 0,
        };
        ProbeFinished {
            schema_version: SchemaVersion,
            elapsed_ns: nanoseconds(now.since(self.start)),
            end,
            exit_code: None,
            signal: None,
            calls: None,
            processes_only: Some(self.outline(ROWS.1, start, now)),
            timeline: Vec::new(),
        }
    }

    fn metrics(&mut self, _now: Timestamp) -> Option<Page> {
        None
    }
}

/// Returns a time in nanoseconds. 584 years are the most.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
