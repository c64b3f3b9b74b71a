//! The sequence of one window: who does what, in which order, and who is waited for.

use std::time::{Duration, Instant};

use super::error::MeasureError;
use super::protocol::Protocol;
use crate::clients::{
    AuthorClient, ChannelEvent, OWN_WORK, Preparation, RefereeClient, RoleFailure, RoleName, WorkerClient, deadline,
    listen,
};
use crate::verdict::{Ending, WindowEvidence};
use gpubench_device::{FaultCode, KernelHost};
use gpubench_protocol::window::{CodePlacement, WindowKind, WindowOwner};
use gpubench_protocol::wire::{Claim, Generate, WindowOrder};

/// Beyond the broker's own deadline, so that the broker is the one to give a window up.
const REFEREE_MARGIN: Duration = Duration::from_secs(60);

/// How long the referee may take to give a window up whose worker was lost. The looks at it are
/// carried out, and nobody reads them.
const AFTER_LOSS: Duration = Duration::from_secs(10);

/// Filling inputs with the tool's own kernels never takes so long.
const PREPARATION: Duration = Duration::from_secs(120);

/// Leads the roles of a case through its windows.
#[derive(Debug)]
pub(super) struct Sequencer<'a> {
    /// Generates, lets go, checks.
    pub(super) referee: &'a mut RefereeClient,
    /// Generates and computes references where that is its duty; the case is attached to it then.
    pub(super) author: &'a mut AuthorClient,
    /// Who makes the inputs and computes the references.
    pub(super) placement: CodePlacement<'a>,
    /// How long the roles may take.
    pub(super) protocol: &'a Protocol<'a>,
    /// The author's last order to make inputs; nothing before the first.
    pub(super) last_inputs: Option<Generate>,
}

/// How a window went.
#[derive(Debug)]
pub(super) enum WindowOutcome {
    /// To its end; its evidence may still show a fault.
    Ended(WindowEvidence),
    /// The worker is lost; there is evidence if the window had been released.
    Lost(Option<WindowEvidence>, Ending),
}

/// What a worker has said of its window, or how it was lost before it said anything.
type ClaimResult = Result<Box<Claim>, Ending>;

impl Sequencer<'_> {
    /// Conducts one window of a worker on a seat.
    ///
    /// # Errors
    /// When it fails for no fault of the worker.
    pub(super) fn conduct(
        &mut self,
        worker: &mut WorkerClient,
        owner: WindowOwner,
        window: u32,
        kind: WindowKind,
    ) -> Result<WindowOutcome, MeasureError> {
        if self.placement.referee_prepares_alone() {
            self.prepare_with_answers(window)?;
        } else {
            self.prepare(window)?;
            self.compute_answers(window)?;
        }
        self.release(worker, owner, window, kind)
    }

    /// Conducts a control window of the worker on a seat: as any other from the referee's restoring
    /// on. Nothing is generated for it, and no other worker is armed meanwhile: a stream of its own
    /// that waits would be one more thing that could go on when it should not. Where the author
    /// works in every other window, it does the work of the last one again: a device that has
    /// waited for it begins later, by 40 µs after a reference of a tenth of a second on an H200.
    ///
    /// # Errors
    /// When it fails for no fault of the worker.
    pub(super) fn conduct_control(
        &mut self,
        worker: &mut WorkerClient,
        owner: WindowOwner,
        before: usize,
    ) -> Result<WindowOutcome, MeasureError> {
        if let Some(order) = self.last_inputs {
            self.generate(&order)?;
        }
        if self.placement.reference() == KernelHost::Author {
            self.compute_answers(WindowKind::control_window(before))?;
        }
        let number = WindowKind::control_window(before);
        self.release(worker, owner, number, WindowKind::Control)
    }

    fn release(
        &mut self,
        worker: &mut WorkerClient,
        owner: WindowOwner,
        window: u32,
        kind: WindowKind,
    ) -> Result<WindowOutcome, MeasureError> {
        let patience = self.protocol.within.saturating_add(REFEREE_MARGIN);
        let patience_ns = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        let order = WindowOrder {
            patience_ns,
            owner,
            ..WindowOrder::about(window, kind)
        };
        if let Err(failure) = worker.arm(&order, self.protocol.within, self.protocol.interrupt) {
            return Ok(WindowOutcome::Lost(None, ending_of(failure)?));
        }
        self.referee.release(&order).map_err(MeasureError::referee)?;
        self.attend(worker, window)
    }

    /// Makes the inputs of a window; for window 0 the instance that the first window's decoys are
    /// taken from, and the constants of the case.
    ///
    /// # Errors
    /// When a generator or the referee fails.
    pub(super) fn prepare(&mut self, window: u32) -> Result<(), MeasureError> {
        let (within, failed): (_, fn(RoleFailure) -> MeasureError) = match self.placement.referee_generates() {
            true => (self.protocol.reference_within, |failure| {
                MeasureError::kernels(MeasureError::Generator)(failure)
            }),
            false => (PREPARATION, MeasureError::referee),
        };
        let order = self
            .referee
            .prepare(Preparation::Inputs, window, within, self.protocol.interrupt)
            .map_err(failed)?;
        if !self.placement.author_generates() {
            return Ok(());
        }
        self.last_inputs = Some(order);
        self.generate(&order)
    }

    fn generate(&mut self, order: &Generate) -> Result<(), MeasureError> {
        self.author
            .generate(order, self.protocol.interrupt)
            .map_err(MeasureError::own_code(MeasureError::Generator))
    }

    /// Has inputs and answers made where the referee has both to itself.
    fn prepare_with_answers(&mut self, window: u32) -> Result<(), MeasureError> {
        let (within, interrupt) = (self.protocol.reference_within, self.protocol.interrupt);
        let preparation = Preparation::InputsAndAnswers;
        let prepared = self.referee.prepare(preparation, window, within, interrupt);
        // The tool's own kernels never take so long.
        prepared
            .map(drop)
            .map_err(MeasureError::kernels(MeasureError::Reference))
    }

    /// Has the reference computed, by the author or by the referee.
    fn compute_answers(&mut self, window: u32) -> Result<(), MeasureError> {
        match self.placement.reference() {
            KernelHost::Author => self
                .author
                .reference(self.protocol.interrupt)
                .map_err(MeasureError::own_code(MeasureError::Reference)),
            KernelHost::Referee => self
                .referee
                .reference(window, self.protocol.reference_within, self.protocol.interrupt)
                .map_err(MeasureError::kernels(MeasureError::Reference)),
        }
    }

    /// Waits for the referee's facts and the worker's claim, in whichever order they come.
    fn attend(&mut self, worker: &mut WorkerClient, window: u32) -> Result<WindowOutcome, MeasureError> {
        let deadline = deadline(self.protocol.within);
        let mut said: Option<ClaimResult> = None;
        loop {
            match self.listen(worker, said.as_ref(), deadline)? {
                ChannelEvent::Interrupted => return Err(MeasureError::Interrupted),
                ChannelEvent::Channel(0) => break,
                ChannelEvent::Channel(_) => said = Some(self.hear(worker, window)?),
                ChannelEvent::Deadline => {
                    said = Some(self.time_is_up(worker, said)?);
                    break;
                }
            }
        }
        let within = match &said {
            Some(Err(_)) => AFTER_LOSS,
            _ => OWN_WORK,
        };
        let facts = self.referee.window_facts(within, self.protocol.interrupt);
        let facts = facts.map_err(MeasureError::referee)?;
        let said = match said {
            Some(said) => said,
            None => self.claim(worker, window)?,
        };
        Ok(match said {
            Ok(claim) => WindowOutcome::Ended(WindowEvidence {
                facts,
                claim: Some(claim),
            }),
            Err(ending) => WindowOutcome::Lost(Some(WindowEvidence { facts, claim: None }), ending),
        })
    }

    /// The referee is heard until its facts come, the worker until it has said something.
    fn listen(
        &mut self,
        worker: &mut WorkerClient,
        said: Option<&ClaimResult>,
        deadline: Instant,
    ) -> Result<ChannelEvent, MeasureError> {
        let both = [self.referee.child().channel(), worker.child().channel()];
        let channels = if said.is_none() { &both[..] } else { &both[..1] };
        listen(channels, deadline, self.protocol.interrupt).map_err(|error| {
            MeasureError::Referee(RoleFailure::protocol(
                RoleName::Referee,
                gpubench_diagnostic::chain(&error),
            ))
        })
    }

    /// What the worker claims of a window, or how it was lost.
    fn claim(&mut self, worker: &mut WorkerClient, window: u32) -> Result<ClaimResult, MeasureError> {
        let Protocol { within, interrupt, .. } = *self.protocol;
        match worker.claim(window, within, interrupt) {
            Ok(claim) => Ok(Ok(claim)),
            Err(failure) => Ok(Err(ending_of(failure)?)),
        }
    }

    /// Takes what the worker says.
    fn hear(&mut self, worker: &mut WorkerClient, window: u32) -> Result<ClaimResult, MeasureError> {
        let said = self.claim(worker, window)?;
        match &said {
            // After a fault the device does nothing more: *done* will not come.
            Ok(claim) if claim.fault != FaultCode::None => self.abort()?,
            Ok(_) => {}
            Err(_) => self.give_up(worker)?,
        }
        Ok(said)
    }

    /// The window has had its time.
    fn time_is_up(
        &mut self,
        worker: &mut WorkerClient,
        said: Option<ClaimResult>,
    ) -> Result<ClaimResult, MeasureError> {
        let within = self.protocol.within;
        match said {
            // The call has ended, and only the checks take their time; or *done* will never come,
            // and the referee is not to wait for it.
            Some(Ok(claim)) => {
                self.abort()?;
                Ok(Ok(claim))
            }
            lost => {
                self.give_up(worker)?;
                Ok(lost.unwrap_or(Err(Ending::TimedOut { within })))
            }
        }
    }

    fn give_up(&mut self, worker: &mut WorkerClient) -> Result<(), MeasureError> {
        worker.child().kill();
        self.abort()
    }

    fn abort(&mut self) -> Result<(), MeasureError> {
        self.referee.abort().map_err(MeasureError::referee)
    }

    /// Has author and referee let go of the case's buffers.
    ///
    /// # Errors
    /// When one of them fails.
    pub(super) fn let_go(self) -> Result<(), MeasureError> {
        let interrupt = self.protocol.interrupt;
        if self.placement.needs_author() {
            self.author.detach(interrupt).map_err(MeasureError::Attach)?;
        }
        self.referee.close_case(interrupt).map_err(MeasureError::Open)
    }
}

/// What a failure of the worker means for its case.
fn ending_of(failure: RoleFailure) -> Result<Ending, MeasureError> {
    Ok(match failure {
        RoleFailure::Interrupted => return Err(MeasureError::Interrupted),
        RoleFailure::Ended { end, log, .. } => Ending::WorkerEnded { end, log },
        RoleFailure::Silent { within, .. } => Ending::TimedOut { within },
        RoleFailure::Plan { text } | RoleFailure::Failed { text, .. } | RoleFailure::OutOfMemory { text, .. } => {
            Ending::Refused { why: text }
        }
        other => Ending::BrokeProtocol {
            what: gpubench_diagnostic::chain(&other),
        },
    })
}

#[cfg(test)]
mod tests;
