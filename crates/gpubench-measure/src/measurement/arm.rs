//! An arm, window by window: one of the cases that are measured alternately.

mod memory;
mod orders;
mod windows;

use std::num::NonZeroU32;

use super::budget::budget;
use super::case::{ReadyCase, Standing, TurnCase};
use super::checks::may_be_blind;
use super::control_lease::ControlLease;
use super::controls::{Controls, Runner};
use super::energy;
use super::error::MeasureError;
use super::input_sets::SetLimit;
use super::measured::Measured;
use super::observed::Observed;
use super::pool::{ReadyWorker, WorkerPool};
use super::protocol::Protocol;
use super::rest::Rests;
use super::run::WorkerRun;
use super::run_mode::RunMode;
use super::sandboxes::Sandboxes;
use super::sequence::Sequencer;
use super::stopping::{Stopping, samples_by_worker};
use crate::clients::{Observation, RoleFailure, Start, WorkerClient};
use crate::verdict::{Ending, Evidence, Judgement, RunEvidence, Surroundings, WindowEvidence, balance, judge, sharing};
use gpubench_contract::MetricKind;
use gpubench_contract::StopReason;
use gpubench_device::telemetry::EnergyReading;
use gpubench_protocol::window::{DrawnCalls, Gate, WindowId, WindowKind, WindowOwner};
use gpubench_sandbox::Confinement;
use gpubench_stats::{median, stop_of_case};

pub(super) use windows::WindowPurpose;

/// How often each worker times the steps of a call.
const TIMES_OF_PART: u32 = 2;

/// How many calls of each worker are timed from outside, before those that a stream holds. The
/// first loads kernels, and the last tells how long a call works on the host.
const OUTSIDE_CALLS: usize = 4;

/// Number of windows of a case that make one of several calls alone, and of their control windows,
/// that is enough.
const ENOUGH_SINGLES: usize = 12;

/// The same if the limits on the time are reached.
const FEWEST_SINGLES: usize = 5;

/// An arm: what its workers did so far, and when they have done enough.
pub(super) struct Arm<'a> {
    turn: TurnCase<'a>,
    protocol: &'a Protocol<'a>,
    /// What holds its calls back.
    gate: Gate,
    stopping: Stopping<'a>,
    controls: Controls,
    pub(super) pool: WorkerPool<'a>,
    /// The worker of this round, unless it has failed.
    worker: Option<WorkerClient>,
    /// What each worker did. The last is that of this round.
    runs: Vec<WorkerRun>,
    sandboxes: Sandboxes,
    observed: Observed,
    /// How many sets of inputs each worker may use, if they are made before.
    sets: Option<SetLimit>,
    /// How its last worker ended.
    ending: Ending,
    /// The seed of an order of blocks and threads in which a wrong call of a test gives other
    /// outputs.
    differs_in_order: Option<u64>,
    /// Why the arm stopped, if its code is not to blame.
    pub(super) lost: Option<RoleFailure>,
    /// What the message says about the tensors of a call with a wrong output.
    kept_call: Option<String>,
    /// Notices about the measurement.
    pub(super) notices: Vec<String>,
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
    pub(super) fn next_window(&self, case: u64) -> WindowId {
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
    pub(super) fn new(turn: TurnCase<'a>, protocol: &'a Protocol<'a>, gate: Gate, pool: WorkerPool<'a>) -> Arm<'a> {
        let case = turn.case;
        let sandboxes = Sandboxes::new(case);
        Arm {
            turn,
            protocol,
            gate,
            stopping: Stopping::new(protocol, case.calls.count),
            controls: Controls::by(Runner::new(protocol, &sandboxes.execution)),
            pool,
            worker: None,
            runs: Vec::new(),
            sandboxes,
            observed: Observed::default(),
            sets: None,
            ending: Ending::Stopped,
            differs_in_order: None,
            lost: None,
            kept_call: None,
            notices: Vec::new(),
        }
    }

    /// Notes that host code of another contestant, `name`, lives at the same time.
    pub(super) fn note_hosted_rival(&mut self, name: &str) {
        self.sandboxes.note_hosted_rival(name);
    }

    /// Limits the calls of each worker to the sets of inputs that are made before.
    pub(super) fn use_sets(&mut self, limit: SetLimit) {
        self.sets = Some(limit);
    }

    /// Whether the current worker has sets of inputs for further samples.
    pub(super) fn has_inputs(&self) -> bool {
        self.sets
            .is_none_or(|sets| sets.allows_samples(self.run().windows.len()))
    }

    /// Stops a worker that has used its sets of inputs, with a notice.
    fn stop_without_inputs(&mut self) {
        let Some(sets) = self.sets.filter(|_| !self.has_inputs()) else {
            return;
        };
        self.run_mut().stop = Some(StopReason::MaxSamples);
        let notice = sets.notice();
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }

    /// Returns whose windows it runs.
    pub(super) fn owner(&self) -> WindowOwner {
        self.pool.owner()
    }

    fn case(&self) -> &'a ReadyCase<'a> {
        self.turn.case
    }

    fn run(&self) -> &WorkerRun {
        self.runs.last().expect("a round has begun")
    }

    fn run_mut(&mut self) -> &mut WorkerRun {
        self.runs.last_mut().expect("a round has begun")
    }

    /// Returns the samples of each worker.
    pub(super) fn samples(&self) -> Vec<&[f64]> {
        samples_by_worker(&self.runs)
    }

    /// Returns the number of samples of all workers.
    pub(super) fn sample_count(&self) -> usize {
        self.samples().iter().map(|samples| samples.len()).sum()
    }

    /// Returns the number of samples of the current worker.
    pub(super) fn current_sample_count(&self) -> usize {
        self.run().samples.values.len()
    }

    /// Whether the submissions of its windows are counted.
    pub(super) fn counts_submissions(&self) -> bool {
        self.protocol.submissions.is_some()
    }

    /// Whether the current worker still has to make calls that are timed from outside, since its
    /// stream holds the others although they may wait for the device.
    fn lacks_outside_calls(&self) -> bool {
        let may_wait = self.case().recording.execution.may_wait();
        may_wait && self.gate == Gate::Stream && self.run().parts.outside_ns.len() < OUTSIDE_CALLS
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
        self.turn.entrant.standing == Standing::Judged
    }

    /// Starts the round with the next worker of the pool.
    pub(super) fn begin_round(&mut self) {
        self.runs.push(WorkerRun::default());
        match self.pool.next() {
            Ok(ready) => self.admit(ready),
            // A constructor in a kernel module may exit or never return. The kernel is to blame for
            // that.
            Err(RoleFailure::Ended { end, log, .. }) => match self.protocol.observer {
                None => self.ending = Ending::WorkerEnded { end, log },
                Some(observer) => {
                    let observer = observer.name();
                    self.lost = Some(RoleFailure::ObserverEnded { observer, end, log });
                }
            },
            Err(RoleFailure::Silent { within, .. }) => self.ending = Ending::TimedOut { within },
            Err(failure @ RoleFailure::Protocol { .. }) if self.pool.runs_user_code() => {
                let what = gpubench_diagnostic::chain(&failure);
                self.ending = Ending::BrokeProtocol { what };
            }
            Err(failure) => self.lost = Some(failure),
        }
    }

    /// Takes a worker after its set-up. There is none if the set-up of its host code failed.
    fn admit(&mut self, ready: ReadyWorker) {
        let ReadyWorker {
            worker,
            confinement,
            start,
        } = ready;
        self.sandboxes.note_worker(self.runs.len() - 1, confinement);
        self.run_mut().past = worker.past();
        match start {
            Start::Refused(message) => self.ending = Ending::SetUpFailed { message },
            Start::Ready(overhead_ns) => {
                self.run_mut().overhead_ns = Some(overhead_ns).filter(|ns| ns.is_finite() && *ns >= 0.0);
                self.worker = Some(worker);
            }
        }
    }

    /// Ends the round: the worker ends, with others if it may, or rests for another measurement. An
    /// observer first gets the time to write its report.
    pub(super) fn end_round(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            self.observed.observe(&mut worker, self.protocol);
            self.pool.retire(worker);
        }
    }

    /// Whether every worker has run and has enough samples.
    pub(super) fn is_complete(&self) -> bool {
        self.runs.len() >= self.stopping.first_workers() && self.has_succeeded()
    }

    /// Returns how many workers an arm without rivals needs, given the samples so far. A bound on
    /// the claims that says little needs more, however well the samples agree.
    pub(super) fn workers_to_have(&self) -> usize {
        let runs = self.runs.iter().map(WorkerRun::evidence).collect();
        let so_far = self.evidence(runs, Surroundings::default(), Ending::Stopped);
        match balance(&so_far) {
            Some(balance) if balance.is_vague() => self.stopping.workers_after(&self.runs),
            _ => self.stopping.workers_to_have(&self.runs),
        }
    }

    /// Whether every worker so far has enough samples.
    fn has_succeeded(&self) -> bool {
        self.runs.iter().all(|run| run.stop.is_some())
    }

    /// Whether the current worker is warm.
    pub(super) fn is_warm(&self) -> bool {
        let used = self.run().windows.len();
        let may_go_on = self.sets.is_none_or(|sets| sets.allows_warm_up(used));
        self.run().last_call > 0 && (!may_go_on || self.stopping.is_warm(&self.runs))
    }

    /// Returns the number of calls that a sample is the mean of, each with its own tensors.
    fn calls_of_sample(&self) -> NonZeroU32 {
        self.case().calls.count
    }

    /// Number of windows since the current worker's last early check.
    pub(super) fn since_early(&self) -> u32 {
        self.run().since_early
    }

    /// Returns how often the work of a window is repeated to measure its energy, or a notice that
    /// says why it cannot be.
    pub(super) fn energy_repeats(&self) -> Result<NonZeroU32, String> {
        if energy::changes_inputs(self.case()) {
            return Err(energy::CHANGES_INPUTS.to_owned());
        }
        let call_ns = median(&self.run().samples.values).unwrap_or_default();
        let window_ns = call_ns * f64::from(self.calls_of_sample().get());
        energy::repeats(window_ns, self.protocol.within, |wanted| {
            energy::repeats_at_most(self.case(), wanted)
        })
    }

    /// Computes the energy of a call from the readings before and after the last window.
    pub(super) fn note_energy(&mut self, readings: [EnergyReading; 2], repeats: NonZeroU32) {
        let calls = f64::from(self.calls_of_sample().get()) * f64::from(repeats.get());
        let run = self.run_mut();
        let elapsed_ns = run.last_elapsed_ns();
        run.energy = elapsed_ns.and_then(|elapsed_ns| energy::energy(readings, elapsed_ns, calls));
    }

    /// Returns how many windows time the steps of the call's plan one by one in each round.
    pub(super) fn windows_for_parts(&self) -> u32 {
        let is_timed = self.protocol.metric.kind == MetricKind::Time;
        if is_timed && self.case().has_parts(self.protocol) {
            TIMES_OF_PART
        } else {
            0
        }
    }

    /// Returns which calls the windows of a worker make.
    pub(super) fn drawn_calls(&self) -> DrawnCalls {
        match (self.protocol.metric.kind, self.calls_of_sample()) {
            (MetricKind::Time, calls) if calls > NonZeroU32::MIN => DrawnCalls::AllOrFirst,
            _ => DrawnCalls::All,
        }
    }

    /// Whether the workers so far have fewer windows that make one call alone than their share of
    /// what a case needs.
    fn lacks_singles(&self, of_case: usize) -> bool {
        let share = (of_case * self.runs.len()).div_ceil(self.stopping.first_workers().max(self.runs.len()));
        let singles: usize = self.runs.iter().map(|run| run.parts.singles_ns.len()).sum();
        self.drawn_calls() == DrawnCalls::AllOrFirst && singles < share
    }

    /// Whether a control window shows how long the tool's own part of a window with one call is.
    fn wants_single_control(&self, context: &Context<'_>) -> bool {
        let singles: usize = self.runs.iter().map(|run| run.controls.singles.len()).sum();
        self.controls.can_continue(&context.control) && singles < ENOUGH_SINGLES
    }

    /// Whether the current worker has time for more samples in place of some of its own.
    pub(super) fn can_take_again(&self) -> bool {
        let is_timed = self.protocol.metric.kind == MetricKind::Time;
        is_timed && self.has_inputs() && self.is_active() && self.run().stop != Some(StopReason::MaxTime)
    }

    /// Throws the latest samples of the current worker away. Their windows stay checked.
    pub(super) fn throw_away(&mut self, samples: usize) {
        self.run_mut().throw_away(samples);
    }

    /// Whether the current worker has enough samples, and enough windows with one call.
    pub(super) fn has_enough(&self) -> bool {
        let lacks_singles = match self.run().stop {
            None => return false,
            Some(_) if !self.has_inputs() || self.stopping.has_all_samples(&self.runs) => false,
            Some(_) if self.may_go_on() => self.lacks_singles(ENOUGH_SINGLES),
            Some(_) => self.lacks_singles(FEWEST_SINGLES),
        };
        !lacks_singles
    }

    /// Whether the limits allow the current worker more windows while another arm needs them.
    pub(super) fn may_go_on(&self) -> bool {
        self.has_inputs() && self.stopping.may_go_on(&self.runs)
    }

    /// Whether the checks have told the right outputs from no others so far.
    pub(super) fn check_may_be_blind(&self) -> bool {
        let tensors = &self.case().recording.tensors;
        let of_one_call = &tensors[..tensors.len() / self.calls_of_sample().get() as usize];
        let windows = self.runs.iter().flat_map(|run| &run.windows);
        may_be_blind(&gpubench::catalog::by_field(of_one_call), &windows.collect::<Vec<_>>())
    }

    /// Returns the judgements on the windows of a test's first process, each alone.
    fn first_calls_of_test(&self) -> Vec<Judgement> {
        match (self.protocol.mode, self.runs.first()) {
            (RunMode::Test, Some(first)) => first.windows.chunks(1).map(|window| self.judge_alone(window)).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the seed of the last worker's order of blocks and threads, if the test has tried
    /// another order before.
    fn schedule(&self) -> Option<u64> {
        let turns = self.runs.len();
        match self.protocol.mode {
            RunMode::Test if turns > 1 => self.protocol.schedules.get(turns - 1).copied(),
            _ => None,
        }
    }

    /// Judges the last window alone.
    fn judge_last(&self) -> Judgement {
        let windows = &self.run().windows;
        self.judge_alone(&windows[windows.len().saturating_sub(1)..])
    }

    /// Judges some windows of a worker without the others.
    fn judge_alone(&self, windows: &[WindowEvidence]) -> Judgement {
        let alone = RunEvidence {
            windows,
            ..RunEvidence::default()
        };
        judge(
            &self.evidence(vec![alone], Surroundings::default(), Ending::Stopped),
            None,
        )
    }

    /// Returns the evidence of some windows.
    fn evidence<'e>(
        &'e self,
        runs: Vec<RunEvidence<'e>>,
        surroundings: Surroundings<'e>,
        ending: Ending,
    ) -> Evidence<'e> {
        let case = self.case();
        Evidence {
            tensors: &case.recording.tensors,
            calls: case.calls.count,
            scratch: &case.recording.plan.scratch,
            runs,
            ending,
            metric: self.protocol.metric.kind,
            execution: &self.sandboxes.execution,
            gate: self.gate,
            clock_bound: self.protocol.clock_bound,
            floor_ns: case.floor_ns.map(|ns| ns * f64::from(case.calls.count.get())),
            surroundings,
            open_sandboxes: &self.sandboxes.open,
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
        self.sandboxes.note("generators and references", author);
        let surroundings = self.controls.surroundings(control, other_clients);
        let runs = self.runs.iter().map(WorkerRun::evidence).collect();
        let evidence = self.evidence(runs, surroundings, self.ending.clone());
        let balance = balance(&evidence);
        let judgement = judge(&evidence, balance.as_ref())
            .with_schedule(self.schedule())
            .with_earlier_calls(&self.first_calls_of_test())
            .with_other_order(self.differs_in_order)
            .with_observation(self.protocol.observer, self.observed.report.as_ref())
            .with_last_output(&self.observed.printed);
        let sharing = sharing(&evidence, balance.as_ref());
        let kept = self.protocol.evidence.kept(&evidence);
        let stops: Vec<StopReason> = self.runs.iter().filter_map(|run| run.stop).collect();
        let stop = stop_of_case(&stops).filter(|_| self.is_complete());
        let budget = self
            .protocol
            .takes_times()
            .then(|| budget(self.protocol, &self.runs, rests));
        self.notices.extend(self.observed.notice(self.protocol));
        Measured {
            calls: self.case().calls.count,
            sharing,
            judgement,
            kept_call: self.kept_call,
            evidence: kept,
            workers: self.runs,
            controls_afterwards: self.controls.afterwards,
            balance,
            empty_call_ns: None,
            gate: self.gate,
            budget,
            stop,
            sanitizer: match self.observed.report {
                Some(Observation::Sanitized(report)) => Some(report),
                _ => None,
            },
            failed_alternating: None,
            notices: self.notices,
        }
    }
}

#[cfg(test)]
mod tests;
