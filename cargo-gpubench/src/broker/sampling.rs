//! The windows of a case: every worker's warm-up, samples and early checks, and the windows that tell one failure from another.

use std::ops::Range;
use std::time::{Duration, Instant};

use gpubench::catalog::Recording;

use super::crew::{Crew, Member};
use super::measure::{MeasureError, Measured, Protocol, ReadyCase, Watcher};
use super::null_windows::{NullSide, Pacing};
use super::purpose::Purpose;
use crate::clients::{RoleFailure, Start, WorkerClient};
use crate::sandbox::Confinement;
use crate::stats::{Shares, StopReason, StopRule, WarmUpRule, median};
use crate::verdict::{
    Ending, Evidence, Execution, Judgement, NullWindows, Verdict, WindowEvidence, balance, bound_will_be_precise, judge,
};
use crate::window::{ConductError, Conducted, Conductor, NullPace, Place, WindowKind};

/// Windows that follow a wrong output to tell what kind of wrong it is: from the third call on, the first call is not the one before.
const DIAGNOSIS: u32 = 2;

/// The windows of a case so far.
pub(super) struct Sampling<'a> {
    case: &'a ReadyCase<'a>,
    protocol: &'a Protocol<'a>,
    shares: Shares,
    windows: Vec<WindowEvidence>,
    warm_ups: Vec<Range<usize>>,
    samples_ns: Vec<f64>,
    host_ns: Vec<f64>,
    overheads_ns: Vec<f64>,
    execution: Execution,
    ending: Ending,
    /// Number of the window that this worker was to begin last; 0 before its first.
    last_call: u32,
    /// Every worker's part so far, the present one's included.
    turns: Vec<Turn>,
    /// What sampling took in the turns that are over.
    sampled_for: Duration,
    pacing: Pacing,
}

/// One worker's part.
#[derive(Clone, Debug)]
struct Turn {
    /// Which of the case's samples are its own.
    samples: Range<usize>,
    /// Why it has enough of them, where it has.
    stop: Option<StopReason>,
}

/// Whether there is to be another window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Another,
    Enough,
}

/// The null worker and those who lead through a window.
struct Stage<'s, 'c, 'n> {
    conductor: &'s mut Conductor<'c>,
    null: &'s mut NullSide<'n>,
}

impl<'a> Sampling<'a> {
    pub(super) fn new(case: &'a ReadyCase<'a>, protocol: &'a Protocol<'a>) -> Sampling<'a> {
        Sampling {
            case,
            protocol,
            shares: Shares::new(protocol.stop.clone(), protocol.workers),
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
            last_call: 0,
            turns: Vec::new(),
            sampled_for: Duration::ZERO,
            pacing: Pacing::new(),
        }
    }

    /// Number of workers that the case is to have.
    pub(super) fn workers(&self) -> usize {
        self.shares.workers()
    }

    /// Whether every worker has had its turn and samples enough.
    pub(super) fn is_complete(&self) -> bool {
        self.turns.len() == self.workers() && self.turns.iter().all(|turn| turn.stop.is_some())
    }

    /// Has one worker after another measured, until all have had their turn or one has failed.
    pub(super) fn measure(
        &mut self,
        crew: &mut Crew<'_>,
        null: &mut NullSide<'_>,
        conductor: &mut Conductor<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), MeasureError> {
        let mut stage = Stage { conductor, null };
        for _ in 0..self.workers() {
            self.begin_turn();
            match crew.next() {
                Ok(member) => self.take_turn(member, &mut stage, watcher)?,
                // A kernel module's constructor may end the process or never return: that is the kernel's doing, not ours.
                Err(RoleFailure::Ended { end, log, .. }) => self.ending = Ending::WorkerEnded { end, log },
                Err(RoleFailure::Silent { within, .. }) => self.ending = Ending::TimedOut { within },
                Err(failure) => return Err(MeasureError::Worker(failure)),
            }
            if self.turn().stop.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn begin_turn(&mut self) {
        self.last_call = 0;
        let taken = self.samples_ns.len();
        self.turns.push(Turn {
            samples: taken..taken,
            stop: None,
        });
    }

    fn turn(&mut self) -> &mut Turn {
        self.turns.last_mut().expect("a turn has begun")
    }

    /// Position of the present worker among the case's, counted from 0.
    fn position(&self) -> usize {
        self.turns.len().saturating_sub(1)
    }

    /// The worker is killed and waited for at the end: in what follows it has no part.
    fn take_turn(
        &mut self,
        member: Member,
        stage: &mut Stage<'_, '_, '_>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), ConductError> {
        let Member {
            mut worker,
            confinement,
            start,
        } = member;
        if let Some(confinement) = confinement {
            self.note_confinement(confinement);
        }
        match start {
            Start::Refused(message) => self.ending = Ending::SetUpFailed { message },
            Start::Ready(ready) => {
                let overhead_ns = Some(ready.event_overhead_ns).filter(|ns| ns.is_finite() && *ns >= 0.0);
                self.overheads_ns.extend(overhead_ns);
                match self.protocol.purpose {
                    Purpose::Measure => {
                        if self.warm_up(stage, &mut worker)? == Next::Another {
                            self.sample(stage, &mut worker, watcher)?;
                        }
                    }
                    Purpose::Test => {
                        self.window(stage, &mut worker, WindowKind::EarlyCheck)?;
                    }
                    Purpose::Profile(duration) => self.call_for(duration, stage, &mut worker)?,
                }
                if self.last_is_wrong() {
                    self.diagnose(stage.conductor, &mut worker)?;
                }
            }
        }
        Ok(())
    }

    /// A case is as closed as the least closed of its workers.
    fn note_confinement(&mut self, confinement: Confinement) {
        let was_open = matches!(self.execution, Execution::Hosted(Confinement::Open(_))) && self.position() > 0;
        if !was_open {
            self.execution = Execution::Hosted(confinement);
        }
    }

    /// Windows of the same kind as the sampled ones, until their running median settles. They are checked like all others.
    fn warm_up(&mut self, stage: &mut Stage<'_, '_, '_>, worker: &mut WorkerClient) -> Result<Next, ConductError> {
        let rule = self.warm_up_rule();
        let mut elapsed_ns = Vec::new();
        let began = self.windows.len();
        self.warm_ups.push(began..began);
        stage.null.warm_up_begins();
        let started = Instant::now();
        loop {
            if self.last_call > 0 {
                self.null_turn(stage, NullPace::Usual)?;
            }
            if self.window(stage, worker, WindowKind::Timed)? == Next::Enough {
                return Ok(Next::Enough);
            }
            self.warm_ups.pop();
            self.warm_ups.push(began..self.windows.len());
            elapsed_ns.extend(
                self.windows
                    .last()
                    .and_then(|window| Some(window.claim.as_deref()?.elapsed_ns)),
            );
            if rule.decide(&elapsed_ns, started.elapsed()).is_some() {
                stage.null.warm_up_ends();
                return Ok(Next::Another);
            }
        }
    }

    fn warm_up_rule(&self) -> WarmUpRule {
        match self.position() {
            0 => self.protocol.warm_up.clone(),
            _ => self.protocol.warm_up.of_further_worker(),
        }
    }

    fn sample(
        &mut self,
        stage: &mut Stage<'_, '_, '_>,
        worker: &mut WorkerClient,
        watcher: &mut dyn Watcher,
    ) -> Result<(), ConductError> {
        let rule = self.shares.of(self.position());
        let started = Instant::now();
        // At least one window of a worker checks early: the first may be due at once.
        let mut since_early = u32::MAX;
        self.pacing.calm_down();
        loop {
            self.null_turn(stage, self.pacing.pace())?;
            let kind = self.protocol.seeds.kind(self.next_place(), since_early);
            if self.window(stage, worker, kind)? == Next::Enough {
                return Ok(());
            }
            match kind {
                WindowKind::EarlyCheck => since_early = 0,
                WindowKind::Timed | WindowKind::Null => {
                    since_early = since_early.saturating_add(1);
                    self.keep_sample();
                    watcher.sampled(&self.samples_ns);
                }
            }
            let stop = self.decide(&rule, started.elapsed());
            if stop.is_none() {
                self.slow_down_null_windows(stage.null);
                continue;
            }
            if !self.waits_for_bound(stage.null, started.elapsed()) {
                self.sampled_for += started.elapsed();
                self.turn().stop = stop;
                return Ok(());
            }
            self.pacing.hurry();
        }
    }

    /// Calls without end but the time's: nothing is kept of them but whether they were right.
    fn call_for(
        &mut self,
        duration: Duration,
        stage: &mut Stage<'_, '_, '_>,
        worker: &mut WorkerClient,
    ) -> Result<(), ConductError> {
        let started = Instant::now();
        while self.window(stage, worker, WindowKind::Timed)? == Next::Another && started.elapsed() < duration {}
        Ok(())
    }

    fn decide(&mut self, rule: &StopRule, elapsed: Duration) -> Option<StopReason> {
        let own = self.turn().samples.clone();
        rule.decide(&self.samples_ns[own], elapsed)
    }

    fn slow_down_null_windows(&mut self, null: &NullSide<'_>) {
        let mut pacing = self.pacing;
        pacing.heed(self.samples_ns.len(), || self.bound_will_be_precise(null));
        self.pacing = pacing;
    }

    /// Whether more windows of this worker would tell more of the claims. The limits on samples and time hold all the same.
    fn waits_for_bound(&self, null: &NullSide<'_>, elapsed: Duration) -> bool {
        let position = self.position();
        let at_limit = self.samples_ns.len() >= self.shares.max_samples_until(position);
        let in_time = self.sampled_for + elapsed < self.shares.max_time_until(position);
        null.is_there() && in_time && !at_limit && !self.bound_will_be_precise(null)
    }

    /// Whether the bound on the claims will be precise when the workers that are still to come have had as many windows each.
    fn bound_will_be_precise(&self, null: &NullSide<'_>) -> bool {
        let evidence = self.evidence(&self.windows, null, Ending::Stopped);
        bound_will_be_precise(&evidence, self.shares.growth_after(self.position()))
    }

    fn null_turn(&mut self, stage: &mut Stage<'_, '_, '_>, pace: NullPace) -> Result<(), ConductError> {
        let place = self.next_place();
        stage.null.take_turn(stage.conductor, self.protocol, place, pace)
    }

    /// Windows are numbered over all workers: none sees a number, and with it a key, that another had.
    fn next_place(&self) -> Place {
        Place {
            case: self.case.number,
            window: self.windows.len() as u32 + 1,
        }
    }

    /// A few more windows behind a wrong output.
    fn diagnose(&mut self, conductor: &mut Conductor<'_>, worker: &mut WorkerClient) -> Result<(), ConductError> {
        for _ in 0..DIAGNOSIS {
            self.conduct(conductor, worker, WindowKind::Timed)?;
            if self.ending != Ending::Stopped {
                // What comes of the worker afterwards does not matter: it has failed already.
                self.ending = Ending::Stopped;
                break;
            }
        }
        Ok(())
    }

    fn window(
        &mut self,
        stage: &mut Stage<'_, '_, '_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<Next, ConductError> {
        self.conduct(stage.conductor, worker, kind)?;
        let is_fine = self.ending == Ending::Stopped && self.judge_last().verdict == Verdict::Pass;
        Ok(if is_fine { Next::Another } else { Next::Enough })
    }

    fn conduct(
        &mut self,
        conductor: &mut Conductor<'_>,
        worker: &mut WorkerClient,
        kind: WindowKind,
    ) -> Result<(), ConductError> {
        let number = self.next_place().window;
        self.last_call = number;
        match conductor.conduct(worker, number, kind)? {
            Conducted::Ended(evidence) => self.windows.push(evidence),
            Conducted::Lost(evidence, ending) => {
                self.windows.extend(evidence);
                self.ending = ending;
            }
        }
        Ok(())
    }

    fn last_is_wrong(&self) -> bool {
        self.ending == Ending::Stopped && self.judge_last().verdict == Verdict::WrongOutput
    }

    fn keep_sample(&mut self) {
        if let Some(claim) = self.windows.last().and_then(|window| window.claim.as_deref()) {
            self.samples_ns.push(claim.elapsed_ns);
            self.host_ns.push(claim.host_ns);
        }
        self.turn().samples.end = self.samples_ns.len();
    }

    /// What the last window shows by itself.
    fn judge_last(&self) -> Judgement {
        let last = &self.windows[self.windows.len().saturating_sub(1)..];
        judge(&self.evidence_of(last, NullWindows::default(), Ending::Stopped))
    }

    fn evidence<'e>(&'e self, windows: &'e [WindowEvidence], null: &'e NullSide<'_>, ending: Ending) -> Evidence<'e> {
        let null = NullWindows {
            windows: &null.windows,
            alone: &null.alone,
            loss: null.loss.as_deref(),
        };
        self.evidence_of(windows, null, ending)
    }

    fn evidence_of<'e>(&'e self, windows: &'e [WindowEvidence], null: NullWindows<'e>, ending: Ending) -> Evidence<'e> {
        let Recording { tensors, plan, .. } = self.case.recording;
        let Protocol {
            clock_bound,
            kernel_part,
            ..
        } = *self.protocol;
        Evidence {
            tensors,
            scratch: &plan.scratch,
            windows,
            ending,
            worker: self.turns.len(),
            last_call: self.last_call,
            execution: &self.execution,
            clock_bound,
            floor_ns: self.case.floor_ns,
            warm_ups: &self.warm_ups,
            null,
            kernel_part,
            other_clients: None,
        }
    }

    /// The judgement on all windows, and on who else computed on the device meanwhile.
    pub(super) fn finish(self, null: NullSide<'_>, other_clients: Option<u32>) -> Measured {
        let evidence = Evidence {
            other_clients,
            ..self.evidence(&self.windows, &null, self.ending.clone())
        };
        let (judgement, balance) = (judge(&evidence), balance(&evidence));
        let stops: Vec<StopReason> = self.turns.iter().filter_map(|turn| turn.stop).collect();
        let stop = StopReason::of_case(&stops).filter(|_| self.is_complete());
        Measured {
            judgement,
            windows: self.windows,
            warm_ups: self.warm_ups,
            worker_samples: self.turns.iter().map(|turn| turn.samples.len()).collect(),
            null_windows: null.windows,
            null_alone: null.alone,
            balance,
            samples_ns: self.samples_ns,
            host_ns: self.host_ns,
            event_overhead_ns: median(&self.overheads_ns),
            stop,
        }
    }
}
