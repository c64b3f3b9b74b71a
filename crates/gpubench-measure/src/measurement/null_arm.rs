//! The null windows of a case, interleaved with those of the worker under test.

use std::time::{Duration, Instant};

use super::error::MeasureError;
use super::protocol::Protocol;
use super::sequence::{Sequencer, WindowOutcome};
use crate::clients::{NullWorker, OpenedCase, RoleFailure};
use crate::verdict::{Ending, WindowEvidence};
use gpubench_device::FaultCode;
use gpubench_protocol::window::{NullPace, Place};

/// Null windows behind the end of the worker under test.
const ALONE: usize = 8;

/// Null windows between a case's sampled ones at least, however slow its windows are: with fewer, its claims could not be held against anything.
const FEWEST: usize = 8;

/// Null windows that keep the bound of the fewest samples from being vague, and the time that a case with slow windows may spend on them beyond [`FEWEST`].
const ENOUGH: usize = 36;
const PATIENCE: Duration = Duration::from_secs(2);

/// The null worker in a case, and what came of its windows.
#[derive(Debug)]
pub(super) struct NullArm<'a> {
    worker: Option<&'a mut NullWorker>,
    /// Windows between sampled ones; while a worker warms up, also those of its warm-up.
    pub(super) windows: Vec<WindowEvidence>,
    /// How many of them there were when that warm-up began.
    kept: usize,
    /// Windows behind the end of the worker under test.
    pub(super) alone: Vec<WindowEvidence>,
    /// What two events with nothing between them are apart at least in it, in nanoseconds; known once it has handed the case back.
    pub(super) shortest_claim_ns: Option<f64>,
    /// Workers of another side that live meanwhile, beside the one under test.
    pub(super) rivals: usize,
    /// Why there are no more, where the worker failed.
    pub(super) loss: Option<String>,
    /// Null windows of the case that were begun, those of a measurement before included.
    pub(super) begun: usize,
    since: u32,
    /// How long it took to catch up so far.
    caught_up_for: Duration,
}

impl<'a> NullArm<'a> {
    /// Hands the case's buffers to the null worker, where the case has one; `begun` null windows came before.
    pub(super) fn set_up(
        worker: &'a mut NullWorker,
        opened: &OpenedCase,
        recording: &[u8],
        begun: usize,
    ) -> NullArm<'a> {
        use std::os::fd::AsFd;
        let mut side = NullArm {
            worker: None,
            windows: Vec::new(),
            kept: 0,
            alone: Vec::new(),
            shortest_claim_ns: None,
            rivals: usize::from(opened.baseline_page.is_some()),
            loss: None,
            begun,
            since: 0,
            caught_up_for: Duration::ZERO,
        };
        if let Some(page) = &opened.null_page {
            match worker.set_up(opened, page.as_fd(), recording) {
                Ok(()) => side.worker = Some(worker),
                Err(failure) => side.loss = Some(in_words(&failure)),
            }
        }
        side
    }

    /// Waits until the null worker has the buffers.
    ///
    /// # Errors
    /// When the user interrupts.
    pub(super) fn ready(&mut self, protocol: &Protocol<'_>) -> Result<(), MeasureError> {
        let Some(worker) = &mut self.worker else { return Ok(()) };
        match worker.ready(protocol.within, protocol.interrupt) {
            Ok(_) => Ok(()),
            Err(RoleFailure::Interrupted) => Err(MeasureError::Interrupted),
            Err(failure) => {
                self.give_up(in_words(&failure));
                Ok(())
            }
        }
    }

    /// A worker begins to warm up.
    pub(super) fn warm_up_begins(&mut self) {
        self.kept = self.windows.len();
    }

    /// Its warm-up is over, and the windows in it are forgotten.
    pub(super) fn warm_up_ends(&mut self) {
        self.windows.truncate(self.kept);
    }

    /// Whether there can be more null windows.
    pub(super) fn is_there(&self) -> bool {
        self.worker.is_some()
    }

    /// Conducts a null window where the key draws one before the window at `place`.
    ///
    /// # Errors
    /// When it fails for no fault of the null worker.
    pub(super) fn take_turn(
        &mut self,
        sequencer: &mut Sequencer<'_>,
        protocol: &Protocol<'_>,
        place: Place,
        pace: NullPace,
    ) -> Result<(), MeasureError> {
        if !self.is_there() {
            return Ok(());
        }
        if !protocol.seeds.null_comes_first(place, self.since, pace) {
            self.since += 1;
            return Ok(());
        }
        // The window that it comes before is the first behind it.
        self.since = 1;
        let window = self.conduct(sequencer)?;
        self.windows.extend(window);
        Ok(())
    }

    /// Conducts as many null windows as a case is to have when `rounds` of `of` are over, where the key has drawn fewer.
    ///
    /// # Errors
    /// When it fails for no fault of the null worker.
    pub(super) fn catch_up(
        &mut self,
        sequencer: &mut Sequencer<'_>,
        rounds: usize,
        of: usize,
    ) -> Result<(), MeasureError> {
        let fewest = (FEWEST * rounds).div_ceil(of);
        let part = rounds.min(of);
        let enough = (ENOUGH * part).div_ceil(of);
        let patience = PATIENCE.mul_f64(part as f64 / of as f64);
        while self.is_there() && self.lacks(fewest, enough, patience) {
            let started = Instant::now();
            let window = self.conduct(sequencer)?;
            self.windows.extend(window);
            self.caught_up_for += started.elapsed();
        }
        Ok(())
    }

    fn lacks(&self, fewest: usize, enough: usize, patience: Duration) -> bool {
        let windows = self.windows.len();
        windows < fewest || windows < enough && self.caught_up_for < patience
    }

    /// Conducts null windows behind the end of the worker under test: what it did to those between its own shows beside these.
    ///
    /// # Errors
    /// When it fails for no fault of the null worker.
    pub(super) fn go_on_alone(&mut self, sequencer: &mut Sequencer<'_>) -> Result<(), MeasureError> {
        for _ in 0..ALONE {
            let window = self.conduct(sequencer)?;
            self.alone.extend(window);
        }
        Ok(())
    }

    /// Conducts a null window; nothing where there is no null worker any more.
    fn conduct(&mut self, sequencer: &mut Sequencer<'_>) -> Result<Option<WindowEvidence>, MeasureError> {
        let Some(process) = self.worker.as_mut().and_then(|worker| worker.process()) else {
            return Ok(None);
        };
        let before = self.begun;
        self.begun += 1;
        match sequencer.conduct_null(process, before)? {
            WindowOutcome::Ended(evidence) => match fault_of(&evidence) {
                None => return Ok(Some(evidence)),
                Some(fault) => self.give_up(format!("the null worker's device faulted: {fault}")),
            },
            WindowOutcome::Lost(_, ending) => self.give_up(ended(&ending)),
        }
        Ok(None)
    }

    /// Has the null worker let go of the case's buffers.
    ///
    /// # Errors
    /// When the user interrupts.
    pub(super) fn hand_back(&mut self, protocol: &Protocol<'_>) -> Result<(), MeasureError> {
        let Some(worker) = &mut self.worker else { return Ok(()) };
        let handed_back = worker.hand_back(protocol.within, protocol.interrupt);
        self.shortest_claim_ns = handed_back.map_err(|_| MeasureError::Interrupted)?;
        Ok(())
    }

    fn give_up(&mut self, why: String) {
        if let Some(worker) = self.worker.take() {
            worker.retire();
        }
        self.loss = Some(why);
    }
}

fn fault_of(evidence: &WindowEvidence) -> Option<String> {
    let claim = evidence.claim.as_deref()?;
    (claim.fault != FaultCode::None).then(|| claim.text.printable())
}

fn in_words(failure: &RoleFailure) -> String {
    format!(
        "the null worker could not be set up: {}",
        gpubench_diagnostic::chain(failure)
    )
}

fn ended(ending: &Ending) -> String {
    match ending {
        Ending::Stopped => "the null worker stopped".to_owned(),
        Ending::WorkerEnded { end, .. } => format!("the null worker {end}"),
        Ending::TimedOut { within } => format!(
            "a null window was not done within {}",
            humantime::format_duration(*within)
        ),
        Ending::Refused { why } => format!("the device refuses the null worker: {why}"),
        Ending::SetUpFailed { message } => format!("the null worker could not be set up: {message}"),
        Ending::BrokeProtocol { what } => format!("the null worker broke the protocol: {what}"),
    }
}
