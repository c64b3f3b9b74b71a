//! What is observed, made into records.

use std::process::Child;

use gpubench_contract::{ProbeEnd, ProbeFinished, ProbeSample};
use gpubench_diagnostic::Failure;
use gpubench_observe::metrics::Page;
use gpubench_observe::{Filtered, Lifecycles, Observer, Source, Timestamp};

/// An observation, of calls or without them.
pub(super) trait Observation {
    /// Returns the command that was started, if one was.
    fn child(&mut self) -> Option<&mut Child>;

    /// Returns what cannot be seen on this machine, and what would change that.
    fn notices(&self) -> Vec<String>;

    /// Returns why calls are not observed, and what would change that. `None` if they are.
    fn missing(&self) -> Option<&str>;

    /// Takes the events that wait, and returns how many they were.
    ///
    /// # Errors
    /// Events cannot be read any more.
    fn poll(&mut self) -> Result<usize, Failure>;

    /// Returns what was seen until now, with rates since the last sample.
    fn sample(&mut self, now: Timestamp) -> ProbeSample;

    /// Returns the record of the end, with rates since the start.
    fn finish(&mut self, now: Timestamp, end: ProbeEnd) -> ProbeFinished;

    /// Returns the metrics. `None` if there are none without calls.
    fn metrics(&mut self, now: Timestamp) -> Option<Page>;
}

/// A source of events that may have started a command.
pub(super) trait Started: Source {
    /// Returns the command that was started, if one was.
    fn child(&mut self) -> Option<&mut Child>;
}

impl Started for Observer {
    fn child(&mut self) -> Option<&mut Child> {
        self.child()
    }
}

impl<S: Started> Started for Filtered<S> {
    fn child(&mut self) -> Option<&mut Child> {
        self.source_mut().child()
    }
}

impl Started for Lifecycles {
    fn child(&mut self) -> Option<&mut Child> {
        self.child()
    }
}
