//! The control worker as the broker sees it: a worker that runs nothing but this tool's own code, for
//! all cases of a run.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use super::{Interrupt, OpenedCase, Output, RoleFailure, WorkerClient, WorkerLaunch};
use gpubench_device::DeviceOrder;
use gpubench_protocol::wire::to_worker;

/// The control worker of a run. Its process is started for the first case that needs it, is given
/// every case's buffers anew, and is replaced when it fails.
#[derive(Debug)]
pub struct ControlWorker {
    device: DeviceOrder,
    process: Option<WorkerClient>,
}

impl ControlWorker {
    /// A control worker whose process is yet to be started.
    pub fn on(device: DeviceOrder) -> ControlWorker {
        ControlWorker { device, process: None }
    }

    /// Sends the buffers of a case, with a page of its own; [`ControlWorker::ready`] hears of the end.
    ///
    /// # Errors
    /// When the process cannot be started or is gone.
    pub fn set_up(&mut self, opened: &OpenedCase, page: BorrowedFd<'_>, recording: &[u8]) -> Result<(), RoleFailure> {
        let buffers: Vec<_> = opened.buffers.iter().map(AsFd::as_fd).collect();
        let launch = WorkerLaunch {
            device: self.device,
            method: opened.method,
            layouts: &opened.layouts,
            modules: &[],
            annotation: None,
            recording,
            hosted: None,
            page,
            buffers: &buffers,
        };
        // One that ended between two cases is no failure of this one.
        if let Some(mut process) = self.process.take()
            && process.set_up(to_worker::SETUP_NULL, &launch).is_ok()
        {
            self.process = Some(process);
            return Ok(());
        }
        let mut process = WorkerClient::idle(Output::Captured)?;
        process.set_up(to_worker::SETUP_NULL, &launch)?;
        self.process = Some(process);
        Ok(())
    }

    /// Waits until it has taken the buffers.
    ///
    /// # Errors
    /// When it cannot; its process is given up then.
    pub fn ready(&mut self, within: Duration, interrupt: &Interrupt) -> Result<&mut WorkerClient, RoleFailure> {
        let mut process = self.process.take().expect("it was set up");
        process.ready(within, interrupt)?;
        Ok(self.process.insert(process))
    }

    /// The process, where there is one.
    pub fn process(&mut self) -> Option<&mut WorkerClient> {
        self.process.as_mut()
    }

    /// Has it let go of the case's buffers, so that none of them outlives the case; a process that
    /// does not is given up. How far apart two events with nothing between them were in it at
    /// least, in nanoseconds, where it said so.
    ///
    /// # Errors
    /// When the user interrupts.
    pub fn hand_back(&mut self, within: Duration, interrupt: &Interrupt) -> Result<Option<f64>, RoleFailure> {
        let Some(process) = &mut self.process else {
            return Ok(None);
        };
        match process.hand_back(within, interrupt) {
            Ok(shortest_ns) => Ok(Some(shortest_ns)),
            // With the process, the buffers are gone as well.
            Err(failure) => {
                self.retire();
                match failure {
                    RoleFailure::Interrupted => Err(failure),
                    _ => Ok(None),
                }
            }
        }
    }

    /// Gives the process up: the next case gets a new one.
    pub fn retire(&mut self) {
        self.process = None;
    }
}
