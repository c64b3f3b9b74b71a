//! One side of a case: what came of the windows of the code under test, or of the state of it that it is compared with.

use std::ops::Range;
use std::time::{Duration, Instant};

use gpubench::catalog::Recording;

use super::crew::Member;
use super::measure::{Measured, Protocol, ReadyCase};
use super::null_windows::{NullSide, Pacing};
use crate::clients::{Start, WorkerClient};
use crate::contract::StopReason;
use crate::sandbox::Confinement;
use crate::stats::{Shares, WarmUpRule, median, stop_of_case};
use crate::verdict::{
    Ending, Evidence, Execution, Judgement, NullWindows, Verdict, WindowEvidence, balance, bound_will_be_precise, judge,
};
use crate::window::{ConductError, Conducted, Conductor, NullPace, Place, Seat, WindowKind};

/// Windows that follow a wrong output to tell what kind of wrong it is: from the third call on, the first call is not the one before.
const DIAGNOSIS: u32 = 2;

/// What a case that replays a plan may spend on windows that its median does not need. Its claims are the tool's own: the bound holds them against kernels that compute outside of their call, and is printed whatever it is. Where the
/// user's code could forge claims, a precise bound is worth all the time that the case has.
const PATIENCE_WITH_PLANS: Duration = Duration::from_millis(400);

/// The windows of a side so far.
pub(super) struct Side<'a> {
    seat: Seat,
    case: &'a ReadyCase<'a>,
    protocol: &'a Protocol<'a>,
    /// Bytes of all scratch allocations of the case.
    scratch: &'a [u64],
    shares: Shares,
    windows: Vec<WindowEvidence>,
    warm_ups: Vec<Range<usize>>,
    samples_ns: Vec<f64>,
    host_ns: Vec<f64>,
    overheads_ns: Vec<f64>,
    execution: Execution,
    ending: Ending,
    /// The last that the worker printed that failed.
    printed: String,
    /// Number of the window that this worker was to begin last; 0 before its first.
    last_call: u32,
    /// Every worker's part so far, the present one's included.
    turns: Vec<Turn>,
    pacing: Pacing,
}

/// One worker's part.
#[derive(Clone, Debug)]
struct Turn {
    /// What its warm-up windows claim, and how long they took.
    warm_up_ns: Vec<f64>,
    warmed_for: Duration,
    /// Which of the side's samples are its own, and how long they took.
    samples: Range<usize>,
    sampled_for: Duration,
    /// Windows since it was last checked early. At least one of its windows is: the first may be due at once.
    since_early: u32,
    /// Why it has samples enough, where it has.
    stop: Option<StopReason>,
}

/// Who leads through windows, and what all sides of a case share.
pub(super) struct Stage<'s, 'c, 'n> {
    pub(super) conductor: &'s mut Conductor<'c>,
    pub(super) null: &'s mut NullSide<'n>,
    /// Number of the window that was begun last, of whatever side; before the first, the one behind which they begin.
    pub(super) begun: u32,
}

impl Stage<'_, '_, '_> {
    /// The next window. Windows are numbered over all workers and sides: none sees a number, and with it a key, that another had.
    pub(super) fn next_place(&self, case: u64) -> Place {
        Place {
            case,
            window: self.begun + 1,
        }
    }
}

/// How a step of a side ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The side goes on.
    Done,
    /// It has failed.
    Failed,
}

impl<'a> Side<'a> {
    pub(super) fn new(seat: Seat, case: &'a ReadyCase<'a>, protocol: &'a Protocol<'a>, scratch: &'a [u64]) -> Side<'a> {
        Side {
            seat,
            case,
            protocol,
            scratch,
            shares: Shares::new(protocol.stop.clone(), protocol.turnout),
            windows: Vec::new(),
            warm_ups: Vec::new(),
            samples_ns: Vec::new(),
            host_ns: Vec::new(),
            overheads_ns: Vec::new(),
            execution: match case.recording.execution {
                gpubench::catalog::Execution::Sealed => Execution::Sealed,
                gpubench::catalog::Execution::Hosted => {
                    Execution::Hosted(Confinement::Open("the worker did not say that it is closed".to_owned()))
                }
            },
            ending: Ending::Stopped,
            printed: String::new(),
            last_call: 0,
            turns: Vec::new(),
            pacing: Pacing::new(),
        }
    }

    /// Which side it is.
    pub(super) fn seat(&self) -> Seat {
        self.seat
    }

    /// Samples in nanoseconds so far.
    pub(super) fn samples_ns(&self) -> &[f64] {
        &self.samples_ns
    }

    /// The same, of each worker.
    pub(super) fn samples_by_worker(&self) -> Vec<&[f64]> {
        let turns = self.turns.iter();
        turns.map(|turn| &self.samples_ns[turn.samples.clone()]).collect()
    }

    /// Whether every worker has had its turn and samples enough.
    pub(super) fn is_complete(&self) -> bool {
        self.turns.len() >= self.shares.first() && self.came_through()
    }

    /// How many workers there are to be on a side of its own, when so many have had their turns.
    pub(super) fn workers_to_have(&self, had: usize) -> usize {
        match self.shares.suffice(&self.samples_by_worker()) {
            true => had,
            false => self.shares.most().max(had),
        }
    }

    /// Whether every worker so far had samples enough.
    pub(super) fn came_through(&self) -> bool {
        self.turns.iter().all(|turn| turn.stop.is_some())
    }

    /// Takes note of what a worker that failed has printed, unless its end tells that already.
    pub(super) fn hear(&mut self, printed: String) {
        if !matches!(self.ending, Ending::WorkerEnded { .. }) {
            self.printed = printed;
        }
    }

    /// Another worker has its turn.
    pub(super) fn begin_turn(&mut self) {
        self.last_call = 0;
        let (taken, windows) = (self.samples_ns.len(), self.windows.len());
        self.warm_ups.push(windows..windows);
        self.pacing.calm_down();
        self.turns.push(Turn {
            warm_up_ns: Vec::new(),
            warmed_for: Duration::ZERO,
            samples: taken..taken,
            sampled_for: Duration::ZERO,
            since_early: u32::MAX,
            stop: None,
        });
    }

    fn turn(&self) -> &Turn {
        self.turns.last().expect("a turn has begun")
    }

    fn turn_mut(&mut self) -> &mut Turn {
        self.turns.last_mut().expect("a turn has begun")
    }

    /// Position of the present worker among the case's, counted from 0.
    fn position(&self) -> usize {
        self.turns.len().saturating_sub(1)
    }

    /// The worker came to its end before its first window.
    pub(super) fn end(&mut self, ending: Ending) {
        self.ending = ending;
    }

    /// Takes a worker whose set-up has ended; none where its host code could not be set up.
    pub(super) fn admit(&mut self, member: Member) -> Option<WorkerClient> {
        let Member {
            worker,
            confinement,
            start,
        } = member;
        if let Some(confinement) = confinement {
            self.note_confinement(confinement);
        }
        match start {
            Start::Refused(message) => {
                self.ending = Ending::SetUpFailed { message };
                None
            }
            Start::Ready(ready) => {
                let overhead_ns = Some(ready.event_overhead_ns).filter(|ns| ns.is_finite() && *ns >= 0.0);
                self.overheads_ns.extend(overhead_ns);
                Some(worker)
            }
        }
    }

    /// A case is as closed as the least closed of its workers.
    fn note_confinement(&mut self, confinement: Confinement) {
        let was_open = matches!(self.execution, Execution::Hosted(Confinement::Open(_))) && self.position() > 0;
        if !was_open {
            self.execution = Execution::Hosted(confinement);
        }
    }

    /// Whether the running median of the warm-up has settled, or its limits are met.
    pub(super) fn is_warm(&self) -> bool {
        let turn = self.turn();
        self.last_call > 0 && self.warm_up_rule().decide(&turn.warm_up_ns, turn.warmed_for).is_some()
    }

    fn warm_up_rule(&self) -> WarmUpRule {
        match self.position() {
            0 => self.protocol.warm_up.clone(),
            _ => self.protocol.warm_up.of_further_worker(),
        }
    }

    /// A window of the same kind as the sampled ones. It is checked like all others.
    pub(super) fn warm_up(
        &mut self,
        stage: &mut Stage<'_, '_, '_>,
        worker: &mut WorkerClient,
    ) -> Result<Step, ConductError> {
        let started = Instant::now();
        if self.last_call > 0 {
            self.null_turn(stage, NullPace::Usual)?;
        }
        let step = self.window(stage, worker, WindowKind::Timed)?;
        if step == Step::Done {
            let windows = self.windows.len();
            if let Some(warm_up) = self.warm_ups.last_mut() {
                warm_up.end = windows;
            }
            let claim = self.windows.last().and_then(|window| window.claim.as_deref());
            let claimed = claim.map(|claim| claim.elapsed_ns);
            self.turn_mut().warm_up_ns.extend(claimed);
            self.turn_mut().warmed_for += started.elapsed();
        }
        Ok(step)
    }

    /// Windows of the present worker since it was last checked early.
    pub(super) fn since_early(&self) -> u32 {
        self.turn().since_early
    }

    /// A window for a sample, or for an early check.
    pub(super) fn sample(
        &mut self,
        stage: &mut Stage<'_, '_, '_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<Step, ConductError> {
        let started = Instant::now();
        self.null_turn(stage, self.pacing.pace())?;
        if self.window(stage, worker, kind)? == Step::Failed {
            return Ok(Step::Failed);
        }
        match kind {
            WindowKind::EarlyCheck => self.turn_mut().since_early = 0,
            WindowKind::Timed | WindowKind::Null => {
                self.turn_mut().since_early = self.turn().since_early.saturating_add(1);
                self.keep_sample();
            }
        }
        self.turn_mut().sampled_for += started.elapsed();
        self.decide(stage.null);
        Ok(Step::Done)
    }

    /// A window whose whole output is checked, and of which nothing else is kept.
    pub(super) fn check(
        &mut self,
        stage: &mut Stage<'_, '_, '_>,
        worker: &mut WorkerClient,
    ) -> Result<Step, ConductError> {
        self.window(stage, worker, WindowKind::EarlyCheck)
    }

    /// A window for someone else to look at: nothing is kept of it but whether it was right.
    pub(super) fn show(
        &mut self,
        stage: &mut Stage<'_, '_, '_>,
        worker: &mut WorkerClient,
    ) -> Result<Step, ConductError> {
        self.window(stage, worker, WindowKind::Timed)
    }

    /// Whether the present worker has samples enough.
    pub(super) fn has_enough(&self) -> bool {
        self.turn().stop.is_some()
    }

    /// Whether the limits leave the present worker more windows, if the other side needs them.
    pub(super) fn may_go_on(&self) -> bool {
        let position = self.position();
        self.samples_ns.len() < self.shares.max_samples_until(position)
            && self.sampled_for() < self.shares.max_time_until(position)
    }

    fn decide(&mut self, null: &NullSide<'_>) {
        let (turn, rule) = (self.turn(), self.shares.of(self.position()));
        let decided = rule.decide(&self.samples_ns[turn.samples.clone()], turn.sampled_for);
        match decided {
            None => {
                let mut pacing = self.pacing;
                pacing.heed(self.samples_ns.len(), || self.bound_will_be_precise(null));
                self.pacing = pacing;
            }
            Some(_) if self.waits_for_bound(null) => self.pacing.hurry(),
            Some(reason) => {
                self.turn_mut().stop.get_or_insert(reason);
            }
        }
    }

    /// Whether more windows of this worker would tell more of the claims. The limits on samples and time hold all the same.
    fn waits_for_bound(&self, null: &NullSide<'_>) -> bool {
        null.is_there() && self.may_go_on() && self.is_patient() && !self.bound_will_be_precise(null)
    }

    /// Whether there is time for windows that only the bound on the claims needs.
    fn is_patient(&self) -> bool {
        let patience = match self.execution {
            Execution::Sealed => PATIENCE_WITH_PLANS,
            Execution::Hosted(_) => self.protocol.stop.max_time,
        };
        self.sampled_for() < self.shares.patience_until(self.position(), patience)
    }

    fn sampled_for(&self) -> Duration {
        self.turns.iter().map(|turn| turn.sampled_for).sum()
    }

    /// Whether the bound on the claims will be precise when the workers that are still to come have had as many windows each.
    fn bound_will_be_precise(&self, null: &NullSide<'_>) -> bool {
        let evidence = self.evidence(null, Ending::Stopped);
        bound_will_be_precise(&evidence, self.shares.growth_after(self.position()))
    }

    fn null_turn(&mut self, stage: &mut Stage<'_, '_, '_>, pace: NullPace) -> Result<(), ConductError> {
        let place = stage.next_place(self.case.number);
        stage.null.take_turn(stage.conductor, self.protocol, place, pace)
    }

    fn window(
        &mut self,
        stage: &mut Stage<'_, '_, '_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<Step, ConductError> {
        self.conduct(stage, worker, kind)?;
        if self.ending == Ending::Stopped {
            match self.judge_last().verdict {
                Verdict::Pass => return Ok(Step::Done),
                Verdict::WrongOutput => self.diagnose(stage, worker)?,
                _ => {}
            }
        }
        Ok(Step::Failed)
    }

    /// A few more windows behind a wrong output.
    fn diagnose(&mut self, stage: &mut Stage<'_, '_, '_>, worker: &mut WorkerClient) -> Result<(), ConductError> {
        for _ in 0..DIAGNOSIS {
            self.conduct(stage, worker, WindowKind::Timed)?;
            if self.ending != Ending::Stopped {
                // What comes of the worker afterwards does not matter: it has failed already.
                self.ending = Ending::Stopped;
                break;
            }
        }
        Ok(())
    }

    fn conduct(
        &mut self,
        stage: &mut Stage<'_, '_, '_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<(), ConductError> {
        stage.begun += 1;
        self.last_call = stage.begun;
        match stage.conductor.conduct(worker, self.seat, stage.begun, kind)? {
            Conducted::Ended(evidence) => self.windows.push(evidence),
            Conducted::Lost(evidence, ending) => {
                self.windows.extend(evidence);
                self.ending = ending;
            }
        }
        Ok(())
    }

    fn keep_sample(&mut self) {
        if let Some(claim) = self.windows.last().and_then(|window| window.claim.as_deref()) {
            self.samples_ns.push(claim.elapsed_ns);
            self.host_ns.push(claim.host_ns);
        }
        self.turn_mut().samples.end = self.samples_ns.len();
    }

    /// What the last window shows by itself.
    fn judge_last(&self) -> Judgement {
        let last = &self.windows[self.windows.len().saturating_sub(1)..];
        judge(&self.evidence_of(last, NullWindows::default(), Ending::Stopped))
    }

    /// Of all windows so far.
    fn evidence<'e>(&'e self, null: &'e NullSide<'_>, ending: Ending) -> Evidence<'e> {
        let null = NullWindows {
            windows: &null.windows,
            alone: &null.alone,
            loss: null.loss.as_deref(),
        };
        Evidence {
            warm_ups: &self.warm_ups,
            ..self.evidence_of(&self.windows, null, ending)
        }
    }

    /// Of some windows by themselves.
    fn evidence_of<'e>(&'e self, windows: &'e [WindowEvidence], null: NullWindows<'e>, ending: Ending) -> Evidence<'e> {
        let Recording { tensors, .. } = self.case.recording;
        let Protocol {
            clock_bound,
            kernel_part,
            ..
        } = *self.protocol;
        Evidence {
            tensors,
            scratch: self.scratch,
            windows,
            ending,
            worker: self.turns.len(),
            last_call: self.last_call,
            execution: &self.execution,
            clock_bound,
            floor_ns: self.case.floor_ns,
            warm_ups: &[],
            null,
            kernel_part,
            other_clients: None,
        }
    }

    /// The judgement on all windows, and on who else computed on the device meanwhile.
    pub(super) fn finish(self, null: &NullSide<'_>, other_clients: Option<u32>) -> Measured {
        let evidence = Evidence {
            other_clients,
            ..self.evidence(null, self.ending.clone())
        };
        let judgement = judge(&evidence).with_last_words(&self.printed);
        let balance = balance(&evidence);
        let stops: Vec<StopReason> = self.turns.iter().filter_map(|turn| turn.stop).collect();
        let stop = stop_of_case(&stops).filter(|_| self.is_complete());
        Measured {
            judgement,
            windows: self.windows,
            warm_ups: self.warm_ups,
            worker_samples: self.turns.iter().map(|turn| turn.samples.len()).collect(),
            null_windows: null.windows.clone(),
            null_alone: null.alone.clone(),
            balance,
            samples: self.samples_ns,
            host_ns: self.host_ns,
            event_overhead_ns: median(&self.overheads_ns),
            stop,
            notices: Vec::new(),
        }
    }
}
