//! The order of a case's windows: round by round, a fresh worker of each side, and window by window in turns where there are two sides.

use std::time::{Duration, Instant};

use super::crew::Crew;
use super::measure::{MeasureError, Watcher};
use super::purpose::Purpose;
use super::sequence::ConductError;
use super::side::{Side, Stage, Step};
use crate::broker::against::question::Question;
use gpubench_measure::clients::{RoleFailure, WorkerClient};
use gpubench_measure::verdict::Ending;
use gpubench_protocol::window::{Seat, Seeds};

/// A window of a side that is no part of a pair.
type Window<'a> = fn(&mut Side<'a>, &mut Stage<'_, '_, '_>, &mut WorkerClient) -> Result<Step, ConductError>;

/// One who takes part in the rounds.
pub(super) struct Party<'a> {
    side: Side<'a>,
    pub(super) crew: Crew<'a>,
    /// The worker of this round, as long as nothing is wrong with it.
    worker: Option<WorkerClient>,
    /// Why it takes no part any more, for no fault of its code.
    lost: Option<RoleFailure>,
}

impl<'a> Party<'a> {
    pub(super) fn new(side: Side<'a>, crew: Crew<'a>) -> Party<'a> {
        Party {
            side,
            crew,
            worker: None,
            lost: None,
        }
    }

    /// What is left when it takes no part any more: its processes are gone.
    pub(super) fn retire(self) -> Retired<'a> {
        let Party { side, lost, .. } = self;
        Retired { side, lost }
    }

    /// Whether it came through all rounds so far.
    fn goes_on(&self) -> bool {
        self.lost.is_none() && self.side.came_through()
    }

    fn takes_part(&self) -> bool {
        self.worker.is_some()
    }

    /// Has the next worker of its crew take part.
    fn enter(&mut self) {
        self.side.begin_turn();
        match self.crew.next() {
            Ok(member) => self.worker = self.side.admit(member),
            // A kernel module's constructor may end the process or never return: that is the kernel's doing, not ours.
            Err(RoleFailure::Ended { end, log, .. }) => self.side.end(Ending::WorkerEnded { end, log }),
            Err(RoleFailure::Silent { within, .. }) => self.side.end(Ending::TimedOut { within }),
            Err(failure) => self.lost = Some(failure),
        }
    }

    /// Its part in the round is over: the worker is killed and waited for.
    fn leave(&mut self) {
        self.worker = None;
    }

    fn step(
        &mut self,
        stage: &mut Stage<'_, '_, '_>,
        window: impl FnOnce(&mut Side<'a>, &mut Stage<'_, '_, '_>, &mut WorkerClient) -> Result<Step, ConductError>,
    ) -> Result<(), ConductError> {
        let Some(worker) = &mut self.worker else { return Ok(()) };
        if window(&mut self.side, stage, worker)? == Step::Failed {
            self.side.hear(worker.last_words());
            self.worker = None;
        }
        Ok(())
    }
}

/// What is left of a party.
pub(super) struct Retired<'a> {
    pub(super) side: Side<'a>,
    /// Why it took no part any more, for no fault of its code.
    pub(super) lost: Option<RoleFailure>,
}

/// The parties of a case: the candidate, and perhaps a baseline.
pub(super) struct Rounds<'a> {
    pub(super) candidate: Party<'a>,
    pub(super) baseline: Option<Party<'a>>,
    /// What the rounds of two are to decide, where they may go on until they have.
    pub(super) question: Option<Question>,
    /// Number of the case, and the keys of the run.
    pub(super) case: u64,
    pub(super) seeds: &'a Seeds,
}

impl<'a> Rounds<'a> {
    /// Conducts so many rounds, or as many as the candidate comes through. A baseline that fails takes no part in what follows.
    ///
    /// # Errors
    /// When the candidate fails for no fault of its kernels, or those who lead through windows fail.
    pub(super) fn conduct(
        &mut self,
        purpose: Purpose,
        rounds: usize,
        stage: &mut Stage<'_, '_, '_>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), MeasureError> {
        match purpose {
            Purpose::Measure => self.measure(rounds, stage, watcher),
            Purpose::Test => self.call_for(Duration::ZERO, stage, Side::check),
            Purpose::Profile(duration) => self.call_for(duration, stage, Side::show),
        }
    }

    /// Calls the candidate at least once, and again and again for so long.
    fn call_for(
        &mut self,
        duration: Duration,
        stage: &mut Stage<'_, '_, '_>,
        window: Window<'a>,
    ) -> Result<(), MeasureError> {
        self.enter()?;
        let started = Instant::now();
        loop {
            self.candidate.step(stage, window)?;
            if !self.candidate.takes_part() || started.elapsed() >= duration {
                break;
            }
        }
        self.parties().for_each(Party::leave);
        Ok(())
    }

    fn measure(
        &mut self,
        rounds: usize,
        stage: &mut Stage<'_, '_, '_>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), MeasureError> {
        let (mut round, mut last) = (0, rounds);
        while round < last {
            round += 1;
            self.enter()?;
            stage.null.warm_up_begins();
            while self.is_needed(|side| !side.is_warm()) {
                self.pair(Phase::WarmUp, stage, watcher)?;
            }
            if self.candidate.takes_part() {
                stage.null.warm_up_ends();
            }
            while self.is_needed(|side| !side.has_enough()) {
                self.pair(Phase::Samples, stage, watcher)?;
            }
            let goes_on = self.candidate.takes_part();
            if goes_on {
                stage.null.catch_up(stage.conductor, round, rounds)?;
            }
            self.parties().for_each(Party::leave);
            if !goes_on {
                break;
            }
            if round == last {
                last = self.go_on(round);
            }
        }
        Ok(())
    }

    /// After so many rounds, how many there are to be.
    fn go_on(&mut self, rounds: usize) -> usize {
        let last = match &self.baseline {
            None => self.candidate.side.workers_to_have(rounds),
            Some(baseline) => self.rounds_to_have(rounds, baseline),
        };
        self.parties().for_each(|party| party.crew.call_more(last - rounds));
        last
    }

    /// The same of two sides.
    fn rounds_to_have(&self, rounds: usize, baseline: &Party<'_>) -> usize {
        let Some(question) = self.question.filter(|_| baseline.goes_on()) else {
            return rounds;
        };
        let samples = [baseline, &self.candidate].map(|party| party.side.samples_by_worker());
        let last = question.rounds_to_go_on_to(rounds, &samples[0], &samples[1]);
        last.unwrap_or(rounds)
    }

    /// All of them.
    pub(super) fn parties(&mut self) -> impl Iterator<Item = &mut Party<'a>> {
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

    /// Whether a party that takes part needs more; without the candidate none does.
    fn is_needed(&mut self, needs: impl Fn(&Side<'a>) -> bool) -> bool {
        let goes_on = self.candidate.takes_part();
        goes_on && self.parties().any(|party| party.takes_part() && needs(&party.side))
    }

    /// A window of each party that needs one. Who begins is drawn by the key, so that neither side always runs behind the other. Both windows are of one kind, so that the samples
    /// of one number are neighbours in time.
    fn pair(
        &mut self,
        phase: Phase,
        stage: &mut Stage<'_, '_, '_>,
        watcher: &mut dyn Watcher,
    ) -> Result<(), ConductError> {
        let (seeds, place) = (self.seeds, stage.next_place(self.case));
        let alone = !self.baseline.as_ref().is_some_and(Party::takes_part);
        let needy = self.parties().filter(|party| party.takes_part());
        let mut parties: Vec<&mut Party<'a>> = needy.filter(|party| phase.needs(&party.side, alone)).collect();
        if seeds.first_of_pair(place) == Seat::Baseline {
            parties.reverse();
        }
        let since_early = parties.iter().map(|party| party.side.since_early()).max();
        let kind = seeds.kind(place, since_early.unwrap_or_default());
        for party in parties {
            let before = party.side.samples_ns().len();
            party.step(stage, |side, stage, worker| match phase {
                Phase::WarmUp => side.warm_up(stage, worker),
                Phase::Samples => side.sample(stage, worker, kind),
            })?;
            let samples = party.side.samples_ns();
            if party.side.seat() == Seat::Candidate && samples.len() > before {
                watcher.sampled(samples, &party.side.samples_by_worker());
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
    fn needs(self, side: &Side<'_>, alone: bool) -> bool {
        match self {
            Phase::WarmUp => !side.is_warm(),
            Phase::Samples => !side.has_enough() || !alone && side.may_go_on(),
        }
    }
}
