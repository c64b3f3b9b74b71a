//! The order of windows: round by round with a fresh worker for each arm, and alternating if there
//! are several arms.

use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::arm::{Arm, Context, WindowPurpose};
use super::case::{CasesInTurns, StoppingQuery};
use super::checks::LEAST_CALLS;
use super::energy::NO_COUNTER;
use super::error::MeasureError;
use super::idle_workers::IdleWorkers;
use super::input_sets::SetLimit;
use super::placements::Placements;
use super::pool::{PoolOrder, WorkerPool};
use super::protocol::{Energy, Protocol};
use super::retakes::{Retake, Retakes};
use super::run_mode::RunMode;
use super::watcher::Watcher;
use crate::clients::{OpenedCase, RoleFailure};
use gpubench_protocol::window::{DrawnCalls, Gate, Seeds, WindowId, WindowKind, WindowOwner};

/// Fewest calls of an audit, however long they take. The first may set things up and does not
/// count. Of three others, memory grows in both halves also if only the outer ones leave some.
const FEWEST_AUDITED: usize = 4;

/// Number of empty windows with counted submissions.
const EMPTY_WINDOWS: usize = 3;

/// Fewest and most calls in the first process of a test. The third is the first whose answer can
/// repeat the first or the previous call's alone. More follow while the checks may be blind; the
/// first call tries no other answers.
const CALLS_OF_TEST: RangeInclusive<usize> = 3..=1 + LEAST_CALLS;

/// Number of calls in each other process.
const ONE_CALL: RangeInclusive<usize> = 1..=1;

/// The rounds of cases that are measured alternately.
pub(super) struct Rounds<'a> {
    arms: Vec<Arm<'a>>,
    /// Decides whether several arms need more rounds.
    question: Option<&'a dyn StoppingQuery>,
    /// Least number of rounds if a judged arm does not fail.
    first: usize,
    /// Fewest and most calls in the first process of a test. An observed process makes one: a
    /// profiler shows all of them, and a sanitizer is slow.
    test_calls: RangeInclusive<usize>,
    /// Whether the energy of a call is measured.
    energy: Energy,
    /// Throttled samples that may be taken again.
    retakes: Retakes,
    /// Where the buffers lie, if they are placed anew.
    placements: Option<Placements>,
    /// Number of the case.
    case: u64,
    seeds: &'a Seeds,
}

impl<'a> Rounds<'a> {
    /// Starts the workers of all arms.
    pub(super) fn start(
        turns: &'a CasesInTurns<'a>,
        protocol: &'a Protocol<'a>,
        gate: Gate,
        guarded: [u32; 2],
        opened: &OpenedCase,
        idle: &mut IdleWorkers,
    ) -> Rounds<'a> {
        let first = first_rounds(protocol);
        let question = question_of(turns, protocol);
        let most = question
            .map_or(protocol.worker_rules().most(), |question| question.most(first))
            .max(first);
        let arms = turns.arms.iter().enumerate();
        let arms = arms.map(|(position, arm)| {
            let order = PoolOrder {
                owner: WindowOwner::arm(position),
                workers: first,
                reserve: most - first,
                pools: turns.arms.len(),
            };
            let pool = WorkerPool::start(arm.case, protocol, order, guarded, opened, idle);
            let mut measured = Arm::new(*arm, protocol, gate, pool);
            if let Some(rival) = turns.hosted_rival_of(position) {
                measured.note_hosted_rival(rival);
            }
            measured
        });
        Rounds {
            arms: arms.collect(),
            question,
            first,
            test_calls: calls_of_first_process(protocol),
            energy: protocol.energy,
            retakes: Retakes::of_case(&protocol.stop),
            placements: None,
            case: turns.source.number,
            seeds: protocol.seeds,
        }
    }

    /// Gives the descriptors to the pools for the workers still to start.
    pub(super) fn keep_descriptors(&mut self, opened: &Rc<OpenedCase>) {
        for arm in &mut self.arms {
            arm.pool.keep_descriptors(Rc::clone(opened));
        }
    }

    /// Places the buffers anew from time to time.
    pub(super) fn use_placements(&mut self, placements: Option<Placements>) {
        self.placements = placements;
    }

    /// Limits the calls of each worker to the sets of inputs that are made before.
    pub(super) fn use_sets(&mut self, limit: SetLimit) {
        self.arms.iter_mut().for_each(|arm| arm.use_sets(limit));
    }

    /// Ends all workers and returns the arms. An arm that was lost without fault of its code is an
    /// error.
    pub(super) fn retire(mut self) -> Vec<Result<Arm<'a>, RoleFailure>> {
        self.arms.iter_mut().for_each(|arm| arm.pool.dismiss());
        let arms = self.arms.into_iter();
        arms.map(|mut arm| arm.lost.take().map_or(Ok(arm), Err)).collect()
    }

    /// Runs the rounds until every judged arm has failed or has enough. A failed arm drops out.
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
            RunMode::Test => self.test(context),
            RunMode::Profile(duration) => self.call_for(duration, 1, context),
            RunMode::Audit(duration) => self.call_for(duration, FEWEST_AUDITED, context),
        }
    }

    /// Makes some calls in the first worker of each judged arm and one in each other, until one
    /// fails. Only the correctness is kept.
    fn test(&mut self, context: &mut Context<'_>) -> Result<(), MeasureError> {
        let mut goes_on = vec![true; self.arms.len()];
        for round in 0..self.first {
            // A call takes no sample, so it never gives an arm enough of them.
            let arms = self.arms.iter_mut().zip(&goes_on);
            begin(arms.filter(|(_, goes_on)| **goes_on).map(|(arm, _)| arm))?;
            let calls = if round == 0 { self.test_calls.clone() } else { ONE_CALL };
            for _ in 0..*calls.start() {
                self.call_unsampled(WindowKind::EarlyCheck, context)?;
            }
            for _ in *calls.start()..*calls.end() {
                let mut doubtful = self.judged().filter(|arm| arm.check_may_be_blind());
                doubtful.try_for_each(|arm| arm.step(context, WindowPurpose::Unsampled(WindowKind::EarlyCheck)))?;
            }
            goes_on = self.arms.iter().map(Arm::is_active).collect();
            if !self.end_round() {
                break;
            }
        }
        let mut judged = self.arms.iter_mut().filter(|arm| arm.is_judged());
        judged.try_for_each(|arm| arm.try_another_order(context))
    }

    /// Repeats the calls of the judged arms for `duration`, at least `fewest` times. Only the
    /// correctness is kept.
    fn call_for(&mut self, duration: Duration, fewest: usize, context: &mut Context<'_>) -> Result<(), MeasureError> {
        self.begin_round()?;
        let started = Instant::now();
        for calls in 1.. {
            self.call_unsampled(WindowKind::Timed, context)?;
            if !self.goes_on()
                || !self.active().all(|arm| arm.has_inputs())
                || calls >= fewest && started.elapsed() >= duration
            {
                break;
            }
        }
        for _ in 0..EMPTY_WINDOWS {
            let mut arms = self.arms.iter_mut().filter(|arm| arm.counts_submissions());
            arms.try_for_each(|arm| arm.step(context, WindowPurpose::Empty))?;
        }
        self.end_round();
        Ok(())
    }

    /// Makes one call of each judged arm.
    fn call_unsampled(&mut self, kind: WindowKind, context: &mut Context<'_>) -> Result<(), MeasureError> {
        self.judged()
            .try_for_each(|arm| arm.step(context, WindowPurpose::Unsampled(kind)))
    }

    /// Returns the judged arms that have not failed.
    fn judged(&mut self) -> impl Iterator<Item = &mut Arm<'a>> {
        self.active().filter(|arm| arm.is_judged())
    }

    fn measure(&mut self, context: &mut Context<'_>, watcher: &mut dyn Watcher) -> Result<(), MeasureError> {
        let (mut round, mut last) = (0, self.first);
        while round < last {
            round += 1;
            let began = Instant::now();
            if let Some(placements) = self.placements.as_mut().filter(|_| round > 1) {
                placements.begin_round(&mut self.arms, context)?;
            }
            self.begin_round()?;
            if let Some(placements) = &self.placements {
                placements.follow(&mut self.arms, began)?;
            }
            while self.is_needed(Phase::WarmUp) {
                self.lap(Phase::WarmUp, context, watcher)?;
            }
            while self.is_needed(Phase::Samples) {
                self.lap(Phase::Samples, context, watcher)?;
                if self.is_needed(Phase::Samples)
                    && let Some(placements) = &mut self.placements
                {
                    placements.after_sample(&mut self.arms, context)?;
                }
            }
            let workers = self.first;
            for arm in &mut self.arms {
                arm.catch_up(context, workers)?;
            }
            for arm in &mut self.arms {
                for _ in 0..arm.windows_for_parts() {
                    arm.step(context, WindowPurpose::Steps)?;
                }
            }
            if round == 1 && self.energy == Energy::Measured {
                for arm in self.arms.iter_mut().filter(|arm| arm.is_judged()) {
                    measure_energy(arm, context, watcher)?;
                }
            }
            if !self.end_round() {
                break;
            }
            if round == last {
                last = self.extend_rounds(round);
            }
        }
        Ok(())
    }

    /// Returns how many rounds to run in all, after `rounds`.
    fn extend_rounds(&mut self, rounds: usize) -> usize {
        let last = match &self.arms[..] {
            [alone] => alone.workers_to_have(),
            several => self.rounds_to_have(rounds, several),
        };
        for arm in &mut self.arms {
            arm.pool.add_workers(last - rounds);
        }
        last
    }

    /// Returns how many rounds of several arms to run in all, after `rounds`.
    fn rounds_to_have(&self, rounds: usize, arms: &[Arm<'_>]) -> usize {
        let samples = arms.iter().filter(|arm| arm.can_continue());
        let samples: Vec<Vec<&[f64]>> = samples.map(|arm| arm.samples()).collect();
        let next = self.question.and_then(|question| question.next(rounds, &samples));
        next.unwrap_or(rounds)
    }

    fn begin_round(&mut self) -> Result<(), MeasureError> {
        begin(self.arms.iter_mut().filter(|arm| arm.can_continue()))
    }

    /// Ends the round. Returns whether another one makes sense.
    fn end_round(&mut self) -> bool {
        let goes_on = self.goes_on();
        self.arms.iter_mut().for_each(Arm::end_round);
        goes_on
    }

    /// Whether a judged arm has not failed.
    fn goes_on(&self) -> bool {
        self.arms.iter().any(|arm| arm.is_judged() && arm.is_active())
    }

    fn active(&mut self) -> impl Iterator<Item = &mut Arm<'a>> {
        self.arms.iter_mut().filter(|arm| arm.is_active())
    }

    /// Whether an active arm needs more windows. Without a judged arm, none does.
    fn is_needed(&mut self, phase: Phase) -> bool {
        self.goes_on() && self.active().any(|arm| phase.lacks(arm))
    }

    /// Runs a window of each arm that needs one. The key draws their order, so that none always
    /// follows the same other. All windows have the same kind, so samples with the same number are
    /// close in time.
    fn lap(&mut self, phase: Phase, context: &mut Context<'_>, watcher: &mut dyn Watcher) -> Result<(), MeasureError> {
        let place = context.next_window(self.case);
        let needs = |arm: &Arm<'_>| phase.lacks(arm) || phase.may_continue(arm);
        let mut order = self.seeds.order_of_lap(place, self.arms.len());
        order.retain(|position| self.arms[*position].is_active() && needs(&self.arms[*position]));
        let part = match phase {
            Phase::WarmUp => WindowPurpose::WarmUp,
            Phase::Samples => WindowPurpose::Sample(self.draw_kind(place, &mut order)),
        };
        let mut sampled = Vec::new();
        for position in order {
            let arm = &mut self.arms[position];
            let before = arm.sample_count();
            arm.step(context, part)?;
            if arm.sample_count() > before {
                sampled.push(position);
            }
        }
        self.show(&sampled, watcher);
        // Samples of several arms belong together.
        if !sampled.is_empty() && sampled.len() == self.active().count() {
            self.take_again(watcher);
        }
        Ok(())
    }

    /// Draws the kind of the next windows of some arms. An arm that always makes all calls of a
    /// window has none while the others make one.
    fn draw_kind(&self, place: WindowId, order: &mut Vec<usize>) -> WindowKind {
        let arms = order.iter().map(|position| &self.arms[*position]);
        let since_early = arms.clone().map(Arm::since_early).max().unwrap_or_default();
        let several = |arm: &Arm<'_>| arm.drawn_calls() == DrawnCalls::AllOrFirst;
        let calls = if arms.clone().any(several) {
            DrawnCalls::AllOrFirst
        } else {
            DrawnCalls::All
        };
        let kind = self.seeds.kind(place, since_early, calls);
        if kind == WindowKind::Single {
            order.retain(|position| several(&self.arms[*position]));
        }
        kind
    }

    /// Shows the samples of the judged arm that has the most, if one has another sample.
    fn show(&self, sampled: &[usize], watcher: &mut dyn Watcher) {
        let sampled = sampled.iter().map(|position| &self.arms[*position]);
        let judged = sampled.filter(|arm| arm.is_judged());
        if let Some(arm) = judged.max_by_key(|arm| arm.sample_count()) {
            watcher.sampled(&arm.samples());
        }
    }

    /// Throws the latest samples away if the device throttled, and lets it recover.
    fn take_again(&mut self, watcher: &mut dyn Watcher) {
        if !self.active().all(|arm| arm.can_take_again()) {
            return;
        }
        let most = self.active().map(|arm| arm.current_sample_count()).min();
        let Some(Retake { samples, pause }) = self
            .retakes
            .after_sample(watcher.throttling(), most.unwrap_or_default())
        else {
            return;
        };
        self.active().for_each(|arm| arm.throw_away(samples));
        watcher.thrown_away(samples);
        std::thread::sleep(pause);
    }
}

fn first_rounds(protocol: &Protocol<'_>) -> usize {
    match protocol.mode {
        RunMode::Measure | RunMode::Profile(_) | RunMode::Audit(_) => protocol.worker_rules().first(),
        // Test calls give no samples, so limits on samples do not apply.
        RunMode::Test => protocol.worker_count.first().get(),
    }
}

fn question_of<'a>(turns: &CasesInTurns<'a>, protocol: &Protocol<'_>) -> Option<&'a dyn StoppingQuery> {
    // If a limit lowers the number of rounds, there is no interim analysis.
    let has_all_rounds = protocol.worker_rules().most() == protocol.worker_count.most().get();
    turns.question.filter(|_| turns.arms.len() > 1 && has_all_rounds)
}

fn calls_of_first_process(protocol: &Protocol<'_>) -> RangeInclusive<usize> {
    match protocol.observer {
        None => CALLS_OF_TEST,
        Some(_) => ONE_CALL,
    }
}

/// Begins a round of some arms.
fn begin<'r, 'a: 'r>(arms: impl Iterator<Item = &'r mut Arm<'a>>) -> Result<(), MeasureError> {
    for arm in arms {
        arm.begin_round();
        if let Some(RoleFailure::Interrupted) = arm.lost {
            return Err(MeasureError::Interrupted);
        }
    }
    Ok(())
}

/// Measures the energy of an arm's call, or notes why it cannot.
fn measure_energy(arm: &mut Arm<'_>, context: &mut Context<'_>, watcher: &mut dyn Watcher) -> Result<(), MeasureError> {
    if !arm.is_active() {
        return Ok(());
    }
    // The counter is not to see the rest before the window.
    context.sequencer.rests.take(context.sequencer.protocol.interrupt);
    let prepared = arm
        .energy_repeats()
        .and_then(|repeats| Ok((repeats, watcher.energy().ok_or(NO_COUNTER)?)));
    let (repeats, before) = match prepared {
        Ok(prepared) => prepared,
        Err(notice) => {
            arm.notices.push(notice);
            return Ok(());
        }
    };
    arm.step(context, WindowPurpose::Energy(repeats))?;
    if arm.is_active()
        && let Some(after) = watcher.energy()
    {
        arm.note_energy([before, after], repeats);
    }
    Ok(())
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

    /// Whether an arm that has completed this phase may go on while another one needs more.
    fn may_continue(self, arm: &Arm<'_>) -> bool {
        matches!(self, Phase::Samples) && arm.may_go_on()
    }
}

#[cfg(test)]
mod tests;
