//! Samples of a ledger.

use gpubench_contract::{ProbeEnd, ProbeFinished, ProbeSample, SchemaVersion};

use super::before::Before;
use super::processes::nanoseconds;
use super::rows::Rows;
use super::state::state;
use super::timeline::{Timeline, point};
use crate::ledger::Ledger;
use crate::{Driver, FunctionTotal, LeftOut, Source, Timestamp};

/// What a source knows besides its events.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// The calls of each function.
    pub functions: Vec<FunctionTotal>,
    /// Lost events.
    pub lost: u64,
    /// The files of the driver that are probed.
    pub drivers: Vec<Driver>,
    /// What is not observed.
    pub notices: Vec<String>,
    /// The processes that a filter leaves out. `None` without one.
    pub left_out: Option<LeftOut>,
}

impl Totals {
    /// Returns the totals of a source.
    pub fn from_source(source: &dyn Source) -> Self {
        Self {
            functions: source.totals(),
            lost: source.lost(),
            drivers: source.drivers(),
            notices: source.notices(),
            left_out: source.left_out(),
        }
    }
}

/// Makes records of a ledger, with rates since the record before.
#[derive(Clone, Debug)]
pub struct Sampler {
    start: Timestamp,
    before: Before,
    timeline: Timeline,
}

impl Sampler {
    /// Returns the sampler of an observation that starts now.
    pub fn starting(now: Timestamp) -> Self {
        Self {
            start: now,
            before: Before::start(now),
            timeline: Timeline::new(),
        }
    }

    /// Returns what was seen until now, with rates since the last sample.
    pub fn sample(&mut self, ledger: &Ledger, totals: &Totals, now: Timestamp) -> ProbeSample {
        let seen = state(ledger, totals, &self.before, now, Rows::SAMPLE);
        let interval = now.since(self.before.at);
        self.advance(ledger, now);
        ProbeSample {
            schema_version: SchemaVersion,
            elapsed_ns: nanoseconds(now.since(self.start)),
            interval_ns: nanoseconds(interval),
            calls: Some(seen),
            processes_only: None,
        }
    }

    /// Returns the record of the end, with rates since the start.
    pub fn finish(mut self, ledger: &Ledger, totals: &Totals, now: Timestamp, end: ProbeEnd) -> ProbeFinished {
        self.advance(ledger, now);
        ProbeFinished {
            schema_version: SchemaVersion,
            elapsed_ns: nanoseconds(now.since(self.start)),
            end,
            exit_code: None,
            signal: None,
            calls: Some(state(ledger, totals, &Before::start(self.start), now, Rows::FINAL)),
            processes_only: None,
            timeline: self.timeline.points().to_vec(),
        }
    }

    fn advance(&mut self, ledger: &Ledger, now: Timestamp) {
        let after = Before::new(ledger, now);
        let live = ledger.live().map(|process| process.memory.bytes()).sum();
        let copied = |counts: &Before| counts.copied.iter().sum::<u64>();
        let grown = [
            after.launches - self.before.launches,
            copied(&after) - copied(&self.before),
            after.errors - self.before.errors,
        ];
        self.timeline.add(point(now.since(self.start), live, grown));
        self.before = after;
    }
}
