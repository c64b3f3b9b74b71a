//! What one worker did.

use std::num::NonZeroU32;
use std::time::Duration;

use super::energy::CallEnergy;
use super::placements::PlacesOfRun;
use crate::clients::WorkerPast;
use crate::verdict::{RunEvidence, TimeUse, WindowEvidence};
use gpubench_contract::MetricKind;
use gpubench_contract::StopReason;
use gpubench_device::Count;
use gpubench_protocol::window::Gate;
use gpubench_protocol::wire::{Claim, CountProgress, DeviceWork};
use gpubench_stats::Spent;

/// What one worker did, from its set-up to its end.
#[derive(Debug)]
pub struct WorkerRun {
    /// Whether it has been measured before.
    pub past: WorkerPast,
    /// Overhead of an empty measurement in nanoseconds, as it claims it.
    pub overhead_ns: Option<f64>,
    /// Where its buffers lay.
    pub placements: PlacesOfRun,
    /// Its warm-up.
    pub warm_up: WarmUp,
    /// All windows with its calls, including warm-up and early checks, in order.
    pub windows: Vec<WindowEvidence>,
    /// Number of the last window that it had to begin; 0 before its first.
    pub last_call: u32,
    /// What held back the calls of that window. `None` before its first.
    pub last_gate: Option<Gate>,
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
    /// Times from outside of calls that may wait for the device, in nanoseconds, if a stream holds
    /// the others.
    pub outside_ns: Vec<f64>,
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
            placements: PlacesOfRun::default(),
            warm_up: WarmUp::default(),
            windows: Vec::new(),
            last_call: 0,
            last_gate: None,
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

    /// Counts the last window, whose call was timed from outside, as warm-up.
    pub(super) fn end_outside_window(&mut self, wall: Duration) {
        let elapsed_ns = self.last_elapsed_ns().unwrap_or_default();
        self.use_last_for(TimeUse::WarmUp);
        self.parts.outside_ns.push(elapsed_ns);
        self.warm_up.spent.wall += wall;
        self.warm_up.spent.device += Spent::device_ns(elapsed_ns);
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

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;

    use super::*;
    use gpubench_protocol::window::WindowKind;
    use gpubench_protocol::wire::WindowFacts;

    fn window(kind: WindowKind, elapsed_ns: f64) -> WindowEvidence {
        let facts = WindowFacts {
            kind,
            ..WindowFacts::zeroed()
        };
        let claim = Claim {
            elapsed_ns,
            host_ns: elapsed_ns / 2.0,
            ..Claim::empty(1)
        };
        WindowEvidence::new(Box::new(facts), Some(Box::new(claim)))
    }

    /// A worker whose warm-up took one window. Of the five windows after it, three gave a sample.
    fn run() -> WorkerRun {
        let (timed, early) = (WindowKind::Timed, WindowKind::EarlyCheck);
        let mut run = WorkerRun::default();
        run.windows.push(window(timed, 900.0));
        run.end_warm_up_window(NonZeroU32::MIN, Duration::ZERO);
        for (kind, elapsed_ns) in [(timed, 10.0), (early, 0.0), (timed, 20.0), (timed, 30.0), (early, 0.0)] {
            run.windows.push(window(kind, elapsed_ns));
            if kind == timed {
                run.keep_sample(MetricKind::Time, NonZeroU32::MIN);
            }
        }
        run.windows.push(window(timed, 700.0));
        run.use_last_for(TimeUse::Energy);
        run.stop = Some(StopReason::MaxSamples);
        run
    }

    #[test]
    fn the_latest_samples_are_thrown_away_with_their_windows() {
        let uses = |run: &WorkerRun| run.windows.iter().map(|window| window.time_use).collect::<Vec<_>>();
        use TimeUse::{Counts, Energy, ThrownAway, WarmUp};
        for (number, left, expected) in [
            (
                0,
                &[10.0, 20.0, 30.0][..],
                [WarmUp, Counts, Counts, Counts, Counts, Counts, Energy],
            ),
            (
                1,
                &[10.0, 20.0],
                [WarmUp, Counts, Counts, Counts, ThrownAway, Counts, Energy],
            ),
            (
                2,
                &[10.0],
                [WarmUp, Counts, Counts, ThrownAway, ThrownAway, Counts, Energy],
            ),
            (
                9,
                &[],
                [WarmUp, ThrownAway, Counts, ThrownAway, ThrownAway, Counts, Energy],
            ),
        ] {
            let mut run = run();
            run.throw_away(number);
            assert_eq!(run.samples.values, left, "{number}");
            assert_eq!(run.samples.host_ns.len(), left.len(), "{number}");
            assert_eq!(uses(&run), expected, "{number}");
        }
    }

    #[test]
    fn samples_that_were_thrown_away_before_keep_their_windows() {
        let mut run = run();
        run.throw_away(1);
        run.throw_away(1);
        let away = run
            .windows
            .iter()
            .filter(|window| window.time_use == TimeUse::ThrownAway);
        let away: Vec<Option<f64>> = away.map(WindowEvidence::elapsed_ns).collect();
        assert_eq!(away, [Some(20.0), Some(30.0)]);
    }

    #[test]
    fn a_worker_whose_samples_are_thrown_away_needs_more() {
        let mut run = run();
        run.throw_away(1);
        assert_eq!(run.stop, None);
    }

    #[test]
    fn a_sample_is_the_mean_of_the_calls_of_its_window() {
        let calls = NonZeroU32::new(4).unwrap();
        let mut run = WorkerRun::default();
        run.windows.push(window(WindowKind::Timed, 100.0));
        run.end_warm_up_window(calls, Duration::from_millis(3));
        run.keep_sample(MetricKind::Time, calls);
        assert_eq!((run.warm_up.claims_ns, run.samples.values), (vec![25.0], vec![25.0]));
        assert_eq!(run.samples.host_ns, [12.5]);
        let spent = Spent {
            wall: Duration::from_millis(3),
            device: Duration::from_nanos(100),
        };
        assert_eq!(run.warm_up.spent, spent);
    }

    #[test]
    fn a_count_is_a_sample_once_it_is_complete() {
        for (metric, progress, samples) in [
            (MetricKind::Instructions, CountProgress::Nothing, vec![]),
            (MetricKind::Instructions, CountProgress::Partial, vec![]),
            (MetricKind::Instructions, CountProgress::Complete, vec![46.0]),
            (MetricKind::Time, CountProgress::Partial, vec![10.0]),
        ] {
            let mut run = WorkerRun::default();
            let mut window = window(WindowKind::Timed, 10.0);
            let claim = window.claim.as_mut().unwrap();
            (claim.count, claim.progress) = (46.0, progress);
            run.windows.push(window);
            run.keep_sample(metric, NonZeroU32::MIN);
            assert_eq!(run.samples.values, samples, "{metric:?} {progress:?}");
        }
    }

    #[test]
    fn the_judge_sees_each_kind_of_window_in_its_own_list() {
        let mut run = run();
        run.controls.add(window(WindowKind::Control, 5.0));
        run.controls.add(window(WindowKind::SingleControl, 6.0));
        run.controls.add(window(WindowKind::Control, 7.0));
        run.last_call = 9;
        let evidence = run.evidence();
        let times = |windows: &[WindowEvidence]| {
            windows
                .iter()
                .filter_map(WindowEvidence::elapsed_ns)
                .collect::<Vec<_>>()
        };
        assert_eq!(times(evidence.windows), [900.0, 10.0, 0.0, 20.0, 30.0, 0.0, 700.0]);
        assert_eq!(times(evidence.controls), [5.0, 7.0]);
        assert_eq!(times(evidence.single_controls), [6.0]);
        assert_eq!(evidence.last_call, 9);
    }

    #[test]
    fn the_parts_of_a_count_remain_until_the_next() {
        let count = |value| Count {
            range: "spin".to_owned(),
            of: String::new(),
            value,
        };
        let mut samples = Samples::default();
        for (found, kept) in [(vec![count(1.0)], 1.0), (Vec::new(), 1.0), (vec![count(2.0)], 2.0)] {
            samples.keep_counts(found);
            assert_eq!(samples.counts, [count(kept)]);
        }
    }

    #[test]
    fn only_calls_that_were_traced_tell_what_the_device_did() {
        let mut run = WorkerRun::default();
        for traced in [0, 1, 0] {
            let mut window = window(WindowKind::Parts, 10.0);
            window.claim.as_mut().unwrap().work.traced = traced;
            run.windows.push(window);
            run.keep_parts();
        }
        assert_eq!(run.parts.device_work.len(), 1);
        assert!(run.parts.steps_ns.is_empty());
    }

    #[test]
    fn an_early_check_is_due_at_once_and_there_is_no_call_yet() {
        let run = WorkerRun::default();
        assert_eq!((run.since_early, run.last_call), (u32::MAX, 0));
    }
}
