//! The order of a case's windows: round by round, a fresh worker of each arm, and window by window
//! in turns where there are two arms.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::arm::{Arm, Context, Part};
use super::buffers::Buffers;
use super::case::{CasePair, StoppingQuery};
use super::error::MeasureError;
use super::pool::{PoolOrder, WorkerPool};
use super::protocol::Protocol;
use super::run_mode::RunMode;
use super::watcher::Watcher;
use crate::clients::{OpenedCase, RoleFailure};
use gpubench_protocol::window::{Seeds, WindowKind, WindowOwner};
use gpubench_stats::WorkerRules;

/// The rounds of a case: the candidate, and perhaps a baseline.
pub(super) struct Rounds<'a> {
    candidate: Arm<'a>,
    baseline: Option<Arm<'a>>,
    /// What the rounds of two are to decide, where they may go on until they have.
    question: Option<&'a dyn StoppingQuery>,
    /// Rounds that there are at least, if the candidate comes through them.
    first: usize,
    /// Number of the case, and the keys of the run.
    case: u64,
    seeds: &'a Seeds,
}

impl<'a> Rounds<'a> {
    /// Starts the workers of either arm.
    pub(super) fn start(
        pair: &'a CasePair<'a>,
        protocol: &'a Protocol<'a>,
        buffers: &'a Buffers<'a>,
        guarded: [u32; 2],
        opened: &OpenedCase,
    ) -> Rounds<'a> {
        let CasePair {
            candidate, baseline, ..
        } = *pair;
        let shares = WorkerRules::new(protocol.stop.clone(), protocol.worker_count);
        let first = match protocol.mode {
            RunMode::Measure | RunMode::Profile(_) => shares.first(),
            // No limit of samples concerns calls that give none.
            RunMode::Test => protocol.worker_count.first().get(),
        };
        // Fewer rounds than there are before the first look are all that may be had.
        let question = pair
            .question
            .filter(|_| baseline.is_some() && shares.most() == protocol.worker_count.most().get());
        let most = question
            .map_or(shares.most(), |question| question.most(first))
            .max(first);
        let arm = |owner, case, positions: &[usize]| {
            let order = PoolOrder {
                owner,
                buffers: positions.to_vec(),
                workers: first,
                reserve: most - first,
            };
            let pool = WorkerPool::start(case, protocol, order, guarded, opened);
            Arm::new(case, protocol, &buffers.recording.plan.scratch, pool)
        };
        Rounds {
            candidate: arm(WindowOwner::Candidate, candidate, &buffers.of_candidate),
            baseline: baseline.map(|baseline| arm(WindowOwner::Baseline, baseline, &buffers.of_baseline)),
            question,
            first,
            case: candidate.number,
            seeds: protocol.seeds,
        }
    }

    /// Leaves the descriptors to the workers that are still to be started.
    pub(super) fn entrust(&mut self, opened: &Rc<OpenedCase>) {
        self.arms().for_each(|arm| arm.pool.entrust(Rc::clone(opened)));
    }

    /// The arms, whose processes are gone; a baseline that was lost for no fault of its code is
    /// that failure.
    pub(super) fn retire(mut self) -> (Arm<'a>, Option<Result<Arm<'a>, RoleFailure>>) {
        self.arms().for_each(|arm| arm.pool.dismiss());
        let baseline = self.baseline.map(|mut baseline| match baseline.lost.take() {
            None => Ok(baseline),
            Some(failure) => Err(failure),
        });
        (self.candidate, baseline)
    }

    /// Runs the rounds, or as many as the candidate comes through. A baseline that fails takes no
    /// part in what follows.
    ///
    /// # Errors
    /// When the candidate fails for no fault of its kernels, or those who lead through windows
    /// fail.
    pub(super) fn run(
        &mut self,
        mode: RunMode,
        context: &mut Context<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), MeasureError> {
        match mode {
            RunMode::Measure => self.measure(context, watcher),
            RunMode::Test => self.call_once_each(context),
            RunMode::Profile(duration) => self.call_for(duration, context),
        }
    }

    /// Has each of the candidate's workers make a call, until one fails. Nothing is kept of it but
    /// whether it was right.
    fn call_once_each(&mut self, context: &mut Context<'_>) -> Result<(), MeasureError> {
        for _ in 0..self.first {
            self.enter()?;
            self.candidate.step(context, Part::Alone(WindowKind::EarlyCheck))?;
            let goes_on = self.candidate.takes_part();
            self.arms().for_each(Arm::leave);
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Calls the candidate at least once, and again and again for so long. Nothing is kept of it
    /// but whether it was right.
    fn call_for(&mut self, duration: Duration, context: &mut Context<'_>) -> Result<(), MeasureError> {
        self.enter()?;
        let started = Instant::now();
        loop {
            self.candidate.step(context, Part::Alone(WindowKind::Timed))?;
            if !self.candidate.takes_part() || started.elapsed() >= duration {
                break;
            }
        }
        self.arms().for_each(Arm::leave);
        Ok(())
    }

    fn measure(&mut self, context: &mut Context<'_>, watcher: &mut dyn Watcher) -> Result<(), MeasureError> {
        let (mut round, mut last) = (0, self.first);
        while round < last {
            round += 1;
            self.enter()?;
            while self.is_needed(Phase::WarmUp) {
                self.pair(Phase::WarmUp, context, watcher)?;
            }
            while self.is_needed(Phase::Samples) {
                self.pair(Phase::Samples, context, watcher)?;
            }
            let workers = self.first;
            for arm in self.arms() {
                arm.catch_up(context, workers)?;
            }
            let goes_on = self.candidate.takes_part();
            self.arms().for_each(Arm::leave);
            if !goes_on {
                break;
            }
            if round == last {
                last = self.go_on(round);
            }
        }
        Ok(())
    }

    /// How many rounds to run, given those already run.
    fn go_on(&mut self, rounds: usize) -> usize {
        let last = match &self.baseline {
            None => self.candidate.workers_to_have(),
            Some(baseline) => self.rounds_to_have(rounds, baseline),
        };
        self.arms().for_each(|arm| arm.pool.call_more(last - rounds));
        last
    }

    /// How many rounds of two arms to run, given those already run.
    fn rounds_to_have(&self, rounds: usize, baseline: &Arm<'_>) -> usize {
        let Some(question) = self.question.filter(|_| baseline.goes_on()) else {
            return rounds;
        };
        let [baseline, candidate] = [baseline, &self.candidate].map(|arm| arm.samples.by_worker());
        question.next(rounds, &baseline, &candidate).unwrap_or(rounds)
    }

    /// All of them.
    fn arms(&mut self) -> impl Iterator<Item = &mut Arm<'a>> {
        std::iter::once(&mut self.candidate).chain(&mut self.baseline)
    }

    fn enter(&mut self) -> Result<(), MeasureError> {
        self.candidate.enter();
        if let Some(failure) = self.candidate.lost.take() {
            return Err(MeasureError::Worker(failure));
        }
        if let Some(baseline) = self.baseline.as_mut().filter(|baseline| baseline.goes_on()) {
            baseline.enter();
            if let Some(RoleFailure::Interrupted) = baseline.lost {
                return Err(MeasureError::Worker(RoleFailure::Interrupted));
            }
        }
        Ok(())
    }

    /// Whether a arm that takes part needs more; without the candidate none does.
    fn is_needed(&mut self, phase: Phase) -> bool {
        let goes_on = self.candidate.takes_part();
        goes_on && self.arms().any(|arm| arm.takes_part() && phase.lacks(arm))
    }

    /// A window of each arm that needs one. Who begins is drawn by the key, so that neither arm
    /// always runs after the other. Both windows are of one kind, so that the samples of one number
    /// are neighbours in time.
    fn pair(&mut self, phase: Phase, context: &mut Context<'_>, watcher: &mut dyn Watcher) -> Result<(), MeasureError> {
        let (seeds, place) = (self.seeds, context.next_place(self.case));
        let alone = !self.baseline.as_ref().is_some_and(Arm::takes_part);
        let needy = self.arms().filter(|arm| arm.takes_part());
        let needs = |arm: &Arm<'_>| phase.lacks(arm) || phase.keeps_company(arm) && !alone;
        let mut arms: Vec<&mut Arm<'a>> = needy.filter(|arm| needs(arm)).collect();
        if seeds.first_of_pair(place) == WindowOwner::Baseline {
            arms.reverse();
        }
        let since_early = arms.iter().map(|arm| arm.since_early()).max();
        let part = match phase {
            Phase::WarmUp => Part::WarmUp,
            Phase::Samples => Part::Sample(seeds.kind(place, since_early.unwrap_or_default())),
        };
        for arm in arms {
            let before = arm.samples.ns.len();
            arm.step(context, part)?;
            let samples = &arm.samples;
            if arm.owner == WindowOwner::Candidate && samples.ns.len() > before {
                watcher.sampled(&samples.ns, &samples.by_worker());
            }
        }
        Ok(())
    }
}

/// The parts of a round.
#[derive(Clone, Copy)]
enum Phase {
    WarmUp,
    Samples,
}

impl Phase {
    /// Whether the worker of an arm is not through with it.
    fn lacks(self, arm: &Arm<'_>) -> bool {
        match self {
            Phase::WarmUp => !arm.is_warm(),
            Phase::Samples => !arm.has_enough(),
        }
    }

    /// Whether an arm that is through with it may go on as long as the other does.
    fn keeps_company(self, arm: &Arm<'_>) -> bool {
        matches!(self, Phase::Samples) && arm.may_go_on()
    }
}
