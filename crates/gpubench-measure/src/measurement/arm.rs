//! One arm of a case: the code under test, or the other state of it that it is compared with,
//! window by window.

use std::time::Instant;

use super::case::ReadyCase;
use super::control_lease::{ControlLease, fault_of};
use super::controls::{ALONE, Controls, Runner};
use super::error::MeasureError;
use super::evidence::EvidenceBuilder;
use super::measured::Measured;
use super::pool::WorkerPool;
use super::protocol::Protocol;
use super::run_mode::RunMode;
use super::samples::Samples;
use super::sequence::{Sequencer, WindowOutcome};
use super::stopping::Stopping;
use crate::clients::{RoleFailure, WorkerClient};
use crate::verdict::{Ending, Evidence, balance, judge};
use gpubench_contract::Verdict;
use gpubench_protocol::window::{WindowId, WindowKind, WindowOwner};
use gpubench_sandbox::Confinement;
use gpubench_stats::{median, stop_of_case};

/// Windows that follow a wrong output to tell what kind of wrong it is: from the third call on, the
/// first call is not the one before.
const DIAGNOSIS: u32 = 2;

/// An arm, and what came of its windows so far.
pub(super) struct Arm<'a> {
    pub(super) owner: WindowOwner,
    /// Number of the case.
    case: u64,
    protocol: &'a Protocol<'a>,
    evidence: EvidenceBuilder<'a>,
    pub(super) samples: Samples,
    stopping: Stopping<'a>,
    controls: Controls,
    /// The last that the worker printed that failed.
    printed: String,
    pub(super) pool: WorkerPool<'a>,
    /// The worker of this round, as long as nothing is wrong with it.
    worker: Option<WorkerClient>,
    /// Why it takes no part any more, for no fault of its code.
    pub(super) lost: Option<RoleFailure>,
}

/// Who leads through windows, and what both arms of a case share.
pub(super) struct Context<'c> {
    pub(super) sequencer: Sequencer<'c>,
    pub(super) control: ControlLease<'c>,
    /// Number of the window that was begun last, of whatever arm; before the first, the one after
    /// which they begin.
    pub(super) begun: u32,
    /// Control windows of the case that were begun, those of a measurement before included.
    pub(super) controls: usize,
}

impl Context<'_> {
    /// The next window. Windows are numbered over all workers and arms: none sees a number, and
    /// with it a key, that another had.
    pub(super) fn next_place(&self, case: u64) -> WindowId {
        WindowId {
            case,
            window: self.begun + 1,
        }
    }
}

/// What a window of an arm is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Its worker warms up.
    WarmUp,
    /// A sample, or an early check.
    Sample(WindowKind),
    /// To be seen or checked by itself: nothing is kept of it but whether it was right.
    Alone(WindowKind),
}

/// How a step of an arm ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The arm goes on.
    Done,
    /// It has failed.
    Failed,
}

impl<'a> Arm<'a> {
    pub(super) fn new(
        case: &'a ReadyCase<'a>,
        protocol: &'a Protocol<'a>,
        scratch: &'a [u64],
        pool: WorkerPool<'a>,
    ) -> Arm<'a> {
        let evidence = EvidenceBuilder::new(case, protocol, scratch);
        Arm {
            owner: pool.owner(),
            case: case.number,
            protocol,
            controls: Controls::by(Runner::of(protocol.clock_bound, &evidence.execution)),
            evidence,
            samples: Samples::default(),
            stopping: Stopping::new(protocol),
            printed: String::new(),
            pool,
            worker: None,
            lost: None,
        }
    }

    /// Whether it came through all rounds so far.
    pub(super) fn goes_on(&self) -> bool {
        self.lost.is_none() && self.came_through()
    }

    pub(super) fn takes_part(&self) -> bool {
        self.worker.is_some()
    }

    /// Has the next worker of its pool take part in the round.
    pub(super) fn enter(&mut self) {
        self.evidence.begin_turn();
        self.controls.begin_turn();
        self.samples.begin_turn();
        match self.pool.next() {
            Ok(ready) => self.worker = self.evidence.admit(ready),
            // A kernel module's constructor may end the process or never return: that is the
            // kernel's doing, not ours.
            Err(RoleFailure::Ended { end, log, .. }) => self.evidence.ending = Ending::WorkerEnded { end, log },
            Err(RoleFailure::Silent { within, .. }) => self.evidence.ending = Ending::TimedOut { within },
            Err(failure) => self.lost = Some(failure),
        }
    }

    /// Its part in the round is over: the worker is killed and waited for.
    pub(super) fn leave(&mut self) {
        self.worker = None;
    }

    /// Whether every worker has had its turn and samples enough.
    pub(super) fn is_complete(&self) -> bool {
        self.samples.turns() >= self.stopping.first_workers() && self.came_through()
    }

    /// How many workers there are to be on an arm of its own, when these have had their turns.
    pub(super) fn workers_to_have(&self) -> usize {
        self.stopping.workers_to_have(&self.samples)
    }

    /// Whether every worker so far had samples enough.
    fn came_through(&self) -> bool {
        self.samples.stops().len() == self.samples.turns()
    }

    /// Whether the present worker is warm.
    pub(super) fn is_warm(&self) -> bool {
        self.evidence.last_call > 0 && self.stopping.is_warm(&self.samples)
    }

    /// Runs a window of its worker, if there is one. What a worker that fails has printed is kept,
    /// unless its end tells that already.
    ///
    /// # Errors
    /// When it fails for no fault of the worker.
    pub(super) fn step(&mut self, context: &mut Context<'_>, part: Part) -> Result<(), MeasureError> {
        let Some(mut worker) = self.worker.take() else {
            return Ok(());
        };
        let step = match part {
            Part::WarmUp => self.warm_up(context, &mut worker),
            Part::Sample(kind) => self.sample(context, &mut worker, kind),
            Part::Alone(kind) => self.window(context, &mut worker, kind),
        };
        if step? == Step::Done {
            self.worker = Some(worker);
        } else {
            let printed = worker.last_words();
            if !matches!(self.evidence.ending, Ending::WorkerEnded { .. }) {
                self.printed = printed;
            }
        }
        Ok(())
    }

    /// A window of the same kind as the sampled ones. It is checked like all others.
    fn warm_up(&mut self, context: &mut Context<'_>, worker: &mut WorkerClient) -> Result<Step, MeasureError> {
        let started = Instant::now();
        let step = self.window(context, worker, WindowKind::Timed)?;
        if step == Step::Done {
            self.evidence.end_warm_up_window();
            let claimed = self.evidence.last_claim().map(|claim| claim.elapsed_ns);
            let turn = self.samples.turn_mut();
            turn.warm_up_ns.extend(claimed);
            turn.warmed_for += started.elapsed();
        }
        Ok(step)
    }

    /// Windows of the present worker since it was last checked early.
    pub(super) fn since_early(&self) -> u32 {
        self.samples.turn().since_early
    }

    /// A window for a sample, or for an early check.
    fn sample(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<Step, MeasureError> {
        let started = Instant::now();
        if self.control_turn(context, worker)? == Step::Failed || self.window(context, worker, kind)? == Step::Failed {
            return Ok(Step::Failed);
        }
        match kind {
            WindowKind::EarlyCheck => self.samples.turn_mut().since_early = 0,
            WindowKind::Timed | WindowKind::Control => {
                let turn = self.samples.turn_mut();
                turn.since_early = turn.since_early.saturating_add(1);
                if let Some(claim) = self.evidence.last_claim() {
                    self.samples.keep(claim);
                }
            }
        }
        self.samples.turn_mut().sampled_for += started.elapsed();
        let turn = self.samples.turn();
        let decided = turn.stop.or_else(|| self.stopping.decide(&self.samples));
        self.samples.turn_mut().stop = decided;
        Ok(Step::Done)
    }

    /// Whether the present worker has samples enough.
    pub(super) fn has_enough(&self) -> bool {
        self.samples.turn().stop.is_some()
    }

    /// Whether the limits leave the present worker more windows, if the other arm needs them.
    pub(super) fn may_go_on(&self) -> bool {
        self.stopping.may_go_on(&self.samples)
    }

    /// A control window, where the key draws one before the next window.
    fn control_turn(&mut self, context: &mut Context<'_>, worker: &mut WorkerClient) -> Result<Step, MeasureError> {
        let place = context.next_place(self.case);
        match self.controls.go_on(&context.control) && self.controls.is_next(self.protocol.seeds, place) {
            true => self.control_window(context, worker),
            false => Ok(Step::Done),
        }
    }

    /// Has its worker see as many control windows as it needs, where the key has drawn few; `workers`
    /// is how many there are to be at first.
    ///
    /// # Errors
    /// When it fails for no fault of the worker.
    pub(super) fn catch_up(&mut self, context: &mut Context<'_>, workers: usize) -> Result<(), MeasureError> {
        let Some(mut worker) = self.worker.take() else {
            return Ok(());
        };
        while self.controls.go_on(&context.control) && self.controls.are_few(workers) {
            let started = Instant::now();
            if self.control_window(context, &mut worker)? == Step::Failed {
                return Ok(());
            }
            self.controls.caught_up_for += started.elapsed();
        }
        self.worker = Some(worker);
        Ok(())
    }

    fn control_window(&mut self, context: &mut Context<'_>, worker: &mut WorkerClient) -> Result<Step, MeasureError> {
        let before = context.controls;
        context.controls += 1;
        if self.controls.runner == Runner::ControlWorker {
            self.controls
                .windows
                .extend(context.control.conduct(&mut context.sequencer, before)?);
            return Ok(Step::Done);
        }
        match context.sequencer.conduct_control(worker, self.owner, before)? {
            WindowOutcome::Ended(evidence) => match fault_of(&evidence) {
                None => {
                    self.controls.windows.push(evidence);
                    return Ok(Step::Done);
                }
                Some(why) => self.evidence.ending = Ending::Refused { why },
            },
            WindowOutcome::Lost(_, ending) => self.evidence.ending = ending,
        }
        Ok(Step::Failed)
    }

    /// Conducts control windows behind the end of the last worker: what it did to those between its
    /// own shows beside these.
    ///
    /// # Errors
    /// When it fails for no fault of the control worker.
    pub(super) fn see_control_windows_alone(&mut self, context: &mut Context<'_>) -> Result<(), MeasureError> {
        if self.controls.runner != Runner::ControlWorker || !self.is_complete() {
            return Ok(());
        }
        for _ in 0..ALONE {
            let window = context.control.conduct(&mut context.sequencer, context.controls)?;
            context.controls += 1;
            self.controls.alone.extend(window);
        }
        Ok(())
    }

    fn window(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<Step, MeasureError> {
        self.conduct(context, worker, kind)?;
        if self.evidence.ending == Ending::Stopped {
            match self.evidence.judge_last().verdict {
                Verdict::Pass => return Ok(Step::Done),
                Verdict::WrongOutput => self.diagnose(context, worker)?,
                _ => {}
            }
        }
        Ok(Step::Failed)
    }

    /// A few more windows after a wrong output.
    fn diagnose(&mut self, context: &mut Context<'_>, worker: &mut WorkerClient) -> Result<(), MeasureError> {
        for _ in 0..DIAGNOSIS {
            self.conduct(context, worker, WindowKind::Timed)?;
            if self.evidence.ending != Ending::Stopped {
                // What comes of the worker afterwards does not matter: it has failed already.
                self.evidence.ending = Ending::Stopped;
                break;
            }
        }
        Ok(())
    }

    fn conduct(
        &mut self,
        context: &mut Context<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<(), MeasureError> {
        context.begun += 1;
        self.evidence.last_call = context.begun;
        match context.sequencer.conduct(worker, self.owner, context.begun, kind)? {
            WindowOutcome::Ended(evidence) => self.evidence.windows.push(evidence),
            WindowOutcome::Lost(evidence, ending) => {
                self.evidence.windows.extend(evidence);
                self.evidence.ending = ending;
            }
        }
        Ok(())
    }

    /// Seed of the order of the last worker's blocks and threads, where a test has tried others
    /// before.
    fn schedule(&self) -> Option<u64> {
        let turns = self.evidence.warm_ups.len();
        match self.protocol.mode {
            RunMode::Test if turns > 1 => self.protocol.schedules.get(turns - 1).copied(),
            _ => None,
        }
    }

    /// The judgement on all windows, and on who else computed on the device meanwhile.
    pub(super) fn finish(
        mut self,
        control: &ControlLease<'_>,
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
            .in_order(self.schedule())
            .with_last_words(&self.printed);
        let stop = stop_of_case(&self.samples.stops()).filter(|_| self.is_complete());
        let workers = self.samples.by_worker();
        Measured {
            judgement,
            worker_samples: workers.iter().map(|samples| samples.len()).collect(),
            windows: self.evidence.windows,
            warm_ups: self.evidence.warm_ups,
            control_turns: self.controls.turns,
            control_windows: self.controls.windows,
            controls_alone: self.controls.alone,
            balance,
            samples: self.samples.ns,
            host_ns: self.samples.host_ns,
            event_overhead_ns: median(&self.evidence.overheads_ns),
            stop,
            notices: Vec::new(),
        }
    }
}
