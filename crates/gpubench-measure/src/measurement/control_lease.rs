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

    /// Makes the control worker map the memory in which a case's buffers lie now.
    ///
    /// # Errors
    /// If the user interrupts.
    pub(super) fn follow(&mut self, opened: &OpenedCase, protocol: &Protocol<'_>) -> Result<(), MeasureError> {
        let Some(process) = self.worker.as_mut().and_then(|worker| worker.process()) else {
            return Ok(());
        };
        let (_, buffers) = opened.at(&opened.allocations.tensors());
        match process.replace_memory(&buffers, protocol.within, protocol.interrupt) {
            Ok(()) => Ok(()),
            Err(RoleFailure::Interrupted) => Err(MeasureError::Interrupted),
            Err(failure) => {
                self.abandon(format!(
                    "the control worker could not map new memory: {}",
                    gpubench_diagnostic::chain(&failure)
                ));
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
impl<'a> ControlLease<'a> {
    /// The lease of a control worker that a test simulates, without rivals.
    pub(super) fn of(worker: &'a mut ControlWorker) -> ControlLease<'a> {
        ControlLease {
            worker: Some(worker),
            ..ControlLease::absent()
        }
    }

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

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::super::simulated_case::{Stage, claim, fault, with_right_referee, worker};
    use super::*;
    use crate::clients::{Child, Interrupt, RoleName, WorkerClient};
    use gpubench_contract::Mode;
    use gpubench_device::DeviceOrder;
    use gpubench_protocol::window::{Allocations, WindowCalls};
    use gpubench_protocol::wire::{Claim, WindowOrder};

    #[test]
    fn a_control_worker_whose_device_faults_is_given_up() {
        fn right(order: &WindowOrder) -> Claim {
            claim(order, 1e3)
        }
        let stage = Stage::of(1);
        let (protocol, case) = (stage.protocol(), stage.case());
        for (claims, is_kept) in [(right as fn(&WindowOrder) -> Claim, true), (fault, false)] {
            let mut control = ControlWorker::simulated(worker(claims));
            with_right_referee(&protocol, &case, |context| {
                let mut lease = ControlLease::of(&mut control);
                let window = lease.run_window(&mut context.sequencer, WindowKind::Control, WindowOwner::arm(0), 0);
                assert_eq!((window.unwrap().is_some(), lease.is_there()), (is_kept, is_kept));
                assert_eq!(lease.loss.is_some(), !is_kept, "{:?}", lease.loss);
            });
            assert_eq!(control.process().is_some(), is_kept);
        }
    }

    #[test]
    fn a_control_worker_that_is_not_ready_is_lost_unless_the_user_interrupted() {
        let stage = Stage::of(1);
        let cancelled = Interrupt::default();
        cancelled.cancel();
        for is_cancelled in [false, true] {
            let mut protocol = stage.protocol();
            if is_cancelled {
                protocol.interrupt = &cancelled;
            }
            // The other end is closed at once.
            let (child, _) = Child::simulated(RoleName::Worker);
            let mut control = ControlWorker::simulated(WorkerClient::simulated(child));
            let mut lease = ControlLease::of(&mut control);
            let ready = lease.ready(&protocol);
            assert_eq!(
                matches!(ready, Err(MeasureError::Interrupted)),
                is_cancelled,
                "{ready:?}"
            );
            assert_eq!((ready.is_ok(), lease.loss.is_some()), (!is_cancelled, !is_cancelled));
        }
    }

    #[test]
    fn the_rivals_of_a_case_are_all_sides_but_its_own() {
        for sides in 1..4 {
            let opened = OpenedCase {
                calls: WindowCalls {
                    mode: Mode::Cold,
                    count: NonZeroU32::MIN,
                },
                allocations: Allocations::new(&[], NonZeroU32::MIN, std::iter::repeat_n(0, sides)),
                layouts: Vec::new(),
                buffers: Vec::new(),
                pages: Vec::new().into(),
                author_descriptors: Vec::new(),
            };
            let mut control = ControlWorker::on(DeviceOrder::cpu(1, 0));
            let lease = ControlLease::set_up(&mut control, &opened, &[]);
            assert_eq!(
                (lease.rivals, lease.is_there(), lease.loss.is_none()),
                (sides - 1, false, true)
            );
        }
    }
}
