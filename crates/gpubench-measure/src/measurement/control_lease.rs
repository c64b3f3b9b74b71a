//! The use of the control worker by one case. It runs the control windows of hosted cases, because
//! host code could manipulate control windows in its own process.

use std::os::fd::AsFd;

use super::error::MeasureError;
use super::protocol::Protocol;
use super::sequence::{Sequencer, WindowOutcome, WindowUser};
use crate::clients::{ControlWorker, OpenedCase, RoleFailure};
use crate::verdict::{Ending, WindowEvidence};
use gpubench_device::FaultCode;
use gpubench_protocol::window::{WindowKind, WindowOwner};

/// The control worker while it lives, or the reason why it is gone.
#[derive(Debug)]
pub(super) struct ControlLease<'a> {
    worker: Option<&'a mut ControlWorker>,
    /// Shortest time between two events with nothing between them in the control worker, in
    /// nanoseconds. Known after [`ControlLease::hand_back`].
    pub(super) shortest_claim_ns: Option<f64>,
    /// Number of other workers under test that live at the same time.
    pub(super) rivals: usize,
    /// Why there are no more control windows, if the worker failed.
    pub(super) loss: Option<String>,
}

impl<'a> ControlLease<'a> {
    /// Sends the case's buffers to the control worker, if the case has one.
    pub(super) fn set_up(worker: &'a mut ControlWorker, opened: &OpenedCase, recording: &[u8]) -> ControlLease<'a> {
        let mut lease = ControlLease {
            worker: None,
            shortest_claim_ns: None,
            rivals: opened.workers() - 1,
            loss: None,
        };
        if let Some(page) = opened.page_of(WindowOwner::CONTROL) {
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
    /// If the user interrupts.
    pub(super) fn ready(&mut self, protocol: &Protocol<'_>) -> Result<(), MeasureError> {
        let Some(worker) = &mut self.worker else { return Ok(()) };
        match worker.ready(protocol.within, protocol.interrupt) {
            Ok(_) => Ok(()),
            Err(RoleFailure::Interrupted) => Err(MeasureError::Interrupted),
            Err(failure) => {
                self.abandon(in_words(&failure));
                Ok(())
            }
        }
    }

    /// Whether more control windows are possible.
    pub(super) fn is_there(&self) -> bool {
        self.worker.is_some()
    }

    /// Runs a control window or an empty one on the tensors of `side`; `before` is the number of
    /// earlier ones. Returns `None` if there is no control worker any more.
    ///
    /// # Errors
    /// If anything but the control worker fails.
    pub(super) fn run_window(
        &mut self,
        sequencer: &mut Sequencer<'_>,
        kind: WindowKind,
        side: WindowOwner,
        before: usize,
    ) -> Result<Option<WindowEvidence>, MeasureError> {
        let Some(process) = self.worker.as_mut().and_then(|worker| worker.process()) else {
            return Ok(None);
        };
        let user = WindowUser::control_worker_for(side);
        match sequencer.run_control_window(process, user, kind, before)? {
            WindowOutcome::Ended(evidence) => match fault_of(&evidence) {
                None => return Ok(Some(evidence)),
                Some(fault) => self.abandon(format!("the control worker's device reported a fault: {fault}")),
            },
            WindowOutcome::Lost(_, ending) => self.abandon(ended(&ending)),
        }
        Ok(None)
    }

    /// Makes the control worker release the case's buffers.
    ///
    /// # Errors
    /// If the user interrupts.
    pub(super) fn hand_back(&mut self, protocol: &Protocol<'_>) -> Result<(), MeasureError> {
        let Some(worker) = &mut self.worker else { return Ok(()) };
        let handed_back = worker.hand_back(protocol.within, protocol.interrupt);
        self.shortest_claim_ns = handed_back.map_err(|_| MeasureError::Interrupted)?;
        Ok(())
    }

    fn abandon(&mut self, why: String) {
        if let Some(worker) = self.worker.take() {
            worker.retire();
        }
        self.loss = Some(why);
    }
}

#[cfg(test)]
impl ControlLease<'_> {
    /// The lease of a case without control worker and rivals.
    pub(super) fn absent() -> ControlLease<'static> {
        ControlLease {
            worker: None,
            shortest_claim_ns: None,
            rivals: 0,
            loss: None,
        }
    }
}

/// Returns the fault in a control window, if the device reported one.
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
            "a control window did not finish within {}",
            humantime::format_duration(*within)
        ),
        Ending::Refused { why } => format!("the device rejected the control worker: {why}"),
        Ending::SetUpFailed { message } => format!("the control worker could not be set up: {message}"),
        Ending::BrokeProtocol { what } => format!("the control worker broke the protocol: {what}"),
    }
}
