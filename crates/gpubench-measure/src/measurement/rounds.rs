//! The order of a case's windows: round by round with a fresh worker for each arm, and alternating
//! windows if there are two arms.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::arm::{Arm, Context, Part};
use super::buffers::Buffers;
use super::case::{CasePair, StoppingQuery};
use super::energy::NO_COUNTER;
use super::error::MeasureError;
use super::idle_workers::IdleWorkers;
use super::pool::{PoolOrder, WorkerPool};
use super::protocol::{Energy, Protocol};
use super::retakes::{Retake, Retakes};
use super::run_mode::RunMode;
use super::watcher::Watcher;
use crate::clients::{OpenedCase, RoleFailure};
use gpubench_protocol::window::{Seeds, WindowKind, WindowOwner};
use gpubench_stats::WorkerRules;

/// Windows of each worker that time the parts of a call.
const PART_WINDOWS: usize = 2;

/// The rounds of a case with one arm or two.
pub(super) struct Rounds<'a> {
    candidate: Arm<'a>,
    baseline: Option<Arm<'a>>,
    /// Decides whether two arms need more rounds.
    question: Option<&'a dyn StoppingQuery>,
    /// Least number of rounds if the candidate does not fail.
    first: usize,
    /// Whether the energy of the candidate's call is measured.
    energy: Energy,
    /// Throttled samples that may be taken again.
    retakes: Retakes,
    /// Number of the case.
    case: u64,
    seeds: &'a Seeds,
}

impl<'a> Rounds<'a> {
    /// Starts the workers of both arms.
    pub(super) fn start(
        pair: &'a CasePair<'a>,
        protocol: &'a Protocol<'a>,
        buffers: &'a Buffers<'a>,
        guarded: [u32; 2],
        opened: &OpenedCase,
        idle: &mut IdleWorkers,
    ) -> Rounds<'a> {
        let CasePair {
            candidate, baseline, ..
        } = *pair;
        let shares = WorkerRules::new(protocol.stop.clone(), protocol.worker_count);
        let first = match protocol.mode {
            RunMode::Measure | RunMode::Profile(_) => shares.first(),
            // Test calls give no samples, so limits on samples do not apply.
            RunMode::Test => protocol.worker_count.first().get(),
        };
        // If a limit lowers the number of rounds, there is no interim analysis.
        let question = pair
            .question
            .filter(|_| baseline.is_some() && shares.most() == protocol.worker_count.most().get());
        let most = question
            .map_or(shares.most(), |question| question.most(first))
            .max(first);
        let mut arm = |owner, case, positions: &[usize]| {
            let order = PoolOrder {
                owner,
                buffers: positions.to_vec(),
                workers: first,
                reserve: most - first,
            };
            let pool = WorkerPool::start(case, protocol, order, guarded, opened, idle);
            Arm::new(case, protocol, &buffers.recording.plan.scratch, pool)
        };
        Rounds {
            candidate: arm(WindowOwner::Candidate, candidate, &buffers.of_candidate),
            baseline: baseline.map(|baseline| arm(WindowOwner::Baseline, baseline, &buffers.of_baseline)),
            question,
            first,
            energy: protocol.energy,
            retakes: Retakes::of_case(&protocol.stop),
            case: candidate.number,
            seeds: protocol.seeds,
        }
    }

    /// Gives the descriptors to the pools for the workers still to start.
    pub(super) fn keep_descriptors(&mut self, opened: &Rc<OpenedCase>) {
        self.arms().for_each(|arm| arm.pool.keep_descriptors(Rc::clone(opened)));
    }

    /// Ends all workers and returns the arms. A baseline that was lost without fault of its code is
    /// an error.
    pub(super) fn retire(mut self) -> (Arm<'a>, Option<Result<Arm<'a>, RoleFailure>>) {
        self.arms().for_each(|arm| arm.pool.dismiss());
        let baseline = self.baseline.map(|mut baseline| match baseline.lost.take() {
            None => Ok(baseline),
            Some(failure) => Err(failure),
        });
        (self.candidate, baseline)
    }

    /// Runs the rounds until the candidate fails or has enough. A baseline that fails drops out.
    ///
    /// # Errors
    /// If anything but the kernels under test fails.
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

    /// Makes one call in each of the candidate's workers until one fails. Only the correctness is
    /// kept.
    fn call_once_each(&mut self, context: &mut Context<'_>) -> Result<(), MeasureError> {
        for _ in 0..self.first {
            self.begin_round()?;
            self.candidate.step(context, Part::Alone(WindowKind::EarlyCheck))?;
            let continues = self.candidate.is_active();
            self.arms().for_each(Arm::end_round);
            if !continues {
                break;
            }
        }
        Ok(())
    }

    /// Repeats the candidate's call for `duration`, at least once. Only the correctness is kept.
    fn call_for(&mut self, duration: Duration, context: &mut Context<'_>) -> Result<(), MeasureError> {
        self.begin_round()?;
        let started = Instant::now();
        loop {
            self.candidate.step(context, Part::Alone(WindowKind::Timed))?;
            if !self.candidate.is_active() || started.elapsed() >= duration {
                break;
            }
        }
        self.arms().for_each(Arm::end_round);
        Ok(())
    }

    fn measure(&mut self, context: &mut Context<'_>, watcher: &mut dyn Watcher) -> Result<(), MeasureError> {
        let (mut round, mut last) = (0, self.first);
        while round < last {
            round += 1;
            self.begin_round()?;
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
            for arm in self.arms().filter(|arm| arm.has_parts()) {
                for _ in 0..PART_WINDOWS {
                    arm.step(context, Part::Parts)?;
                }
            }
            if round == 1 && self.energy == Energy::Measured {
                self.measure_energy(context, watcher)?;
            }
            let continues = self.candidate.is_active();
            self.arms().for_each(Arm::end_round);
            if !continues {
                break;
            }
            if round == last {
                last = self.extend_rounds(round);
            }
        }
        Ok(())
    }

    /// Measures the energy of the candidate's call, or notes why it cannot.
    fn measure_energy(&mut self, context: &mut Context<'_>, watcher: &mut dyn Watcher) -> Result<(), MeasureError> {
        let arm = &mut self.candidate;
        if !arm.is_active() {
            return Ok(());
        }
        let prepared = arm
            .energy_repetition()
            .and_then(|repetition| Ok((repetition, watcher.energy().ok_or(NO_COUNTER)?)));
        let (repetition, before) = match prepared {
            Ok(prepared) => prepared,
            Err(notice) => {
                arm.notices.push(notice);
                return Ok(());
            }
        };
        arm.step(context, Part::Energy(repetition))?;
        if arm.is_active()
            && let Some(after) = watcher.energy()
        {
            arm.note_energy([before, after], repetition);
        }
        Ok(())
    }

    /// Returns how many rounds to run in all, after `rounds`.
    fn extend_rounds(&mut self, rounds: usize) -> usize {
        let last = match &self.baseline {
            None => self.candidate.workers_to_have(),
            Some(baseline) => self.rounds_to_have(rounds, baseline),
        };
        self.arms().for_each(|arm| arm.pool.add_workers(last - rounds));
        last
    }

    /// Returns how many rounds of two arms to run in all, after `rounds`.
    fn rounds_to_have(&self, rounds: usize, baseline: &Arm<'_>) -> usize {
        let Some(question) = self.question.filter(|_| baseline.can_continue()) else {
            return rounds;
        };
        let [baseline, candidate] = [baseline, &self.candidate].map(|arm| arm.samples.by_worker());
        question.next(rounds, &baseline, &candidate).unwrap_or(rounds)
    }

    fn arms(&mut self) -> impl Iterator<Item = &mut Arm<'a>> {
        std::iter::once(&mut self.candidate).chain(&mut self.baseline)
    }

    fn begin_round(&mut self) -> Result<(), MeasureError> {
        self.candidate.begin_round();
        if let Some(failure) = self.candidate.lost.take() {
            return Err(MeasureError::Worker(failure));
        }
        if let Some(baseline) = self.baseline.as_mut().filter(|baseline| baseline.can_continue()) {
            baseline.begin_round();
            if let Some(RoleFailure::Interrupted) = baseline.lost {
                return Err(MeasureError::Worker(RoleFailure::Interrupted));
            }
        }
        Ok(())
    }

    /// Whether an active arm needs more windows. Without the candidate, none does.
    fn is_needed(&mut self, phase: Phase) -> bool {
        let continues = self.candidate.is_active();
        continues && self.arms().any(|arm| arm.is_active() && phase.lacks(arm))
    }

    /// Runs a window of each arm that needs one. The key draws which arm is first, so neither
    /// always follows the other. Both windows have the same kind, so samples with the same number
    /// are close in time.
    fn pair(&mut self, phase: Phase, context: &mut Context<'_>, watcher: &mut dyn Watcher) -> Result<(), MeasureError> {
        let (seeds, place) = (self.seeds, context.next_place(self.case));
        let alone = !self.baseline.as_ref().is_some_and(Arm::is_active);
        let needy = self.arms().filter(|arm| arm.is_active());
        let needs = |arm: &Arm<'_>| phase.lacks(arm) || phase.may_continue(arm) && !alone;
        let mut arms: Vec<&mut Arm<'a>> = needy.filter(|arm| needs(arm)).collect();
        if seeds.first_of_pair(place) == WindowOwner::Baseline {
            arms.reverse();
        }
        let since_early = arms.iter().map(|arm| arm.since_early()).max();
        let part = match phase {
            Phase::WarmUp => Part::WarmUp,
            Phase::Samples => Part::Sample(seeds.kind(place, since_early.unwrap_or_default())),
        };
        let mut with_samples = 0;
        for arm in arms {
            let before = arm.samples.values.len();
            arm.step(context, part)?;
            let samples = &arm.samples;
            with_samples += usize::from(samples.values.len() > before);
            // The counts of an observer come later.
            let is_known = !arm.is_counted_by_observer();
            if arm.owner == WindowOwner::Candidate && is_known && samples.values.len() > before {
                watcher.sampled(&samples.values, &samples.by_worker());
            }
        }
        // Samples of two arms go in pairs.
        if with_samples > 0 && with_samples == self.arms().filter(|arm| arm.is_active()).count() {
            self.take_again(watcher);
        }
        Ok(())
    }

    /// Throws the latest samples away if the device throttled, and lets it recover.
    fn take_again(&mut self, watcher: &mut dyn Watcher) {
        if !self
            .arms()
            .filter(|arm| arm.is_active())
            .all(|arm| arm.can_take_again())
        {
            return;
        }
        let most = self.candidate.samples.of_present_worker().len();
        let Some(Retake { samples, pause }) = self.retakes.after_sample(watcher.throttling(), most) else {
            return;
        };
        self.arms()
            .filter(|arm| arm.is_active())
            .for_each(|arm| arm.throw_away(samples));
        watcher.thrown_away(samples);
        std::thread::sleep(pause);
    }
}

/// The phases of a round.
#[derive(Clone, Copy)]
enum Phase {
    WarmUp,
    Samples,
}

impl Phase {
    /// Whether the arm's worker has not completed this phase.
    fn lacks(self, arm: &Arm<'_>) -> bool {
        match self {
            Phase::WarmUp => !arm.is_warm(),
            Phase::Samples => !arm.has_enough(),
        }
    }

    /// Whether an arm that has completed this phase may go on while the other one needs more.
    fn may_continue(self, arm: &Arm<'_>) -> bool {
        matches!(self, Phase::Samples) && arm.may_go_on()
    }
}
