//! The control worker in a case: it runs the control windows of host code, which could meddle with its
//! own.

use std::os::fd::AsFd;

use super::error::MeasureError;
use super::protocol::Protocol;
use super::sequence::{Sequencer, WindowOutcome};
use crate::clients::{ControlWorker, OpenedCase, RoleFailure};
use crate::verdict::{Ending, WindowEvidence};
use gpubench_device::FaultCode;
use gpubench_protocol::window::WindowOwner;

/// The control worker, as long as it is there, or why it is not.
#[derive(Debug)]
pub(super) struct ControlLease<'a> {
    worker: Option<&'a mut ControlWorker>,
    /// What two events with nothing between them are apart at least in it, in nanoseconds; known
    /// once it has handed the case back.
    pub(super) shortest_claim_ns: Option<f64>,
    /// Workers of another side that live meanwhile, beside the one under test.
    pub(super) rivals: usize,
    /// Why there are no more control windows, where the worker failed.
    pub(super) loss: Option<String>,
}

impl<'a> ControlLease<'a> {
    /// Hands the case's buffers to the control worker, where the case has one.
    pub(super) fn set_up(worker: &'a mut ControlWorker, opened: &OpenedCase, recording: &[u8]) -> ControlLease<'a> {
        let mut lease = ControlLease {
            worker: None,
            shortest_claim_ns: None,
            rivals: usize::from(opened.page_of(WindowOwner::Baseline).is_some()),
            loss: None,
        };
        if let Some(page) = opened.page_of(WindowOwner::Control) {
            match worker.set_up(opened, page.as_fd(), recording) {
                Ok(()) => lease.worker = Some(worker),
                Err(failure) => lease.loss = Some(in_words(&failure)),
            }
        }
        lease
    }

    /// Waits until the control worker has the buffers.
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

    /// Whether there can be more control windows.
    pub(super) fn is_there(&self) -> bool {
        self.worker.is_some()
    }

    /// Conducts the control window that `before` others came before; nothing where there is no null
    /// worker any more.
    ///
    /// # Errors
    /// When it fails for no fault of the control worker.
    pub(super) fn conduct(
        &mut self,
        sequencer: &mut Sequencer<'_>,
        before: usize,
    ) -> Result<Option<WindowEvidence>, MeasureError> {
        let Some(process) = self.worker.as_mut().and_then(|worker| worker.process()) else {
            return Ok(None);
        };
        match sequencer.conduct_control(process, WindowOwner::Control, before)? {
            WindowOutcome::Ended(evidence) => match fault_of(&evidence) {
                None => return Ok(Some(evidence)),
                Some(fault) => self.give_up(format!("the control worker's device faulted: {fault}")),
            },
            WindowOutcome::Lost(_, ending) => self.give_up(ended(&ending)),
        }
        Ok(None)
    }

    /// Has the control worker let go of the case's buffers.
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

/// What the device of a control window's worker complained of.
pub(super) fn fault_of(evidence: &WindowEvidence) -> Option<String> {
    let claim = evidence.claim.as_deref()?;
    (claim.fault != FaultCode::None).then(|| claim.text.printable())
}

fn in_words(failure: &RoleFailure) -> String {
    format!(
        "the control worker could not be set up: {}",
        gpubench_diagnostic::chain(failure)
    )
}

fn ended(ending: &Ending) -> String {
    match ending {
        Ending::Stopped => "the control worker stopped".to_owned(),
        Ending::WorkerEnded { end, .. } => format!("the control worker {end}"),
        Ending::TimedOut { within } => format!(
            "a control window was not done within {}",
            humantime::format_duration(*within)
        ),
        Ending::Refused { why } => format!("the device refuses the control worker: {why}"),
        Ending::SetUpFailed { message } => format!("the control worker could not be set up: {message}"),
        Ending::BrokeProtocol { what } => format!("the control worker broke the protocol: {what}"),
    }
}
