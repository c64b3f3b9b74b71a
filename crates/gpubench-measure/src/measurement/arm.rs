//! An arm, window by window: one of the cases that are measured alternately.

mod windows;

use std::num::NonZeroU32;

use super::budget::budget;
use super::case::{ReadyCase, Standing, TurnCase};
use super::control_lease::ControlLease;
use super::controls::{Controls, Runner};
use super::energy::{self, CallEnergy};
use super::error::MeasureError;
use super::evidence::EvidenceBuilder;
use super::measured::Measured;
use super::pool::WorkerPool;
use super::protocol::Protocol;
use super::rest::Rests;
use super::run_mode::RunMode;
use super::samples::Samples;
use super::sequence::Sequencer;
use super::stopping::Stopping;
use crate::clients::{Observation, ObserverProgram, RoleFailure, WorkerClient};
use crate::verdict::{Ending, Evidence, WindowEvidence, balance, judge, sharing};
use gpubench_contract::StopReason;
use gpubench_device::Count;
use gpubench_device::telemetry::EnergyReading;
use gpubench_protocol::window::{DrawnCalls, WindowId, WindowKind, WindowOwner};
use gpubench_protocol::wire::{DeviceWork, Measurand};
use gpubench_sandbox::Confinement;
use gpubench_stats::{median, stop_of_case};

pub(super) use windows::Part;

/// How often each worker times the steps of a call.
const TIMES_OF_PART: u32 = 2;

/// Number of windows of a case that make one of several calls alone, and of their control windows,
/// that is enough.
const ENOUGH_SINGLES: usize = 12;

/// The same if the limits on the time are reached.
const FEWEST_SINGLES: usize = 5;

/// An arm and the results of its windows so far.
pub(super) struct Arm<'a> {
    pub(super) owner: WindowOwner,
    standing: Standing,
    case: &'a ReadyCase<'a>,
    protocol: &'a Protocol<'a>,
    evidence: EvidenceBuilder<'a>,
    pub(super) samples: Samples,
    has_parts: bool,
    /// The times of the call's parts in nanoseconds, by window.
    parts_ns: Vec<Vec<f64>>,
    /// What the device did in calls that were traced.
    device_work: Vec<DeviceWork>,
    /// Times of windows that make the first of several calls alone, in nanoseconds.
    singles_ns: Vec<f64>,
    energy: Option<CallEnergy>,
    /// Notices about the measurement.
    pub(super) notices: Vec<String>,
    /// The counts of the last window that was counted.
    counts: Vec<Count>,
    stopping: Stopping<'a>,
    controls: Controls,
    /// The last output of a failed worker.
    printed: String,
    pub(super) pool: WorkerPool<'a>,
    /// The worker of this round, unless it has failed.
    worker: Option<WorkerClient>,
    /// What the observer of the last worker reports.
    observation: Option<Observation>,
    /// Why the arm stopped, if its code is not to blame.
    pub(super) lost: Option<RoleFailure>,
}

/// The state that all arms share.
pub(super) struct Context<'c> {
    pub(super) sequencer: Sequencer<'c>,
    pub(super) control: ControlLease<'c>,
    /// Number of the last window of any arm. Before the first window, the number before its own.
    pub(super) begun: u32,
    /// Number of control windows of the case so far, including an earlier measurement.
    pub(super) controls: usize,
}

impl Context<'_> {
    /// Returns the id of the next window. All workers and arms share one numbering, so no worker
    /// sees a key that another has seen.
    pub(super) fn next_place(&self, case: u64) -> WindowId {
        WindowId {
            case,
            window: self.begun + 1,
        }
    }

    /// Runs a window of the control worker, if there is one, on the tensors of `side`.
    ///
    /// # Errors
    /// If anything but the control worker fails.
    pub(super) fn run_in_control_worker(
        &mut self,
        kind: WindowKind,
        side: WindowOwner,
    ) -> Result<Option<WindowEvidence>, MeasureError> {
        let before = self.controls;
        self.controls += 1;
        self.control.run_window(&mut self.sequencer, kind, side, before)
    }
}

impl<'a> Arm<'a> {
    pub(super) fn new(
        TurnCase { case, entrant }: TurnCase<'a>,
        protocol: &'a Protocol<'a>,
        pool: WorkerPool<'a>,
    ) -> Arm<'a> {
        let evidence = EvidenceBuilder::new(case, protocol);
        Arm {
            owner: pool.owner(),
            standing: entrant.standing,
            case,
            protocol,
            controls: Controls::by(Runner::of(protocol, &evidence.execution)),
            evidence,
            has_parts: case.has_parts(protocol) && protocol.reading.measurand == Measurand::Time,
            parts_ns: Vec::new(),
            device_work: Vec::new(),
            singles_ns: Vec::new(),
            energy: None,
            notices: Vec::new(),
            samples: Samples::of_measurand(protocol.reading.measurand),
            counts: Vec::new(),
            stopping: Stopping::new(protocol),
            printed: String::new(),
            pool,
            worker: None,
            observation: None,
            lost: None,
        }
    }

    /// Notes that host code of another contestant, `name`, lives at the same time.
    pub(super) fn note_hosted_rival(&mut self, name: &str) {
        self.evidence.note_hosted_rival(name);
    }

    /// Whether the submissions of its windows are counted.
    pub(super) fn counts_submissions(&self) -> bool {
        self.protocol.submissions.is_some()
    }

    /// Whether every round so far succeeded.
    pub(super) fn can_continue(&self) -> bool {
        self.lost.is_none() && self.has_succeeded()
    }

    pub(super) fn is_active(&self) -> bool {
        self.worker.is_some()
    }

    /// Whether the case is judged itself.
    pub(super) fn is_judged(&self) -> bool {
        self.standing == Standing::Judged
    }

    /// Starts the round with the next worker of the pool.
    pub(super) fn begin_round(&mut self) {
        self.evidence.begin_turn();
        self.controls.begin_turn();
        self.samples.begin_turn();
        match self.pool.next() {
            Ok(ready) => {
                self.samples.turn_mut().past = ready.worker.past();
                self.worker = self.evidence.admit(ready);
            }
            // A constructor in a kernel module may exit or never return. The kernel is to blame for
            // that.
            Err(RoleFailure::Ended { end, log, .. }) => match self.protocol.observer {
                None => self.evidence.ending = Ending::WorkerEnded { end, log },
                Some(observer) => {
                    let observer = observer.name();
                    self.lost = Some(RoleFailure::ObserverEnded { observer, end, log });
                }
            },
            Err(RoleFailure::Silent { within, .. }) => self.evidence.ending = Ending::TimedOut { within },
            Err(failure) => self.lost = Some(failure),
        }
    }

    /// Ends the round: kills the worker and waits for its end, or lets it rest for another
    /// measurement. An observer first gets the time to write its report.
    pub(super) fn end_round(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            self.observe(&mut worker);
            self.pool.retire(worker);
        }
    }

    /// Ends an observed worker and keeps what its observer reports.
    fn observe(&mut self, worker: &mut WorkerClient) {
        let Protocol { within, interrupt, .. } = *self.protocol;
        // A later worker does not make up for one whose observer failed.
        if !matches!(self.observation, Some(Observation::Failed(_))) {
            self.observation = worker.observation(within, interrupt).or(self.observation.take());
        }
        if let Some(Observation::Failed(_)) = self.observation {
            self.printed = worker.last_output();
        }
    }

    /// Whether every worker has run and has enough samples.
    pub(super) fn is_complete(&self) -> bool {
        self.samples.turns() >= self.stopping.first_workers() && self.has_succeeded()
    }

    /// Returns how many workers an arm without rivals needs, given the samples so far.
    pub(super) fn workers_to_have(&self) -> usize {
        self.stopping.workers_to_have(&self.samples)
    }

    /// Whether every worker so far has enough samples.
    fn has_succeeded(&self) -> bool {
        self.samples.stops().len() == self.samples.turns()
    }

    /// Whether the current worker is warm.
    pub(super) fn is_warm(&self) -> bool {
        self.evidence.last_call > 0 && self.stopping.is_warm(&self.samples)
    }

    /// Returns the number of calls that a sample is the mean of, each with its own tensors.
    fn calls_of_sample(&self) -> NonZeroU32 {
        self.case.calls.count
    }

    /// Number of windows since the current worker's last early check.
    pub(super) fn since_early(&self) -> u32 {
        self.samples.turn().since_early
    }

    /// Returns how often the work of a window is repeated to measure its energy, or a notice that
    /// says why it cannot be.
    pub(super) fn energy_repeats(&self) -> Result<NonZeroU32, String> {
        if energy::changes_inputs(self.case) {
            return Err(energy::CHANGES_INPUTS.to_owned());
        }
        let call_ns = median(self.samples.of_present_worker()).unwrap_or_default();
        let window_ns = call_ns * f64::from(self.calls_of_sample().get());
        energy::repeats(window_ns, self.protocol.within, |wanted| {
            energy::repeats_at_most(self.case, wanted)
        })
    }

    /// Computes the energy of a call from the readings before and after the last window.
    pub(super) fn note_energy(&mut self, readings: [EnergyReading; 2], repeats: NonZeroU32) {
        let calls = f64::from(self.calls_of_sample().get()) * f64::from(repeats.get());
        let elapsed_ns = self.evidence.last_window().and_then(WindowEvidence::elapsed_ns);
        self.energy = elapsed_ns.and_then(|elapsed_ns| energy::energy(readings, elapsed_ns, calls));
    }

    /// Returns how many windows time the steps of the call's plan one by one in each round.
    pub(super) fn windows_for_parts(&self) -> u32 {
        match self.has_parts {
            true => TIMES_OF_PART,
            false => 0,
        }
    }

    /// Returns which calls the windows of a worker make.
    pub(super) fn drawn_calls(&self) -> DrawnCalls {
        match (self.protocol.reading.measurand, self.calls_of_sample()) {
            (Measurand::Time, calls) if calls > NonZeroU32::MIN => DrawnCalls::AllOrFirst,
            _ => DrawnCalls::All,
        }
    }

    /// Whether the workers so far have fewer windows that make one call alone than their share of
    /// what a case needs.
    fn lacks_singles(&self, of_case: usize) -> bool {
        let share = (of_case * self.samples.turns()).div_ceil(self.stopping.first_workers());
        self.drawn_calls() == DrawnCalls::AllOrFirst && self.singles_ns.len() < share
    }

    /// Whether a control window shows how long the tool's own part of a window with one call is.
    fn wants_single_control(&self, context: &Context<'_>) -> bool {
        self.controls.can_continue(&context.control) && self.controls.singles.len() < ENOUGH_SINGLES
    }

    /// Whether the current worker has time for more samples in place of some of its own.
    pub(super) fn can_take_again(&self) -> bool {
        let is_timed = self.protocol.reading.measurand == Measurand::Time;
        is_timed && self.is_active() && self.samples.turn().stop != Some(StopReason::MaxTime)
    }

    /// Throws the latest samples of the current worker away. Their windows stay checked.
    pub(super) fn throw_away(&mut self, samples: usize) {
        let samples = samples.min(self.samples.of_present_worker().len());
        self.samples.throw_away(samples);
        self.evidence.throw_away(samples);
    }

    /// Whether the current worker has enough samples, and enough windows with one call.
    pub(super) fn has_enough(&self) -> bool {
        let lacks_singles = match self.samples.turn().stop {
            None => return false,
            Some(StopReason::MaxSamples) => false,
            Some(_) if self.may_go_on() => self.lacks_singles(ENOUGH_SINGLES),
            Some(_) => self.lacks_singles(FEWEST_SINGLES),
        };
        !lacks_singles
    }

    /// Whether the limits allow the current worker more windows while another arm needs them.
    pub(super) fn may_go_on(&self) -> bool {
        self.stopping.may_go_on(&self.samples, self.calls_of_sample())
    }

    /// Returns the seed of the last worker's order of blocks and threads, if the test has tried
    /// another order before.
    fn schedule(&self) -> Option<u64> {
        let turns = self.evidence.warm_ups.len();
        match self.protocol.mode {
            RunMode::Test if turns > 1 => self.protocol.schedules.get(turns - 1).copied(),
            _ => None,
        }
    }

    /// Judges all windows, with the number of other processes on the device.
    pub(super) fn finish(
        mut self,
        control: &ControlLease<'_>,
        rests: &Rests,
        other_clients: Option<u32>,
        author: &Confinement,
    ) -> Measured {
        self.evidence.note_sandbox("generators and references", author);
        let evidence = Evidence {
            other_clients,
            ..self
                .evidence
                .of_all_windows(self.controls.seen(control), self.evidence.ending.clone())
        };
        let balance = balance(&evidence);
        let judgement = judge(&evidence, balance.as_ref())
            .with_schedule(self.schedule())
            .with_observation(self.protocol.observer, self.observation.as_ref())
            .with_last_output(&self.printed);
        let stop = stop_of_case(&self.samples.stops()).filter(|_| self.is_complete());
        let mut notices = std::mem::take(&mut self.notices);
        notices.extend(notices_of(self.protocol.observer, self.observation.as_ref()));
        let workers = self.samples.by_worker();
        Measured {
            calls: self.case.calls.count,
            sharing: sharing(&evidence, balance.as_ref()),
            judgement,
            worker_samples: workers.iter().map(|samples| samples.len()).collect(),
            windows: self.evidence.windows,
            warm_ups: self.evidence.warm_ups,
            control_turns: self.controls.turns,
            control_windows: self.controls.windows,
            controls_afterwards: self.controls.afterwards,
            balance,
            parts_ns: self.parts_ns,
            singles_ns: self.singles_ns,
            device_work: self.device_work,
            budget: self
                .protocol
                .takes_times()
                .then(|| budget(self.protocol, &self.samples, rests)),
            samples: self.samples.values,
            counts: self.counts,
            host_ns: self.samples.host_ns,
            event_overhead_ns: median(&self.evidence.overheads_ns),
            empty_call_ns: None,
            stop,
            energy: self.energy,
            failed_alternating: None,
            notices,
            sanitizer: match self.observation {
                Some(Observation::Sanitized(report)) => Some(report),
                _ => None,
            },
        }
    }
}

/// Returns where a profiler has written its report.
fn notices_of(observer: Option<&ObserverProgram>, observation: Option<&Observation>) -> Vec<String> {
    match (observer, observation) {
        (Some(observer), Some(Observation::Profiled(Some(report)))) => {
            vec![format!("{} wrote `{}`", observer.name(), report.display())]
        }
        _ => Vec::new(),
    }
}
