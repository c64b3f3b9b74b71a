//! What one worker did.

use std::num::NonZeroU32;
use std::time::Duration;

use super::energy::CallEnergy;
use crate::clients::WorkerPast;
use crate::verdict::{RunEvidence, TimeUse, WindowEvidence};
use gpubench_contract::MetricKind;
use gpubench_contract::StopReason;
use gpubench_device::Count;
use gpubench_protocol::wire::{Claim, CountProgress, DeviceWork};
use gpubench_stats::Spent;

/// What one worker did, from its set-up to its end.
#[derive(Debug)]
pub struct WorkerRun {
    /// Whether it has been measured before.
    pub past: WorkerPast,
    /// Overhead of an empty measurement in nanoseconds, as it claims it.
    pub overhead_ns: Option<f64>,
    /// Its warm-up.
    pub warm_up: WarmUp,
    /// All windows with its calls, including warm-up and early checks, in order.
    pub windows: Vec<WindowEvidence>,
    /// Number of the last window that it had to begin; 0 before its first.
    pub last_call: u32,
    /// Its samples.
    pub samples: Samples,
    /// What single calls and steps took.
    pub parts: CallParts,
    /// The energy of a call, if it was asked for and could be measured.
    pub energy: Option<CallEnergy>,
    /// Control windows between its own.
    pub controls: RunControls,
    /// Wall time of the windows with samples and early checks, without rests of the device.
    pub sampled_for: Duration,
    /// Windows since its last early check. It starts at the maximum, because each worker has at
    /// least one early check and the first may be due at once.
    pub since_early: u32,
    /// Why it has enough samples, if it has.
    pub stop: Option<StopReason>,
}

/// The warm-up of a worker.
#[derive(Debug, Default)]
pub struct WarmUp {
    /// Times of a call in its windows, in nanoseconds.
    pub claims_ns: Vec<f64>,
    /// Time spent on its windows.
    pub spent: Spent,
}

/// The samples of a worker.
#[derive(Debug, Default)]
pub struct Samples {
    /// Times of one call in nanoseconds, each the mean of a window's calls, or counts.
    pub values: Vec<f64>,
    /// Host times of one call, in nanoseconds.
    pub host_ns: Vec<f64>,
    /// The parts of the last count.
    pub counts: Vec<Count>,
}

/// What single calls and steps of a worker took.
#[derive(Debug, Default)]
pub struct CallParts {
    /// Times of the first of several calls when it is made alone, in nanoseconds.
    pub singles_ns: Vec<f64>,
    /// Times of the steps of the call's plan in nanoseconds, by window.
    pub steps_ns: Vec<Vec<f64>>,
    /// What the device did in calls that were traced, as the worker reports it.
    pub device_work: Vec<DeviceWork>,
}

/// The control windows of a worker.
#[derive(Debug, Default)]
pub struct RunControls {
    /// Those between its sampled windows.
    pub windows: Vec<WindowEvidence>,
    /// Those with the twin of one call.
    pub singles: Vec<WindowEvidence>,
}

impl Default for WorkerRun {
    /// A worker that has done nothing yet.
    fn default() -> WorkerRun {
        WorkerRun {
            past: WorkerPast::New,
            overhead_ns: None,
            warm_up: WarmUp::default(),
            windows: Vec::new(),
            last_call: 0,
            samples: Samples::default(),
            parts: CallParts::default(),
            energy: None,
            controls: RunControls::default(),
            sampled_for: Duration::ZERO,
            since_early: u32::MAX,
            stop: None,
        }
    }
}

impl WorkerRun {
    /// Returns what the judge sees of it.
    pub(super) fn evidence(&self) -> RunEvidence<'_> {
        RunEvidence {
            windows: &self.windows,
            controls: &self.controls.windows,
            single_controls: &self.controls.singles,
            last_call: self.last_call,
        }
    }

    /// Returns the time of the last window's calls in nanoseconds.
    pub(super) fn last_elapsed_ns(&self) -> Option<f64> {
        self.windows.last()?.elapsed_ns()
    }

    /// Counts the last window, of `calls` calls, as warm-up, on which `wall` was spent.
    pub(super) fn end_warm_up_window(&mut self, calls: NonZeroU32, wall: Duration) {
        let elapsed_ns = self.last_elapsed_ns();
        self.use_last_for(TimeUse::WarmUp);
        self.warm_up
            .claims_ns
            .extend(elapsed_ns.map(|elapsed_ns| elapsed_ns / f64::from(calls.get())));
        self.warm_up.spent.wall += wall;
        self.warm_up.spent.device += Spent::device_ns(elapsed_ns.unwrap_or_default());
    }

    /// Takes the sample of the last window, of `calls` calls.
    pub(super) fn keep_sample(&mut self, metric: MetricKind, calls: NonZeroU32) {
        if let Some(window) = self.windows.last() {
            self.samples.keep(window, metric, calls);
        }
    }

    /// Keeps what the last window tells about the parts of the call.
    pub(super) fn keep_parts(&mut self) {
        let Some(claim) = self.windows.last().and_then(|window| window.claim.as_deref()) else {
            return;
        };
        let (steps_ns, work) = (claim.part_times(), claim.work);
        self.parts
            .steps_ns
            .extend(Some(steps_ns.to_vec()).filter(|times| !times.is_empty()));
        self.parts
            .device_work
            .extend(Some(work).filter(|work| work.traced == 1));
    }

    /// Says what the time of the last window is used for.
    pub(super) fn use_last_for(&mut self, time_use: TimeUse) {
        if let Some(last) = self.windows.last_mut() {
            last.time_use = time_use;
        }
    }

    /// Throws the latest samples away. The worker then needs more. Their windows stay checked.
    pub(super) fn throw_away(&mut self, samples: usize) {
        let samples = samples.min(self.samples.values.len());
        self.samples.throw_away(samples);
        self.stop = None;
        let with_samples = self.windows.iter_mut().rev();
        let with_samples =
            with_samples.filter(|window| window.facts.kind.is_timed() && window.time_use == TimeUse::Counts);
        with_samples
            .take(samples)
            .for_each(|window| window.time_use = TimeUse::ThrownAway);
    }
}

impl Samples {
    /// Adds the sample of a window with `calls` calls, if the worker made a claim: their mean time,
    /// or a count unless further calls are needed for it.
    fn keep(&mut self, window: &WindowEvidence, metric: MetricKind, calls: NonZeroU32) {
        let (Some(claim), Some(elapsed_ns)) = (window.claim.as_deref(), window.elapsed_ns()) else {
            return;
        };
        let Claim { host_ns, count, .. } = *claim;
        match (metric, claim.progress) {
            (MetricKind::Time, _) => {
                let calls = f64::from(calls.get());
                self.values.push(elapsed_ns / calls);
                self.host_ns.push(host_ns / calls);
            }
            (_, CountProgress::Complete) => self.values.push(count),
            (_, _) => {}
        }
    }

    /// Keeps the parts of a count.
    pub(super) fn keep_counts(&mut self, counts: Vec<Count>) {
        if !counts.is_empty() {
            self.counts = counts;
        }
    }

    fn throw_away(&mut self, samples: usize) {
        let left = self.values.len() - samples;
        self.values.truncate(left);
        self.host_ns.truncate(left);
    }
}
