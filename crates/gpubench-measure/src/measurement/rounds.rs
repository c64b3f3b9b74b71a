//! The order of a case's windows: round by round, a fresh worker of each arm, and window by window in turns where there are two arms.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::arm::{Arm, Context, Part, Step};
use super::buffers::Buffers;
use super::case::{Contest, StoppingQuery};
use super::error::{MeasureError, WindowError};
use super::pool::{PoolOrder, WorkerPool};
use super::protocol::Protocol;
use super::purpose::Purpose;
use super::watcher::Watcher;
use crate::clients::{OpenedCase, RoleFailure, WorkerClient};
use crate::verdict::Ending;
use gpubench_protocol::window::{Seat, Seeds, WindowKind};
use gpubench_stats::Shares;

/// Runs an arm's workers, one a round.
struct ArmRunner<'a> {
    arm: Arm<'a>,
    pool: WorkerPool<'a>,
    /// The worker of this round, as long as nothing is wrong with it.
    worker: Option<WorkerClient>,
    /// Why it takes no part any more, for no fault of its code.
    lost: Option<RoleFailure>,
}

impl<'a> ArmRunner<'a> {
    /// Whether it came through all rounds so far.
    fn goes_on(&self) -> bool {
        self.lost.is_none() && self.arm.came_through()
    }

    fn takes_part(&self) -> bool {
        self.worker.is_some()
    }

    /// Has the next worker of its pool take part in the round.
    fn enter(&mut self) {
        self.arm.begin_turn();
        match self.pool.next() {
            Ok(ready) => self.worker = self.arm.admit(ready),
            // A kernel module's constructor may end the process or never return: that is the kernel's doing, not ours.
            Err(RoleFailure::Ended { end, log, .. }) => self.arm.end(Ending::WorkerEnded { end, log }),
            Err(RoleFailure::Silent { within, .. }) => self.arm.end(Ending::TimedOut { within }),
            Err(failure) => self.lost = Some(failure),
        }
    }

    /// Its part in the round is over: the worker is killed and waited for.
    fn leave(&mut self) {
        self.worker = None;
    }

    /// Runs a window of its worker, if there is one.
    fn step(&mut self, context: &mut Context<'_>, part: Part) -> Result<(), WindowError> {
        let Some(worker) = &mut self.worker else { return Ok(()) };
        if self.arm.run(context, worker, part)? == Step::Failed {
            self.arm.keep_last_words(worker.last_words());
            self.leave();
        }
        Ok(())
    }
}

/// The rounds of a case: the candidate, and perhaps a baseline.
pub(super) struct Rounds<'a> {
    candidate: ArmRunner<'a>,
    baseline: Option<ArmRunner<'a>>,
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
        contest: &'a Contest<'a>,
        protocol: &'a Protocol<'a>,
        buffers: &'a Buffers<'a>,
        guarded: [u32; 2],
        opened: &OpenedCase,
    ) -> Rounds<'a> {
        let Contest {
            candidate, baseline, ..
        } = *contest;
        let shares = Shares::new(protocol.stop.clone(), protocol.turnout);
        let first = shares.first();
        // Fewer rounds than there are before the first look are all that may be had.
        let question = contest
            .question
            .filter(|_| baseline.is_some() && shares.most() == protocol.turnout.most().get());
        let most = question.map_or(shares.most(), |question| question.most(first));
        let runner = |seat, case, positions: &[usize]| {
            let order = PoolOrder {
                seat,
                buffers: positions.to_vec(),
                workers: first,
                reserve: most - first,
            };
            let pool = WorkerPool::start(case, protocol, order, guarded, opened);
            ArmRunner {
                arm: Arm::new(seat, case, protocol, &buffers.recording.plan.scratch),
                pool,
                worker: None,
                lost: None,
            }
        };
        Rounds {
            candidate: runner(Seat::Candidate, candidate, &buffers.of_candidate),
            baseline: baseline.map(|baseline| runner(Seat::Baseline, baseline, &buffers.of_baseline)),
            question,
            first,
            case: candidate.number,
            seeds: protocol.seeds,
        }
    }

    /// Leaves the descriptors to the workers that are still to be started.
    pub(super) fn entrust(&mut self, opened: &Rc<OpenedCase>) {
        self.runners().for_each(|runner| runner.pool.entrust(Rc::clone(opened)));
    }

    /// The arms, whose processes are gone; a baseline that was lost for no fault of its code is that failure.
    pub(super) fn retire(self) -> (Arm<'a>, Option<Result<Arm<'a>, RoleFailure>>) {
        let baseline = self
            .baseline
            .map(|baseline| baseline.lost.map_or(Ok(baseline.arm), Err));
        (self.candidate.arm, baseline)
    }

    /// Runs the rounds, or as many as the candidate comes through. A baseline that fails takes no part in what follows.
    ///
    /// # Errors
    /// When the candidate fails for no fault of its kernels, or those who lead through windows fail.
    pub(super) fn run(
        &mut self,
        purpose: Purpose,
        context: &mut Context<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), MeasureError> {
        match purpose {
            Purpose::Measure => self.measure(context, watcher),
            Purpose::Test => self.call_for(Duration::ZERO, context, WindowKind::EarlyCheck),
            Purpose::Profile(duration) => self.call_for(duration, context, WindowKind::Timed),
        }
    }

    /// Calls the candidate at least once, and again and again for so long. Nothing is kept of it but whether it was right.
    fn call_for(
        &mut self,
        duration: Duration,
        context: &mut Context<'_>,
        kind: WindowKind,
    ) -> Result<(), MeasureError> {
        self.enter()?;
        let started = Instant::now();
        loop {
            self.candidate.step(context, Part::Alone(kind))?;
            if !self.candidate.takes_part() || started.elapsed() >= duration {
                break;
            }
        }
        self.runners().for_each(ArmRunner::leave);
        Ok(())
    }

    fn measure(&mut self, context: &mut Context<'_>, watcher: &mut dyn Watcher) -> Result<(), MeasureError> {
        let (mut round, mut last) = (0, self.first);
        while round < last {
            round += 1;
            self.enter()?;
            context.null.warm_up_begins();
            while self.is_needed(Phase::WarmUp) {
                self.pair(Phase::WarmUp, context, watcher)?;
            }
            if self.candidate.takes_part() {
                context.null.warm_up_ends();
            }
            while self.is_needed(Phase::Samples) {
                self.pair(Phase::Samples, context, watcher)?;
            }
            let goes_on = self.candidate.takes_part();
            if goes_on {
                context.null.catch_up(&mut context.sequencer, round, self.first)?;
            }
            self.runners().for_each(ArmRunner::leave);
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
            None => self.candidate.arm.workers_to_have(),
            Some(baseline) => self.rounds_to_have(rounds, baseline),
        };
        self.runners().for_each(|runner| runner.pool.call_more(last - rounds));
        last
    }

    /// How many rounds of two arms to run, given those already run.
    fn rounds_to_have(&self, rounds: usize, baseline: &ArmRunner<'_>) -> usize {
        let Some(question) = self.question.filter(|_| baseline.goes_on()) else {
            return rounds;
        };
        let [baseline, candidate] = [baseline, &self.candidate].map(|runner| runner.arm.samples().by_worker());
        question.next(rounds, &baseline, &candidate).unwrap_or(rounds)
    }

    /// All of them.
    fn runners(&mut self) -> impl Iterator<Item = &mut ArmRunner<'a>> {
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

    /// Whether a runner that takes part needs more; without the candidate none does.
    fn is_needed(&mut self, phase: Phase) -> bool {
        let goes_on = self.candidate.takes_part();
        goes_on
            && self
                .runners()
                .any(|runner| runner.takes_part() && phase.lacks(&runner.arm))
    }

    /// A window of each runner that needs one. Who begins is drawn by the key, so that neither arm always
    /// runs after the other. Both windows are of one kind, so that the samples of one number are neighbours in time.
    fn pair(&mut self, phase: Phase, context: &mut Context<'_>, watcher: &mut dyn Watcher) -> Result<(), WindowError> {
        let (seeds, place) = (self.seeds, context.next_place(self.case));
        let alone = !self.baseline.as_ref().is_some_and(ArmRunner::takes_part);
        let needy = self.runners().filter(|runner| runner.takes_part());
        let needs = |arm: &Arm<'_>| phase.lacks(arm) || phase.keeps_company(arm) && !alone;
        let mut runners: Vec<&mut ArmRunner<'a>> = needy.filter(|runner| needs(&runner.arm)).collect();
        if seeds.first_of_pair(place) == Seat::Baseline {
            runners.reverse();
        }
        let since_early = runners.iter().map(|runner| runner.arm.since_early()).max();
        let part = match phase {
            Phase::WarmUp => Part::WarmUp,
            Phase::Samples => Part::Sample(seeds.kind(place, since_early.unwrap_or_default())),
        };
        for runner in runners {
            let before = runner.arm.samples().ns.len();
            runner.step(context, part)?;
            let samples = runner.arm.samples();
            if runner.arm.seat() == Seat::Candidate && samples.ns.len() > before {
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
