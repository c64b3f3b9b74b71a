//! What the observers of an arm's workers tell.

use super::protocol::Protocol;
use crate::clients::{Observation, WorkerClient};

/// What the observers of an arm's workers tell, and the last output of a failed worker.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// What the observer of the last worker reports.
    pub(super) report: Option<Observation>,
    /// The last output of a failed worker.
    pub(super) printed: String,
}

impl Observed {
    /// Ends an observed worker and keeps what its observer reports.
    pub(super) fn observe(&mut self, worker: &mut WorkerClient, protocol: &Protocol<'_>) {
        let Protocol { within, interrupt, .. } = *protocol;
        // A later worker does not make up for one whose observer failed.
        if !matches!(self.report, Some(Observation::Failed(_))) {
            self.report = worker.observation(within, interrupt).or(self.report.take());
        }
        if let Some(Observation::Failed(_)) = self.report {
            self.printed = worker.last_output();
        }
    }

    /// Returns where a profiler has written its report.
    pub(super) fn notice(&self, protocol: &Protocol<'_>) -> Option<String> {
        match (protocol.observer, &self.report) {
            (Some(observer), Some(Observation::Profiled(Some(report)))) => {
                Some(format!("{} wrote `{}`", observer.name(), report.display()))
            }
            _ => None,
        }
    }
}
