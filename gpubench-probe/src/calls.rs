//! The observation of calls.

use std::process::Child;

use super::ProbeOptions;
use super::observation::{Observation, Started};
use gpubench_contract::{ProbeEnd, ProbeFinished, ProbeSample};
use gpubench_diagnostic::Failure;
use gpubench_observe::Timestamp;
use gpubench_observe::ledger::{Ledger, Limits};
use gpubench_observe::metrics::{Exporter, Page};
use gpubench_observe::sample::{Sampler, Totals};

/// Calls of the driver, made into state, records and metrics.
pub(super) struct Calls<S> {
    source: S,
    notices: Vec<String>,
    ledger: Ledger,
    sampler: Sampler,
    exporter: Exporter,
}

impl<S: Started> Calls<S> {
    pub(super) fn new(source: S, notices: Vec<String>, options: &ProbeOptions, now: Timestamp) -> Self {
        let limits = Limits {
            listed: options.listed,
            ..Limits::default()
        };
        Self {
            source,
            notices,
            ledger: Ledger::new(limits).telling_apart(options.metrics_labels.clone()),
            sampler: Sampler::starting(now),
            exporter: Exporter::default(),
        }
    }
}

impl<S: Started> Observation for Calls<S> {
    fn child(&mut self) -> Option<&mut Child> {
        self.source.child()
    }

    fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }

    fn missing(&self) -> Option<&str> {
        None
    }

    fn poll(&mut self) -> Result<usize, Failure> {
        self.source.poll(&mut |event| self.ledger.apply(event))
    }

    fn sample(&mut self, now: Timestamp) -> ProbeSample {
        self.sampler
            .sample(&self.ledger, &Totals::from_source(&self.source), now)
    }

    fn finish(&mut self, now: Timestamp, end: ProbeEnd) -> ProbeFinished {
        let sampler = self.sampler.clone();
        sampler.finish(&self.ledger, &Totals::from_source(&self.source), now, end)
    }

    fn metrics(&mut self, now: Timestamp) -> Option<Page> {
        Some(
            self.exporter
                .page(&self.ledger, &Totals::from_source(&self.source), now),
        )
    }
}
