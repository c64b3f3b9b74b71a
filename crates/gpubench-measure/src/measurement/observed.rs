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
        if let Some(Observation::Failed(_)) = self.report {
            return;
        }
        self.report = worker.observation(within, interrupt).or(self.report.take());
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clients::{Child, ObserverProgram, ObserverTask, RoleName};
    use crate::measurement::simulated_case::Stage;

    /// A worker whose observer does not fail.
    fn debugged() -> WorkerClient {
        let task = ObserverTask::Debug {
            arguments: Vec::new(),
            terminal: "/dev/null".into(),
        };
        under(task, "of another")
    }

    /// A worker that must be killed, which is a failure of its observer.
    fn profiled() -> WorkerClient {
        let task = ObserverTask::Profile {
            arguments: Vec::new(),
            extension: "ncu-rep",
        };
        under(task, "of the failed one")
    }

    fn under(task: ObserverTask, printed: &str) -> WorkerClient {
        let path = "/bin/observer".into();
        let (child, _) = Child::simulated_after(RoleName::Worker, printed);
        WorkerClient::simulated_under(ObserverProgram { path, task }, child)
    }

    #[test]
    fn a_later_worker_does_not_make_up_for_one_whose_observer_failed() {
        let stage = Stage::of(1);
        let protocol = Protocol {
            within: Duration::ZERO,
            ..stage.protocol()
        };
        for (workers, fails) in [
            (vec![debugged(), debugged()], false),
            (vec![profiled()], true),
            (vec![debugged(), profiled()], true),
            (vec![profiled(), debugged()], true),
        ] {
            let mut observed = Observed::default();
            for mut worker in workers {
                observed.observe(&mut worker, &protocol);
            }
            let has_failed = matches!(observed.report, Some(Observation::Failed(_)));
            assert_eq!(has_failed, fails, "{observed:?}");
            assert_eq!(observed.printed, if fails { "of the failed one" } else { "" });
        }
    }
}
