//! Settings of a measurement.

use std::time::Duration;

use super::rest::Rest;
use super::run_mode::RunMode;
use super::submissions::SubmissionCounter;
use crate::clients::{Interrupt, MetricRequest, ObserverProgram, Output};
use crate::verdict::Evidence;
use gpubench_contract::MetricKind;
use gpubench_device::{ClockBound, DeviceOrder, KernelHost};
use gpubench_protocol::window::Seeds;
use gpubench_stats::{StopRule, WarmUpRule, WorkerCountRule, WorkerRules};

/// Whether the energy of a call is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Energy {
    /// It is not.
    #[default]
    Ignored,
    /// `--metric energy`: after the samples of a case's first worker.
    Measured,
}

/// Whether the evidence of each window is kept in the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvidenceUse {
    /// It is not.
    #[default]
    Judged,
    /// `--evidence`.
    JudgedAndKept,
}

impl EvidenceUse {
    /// Returns the evidence for the record.
    pub(super) fn kept(self, evidence: &Evidence<'_>) -> Option<serde_json::Value> {
        match self {
            EvidenceUse::Judged => None,
            EvidenceUse::JudgedAndKept => {
                let record = serde_json::to_value(evidence);
                Some(record.unwrap_or_else(|error| format!("it cannot be written: {error}").into()))
            }
        }
    }
}

/// Settings of a measurement.
#[derive(Debug)]
pub struct Protocol<'a> {
    /// The purpose of the run.
    pub mode: RunMode,
    /// Number of fresh workers for a case's samples. A limit on samples can lower it.
    pub worker_count: WorkerCountRule,
    /// What is read in timed windows.
    pub metric: MetricRequest<'a>,
    /// When the first worker is warm. A worker waits for its device time at most as long as it may
    /// sample.
    pub warm_up: WarmUpRule,
    /// When a case has enough samples.
    pub stop: StopRule,
    /// Whether the energy of a call is measured too.
    pub energy: Energy,
    /// Whether the device rests after each window.
    pub rest: Rest,
    /// Time limit of a window.
    pub within: Duration,
    /// Time limit of a generator or a reference.
    pub reference_within: Duration,
    /// The process that runs kernels of generators and references.
    pub kernels_run_in: KernelHost,
    /// The device.
    pub device: DeviceOrder,
    /// Seeds of the orders of blocks and threads, one for each worker of a test.
    pub schedules: &'a [u64],
    /// The program that observes every worker, if there is one.
    pub observer: Option<&'a ObserverProgram>,
    /// Counts the submissions of each window, if they are wanted. [`RunMode::Profile`] then ends
    /// with empty windows.
    pub submissions: Option<&'a dyn SubmissionCounter>,
    /// Whether the evidence is kept.
    pub evidence: EvidenceUse,
    /// Where the output of user code goes.
    pub output: Output,
    /// Whether the referee's clock bounds the worker's claims.
    pub clock_bound: &'a ClockBound,
    /// The run's keys.
    pub seeds: &'a Seeds,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
}

impl Protocol<'_> {
    /// Whether the referee's clock checks the worker's claims.
    pub(super) fn is_clocked(&self) -> bool {
        self.metric.kind == MetricKind::Time && *self.clock_bound == ClockBound::Exclusive
    }

    /// Returns how many workers measure a case, and how many samples each takes.
    pub(super) fn worker_rules(&self) -> WorkerRules {
        WorkerRules::new(self.stop.clone(), self.worker_count)
    }

    /// Whether calls are timed.
    pub(super) fn takes_times(&self) -> bool {
        self.mode == RunMode::Measure && self.metric.kind == MetricKind::Time
    }

    /// Whether workers may serve another measurement. Counters and observers need processes of
    /// their own.
    pub(super) fn workers_can_rest(&self) -> bool {
        self.metric.kind == MetricKind::Time && self.observer.is_none()
    }

    /// Returns the device settings for the worker at `position`, counted from 0.
    pub(super) fn device_of_worker(&self, position: usize) -> DeviceOrder {
        match (self.mode, self.schedules.get(position)) {
            (RunMode::Test, Some(schedule)) => self.device.with_schedule(*schedule),
            _ => self.device,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated_case::Stage;
    use super::*;
    use crate::clients::ObserverTask;
    use gpubench_contract::SanitizerTool;

    const ABSENT: ClockBound = ClockBound::Absent(std::borrow::Cow::Borrowed("it is simulated"));

    #[test]
    fn only_a_measurement_of_times_takes_times_and_only_the_referees_clock_bounds_them() {
        for (mode, kind, clock_bound, takes_times, is_clocked) in [
            (RunMode::Measure, MetricKind::Time, &ClockBound::Exclusive, true, true),
            (RunMode::Measure, MetricKind::Time, &ABSENT, true, false),
            (
                RunMode::Measure,
                MetricKind::Instructions,
                &ClockBound::Exclusive,
                false,
                false,
            ),
            (
                RunMode::Measure,
                MetricKind::Memory,
                &ClockBound::Exclusive,
                false,
                false,
            ),
            (RunMode::Test, MetricKind::Time, &ClockBound::Exclusive, false, true),
            (RunMode::Audit(Duration::ZERO), MetricKind::Time, &ABSENT, false, false),
            (
                RunMode::Profile(Duration::ZERO),
                MetricKind::Time,
                &ABSENT,
                false,
                false,
            ),
        ] {
            let stage = Stage::of(1);
            let mut protocol = Protocol {
                mode,
                clock_bound,
                ..stage.protocol()
            };
            protocol.metric.kind = kind;
            let found = (protocol.takes_times(), protocol.is_clocked());
            assert_eq!(found, (takes_times, is_clocked), "{mode:?} {kind:?} {clock_bound:?}");
            assert_eq!(mode.is_timed(), mode == RunMode::Measure);
        }
    }

    #[test]
    fn a_worker_rests_only_if_nothing_counts_or_observes_it() {
        let observer = ObserverProgram {
            path: "/bin/compute-sanitizer".into(),
            task: ObserverTask::Sanitize(SanitizerTool::Memcheck),
        };
        for (kind, observer, can_rest) in [
            (MetricKind::Time, None, true),
            (MetricKind::Time, Some(&observer), false),
            (MetricKind::Instructions, None, false),
        ] {
            let stage = Stage::of(1);
            let mut protocol = Protocol {
                observer,
                ..stage.protocol()
            };
            protocol.metric.kind = kind;
            assert_eq!(protocol.workers_can_rest(), can_rest, "{kind:?} {observer:?}");
        }
    }

    #[test]
    fn only_the_workers_of_a_test_have_schedules() {
        for (mode, position, schedule) in [
            (RunMode::Test, 0, Some(7)),
            (RunMode::Test, 1, Some(8)),
            (RunMode::Test, 2, None),
            (RunMode::Measure, 1, None),
        ] {
            let stage = Stage::of(1);
            let protocol = Protocol {
                mode,
                schedules: &[7, 8],
                ..stage.protocol()
            };
            let expected = schedule.map_or(protocol.device, |seed| protocol.device.with_schedule(seed));
            assert_eq!(protocol.device_of_worker(position), expected, "{mode:?} {position}");
        }
    }
}
