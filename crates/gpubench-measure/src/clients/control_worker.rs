//! The broker's handle of the control worker. It runs only the tool's own code, for all cases of a
//! run.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use super::{Interrupt, MetricRequest, OpenedCase, Output, RoleFailure, SharedMemory, WorkerClient, WorkerLaunch};
use gpubench_device::{CounterHold, DeviceOrder};
use gpubench_protocol::wire::to_worker;

/// The control worker of a run. Its process starts with the first case that needs it, receives new
/// buffers for each case, and is replaced if it fails.
#[derive(Debug)]
pub struct ControlWorker {
    device: DeviceOrder,
    process: Option<WorkerClient>,
}

impl ControlWorker {
    /// Returns a control worker whose process has not started yet.
    pub fn on(device: DeviceOrder) -> ControlWorker {
        ControlWorker { device, process: None }
    }

    /// Sends the tensors of all sides and the page of a case. [`ControlWorker::ready`] waits for
    /// the set-up.
    ///
    /// # Errors
    /// If the process cannot be started or has ended.
    pub fn set_up(&mut self, opened: &OpenedCase, page: BorrowedFd<'_>, recording: &[u8]) -> Result<(), RoleFailure> {
        let (layouts, buffers) = opened.at(&opened.allocations.tensors());
        let launch = WorkerLaunch {
            observed_by: None,
            device: self.device,
            calls: opened.calls,
            metric: MetricRequest::default(),
            hold: CounterHold::default(),
            modules: &[],
            annotation: None,
            recording,
            hosted: None,
            memory: SharedMemory {
                page,
                buffers: &buffers,
                layouts: &layouts,
                sides: opened.workers(),
            },
        };
        // A process that ended between two cases is replaced.
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

    /// Waits until the process has the buffers.
    ///
    /// # Errors
    /// If its set-up fails; the process then ends.
    pub fn ready(&mut self, within: Duration, interrupt: &Interrupt) -> Result<&mut WorkerClient, RoleFailure> {
        let mut process = self.process.take().expect("it was set up");
        process.ready(within, interrupt)?;
        Ok(self.process.insert(process))
    }

    /// Returns the process, if there is one.
    pub fn process(&mut self) -> Option<&mut WorkerClient> {
        self.process.as_mut()
    }

    /// Makes the process release the case's buffers, and ends it if it does not. Returns the
    /// shortest time between two events with nothing between them in this process, in nanoseconds,
    /// if it reported one.
    ///
    /// # Errors
    /// If the user interrupts.
    pub fn hand_back(&mut self, within: Duration, interrupt: &Interrupt) -> Result<Option<f64>, RoleFailure> {
        let Some(process) = &mut self.process else {
            return Ok(None);
        };
        match process.hand_back(within, interrupt) {
            Ok(shortest_ns) => Ok(Some(shortest_ns)),
            // The end of the process releases the buffers too.
            Err(failure) => {
                self.retire();
                match failure {
                    RoleFailure::Interrupted => Err(failure),
                    _ => Ok(None),
                }
            }
        }
    }

    /// Ends the process. The next case starts a new one.
    pub fn retire(&mut self) {
        self.process = None;
    }
}

#[cfg(test)]
impl ControlWorker {
    /// A control worker whose process a test simulates.
    pub(crate) fn simulated(process: WorkerClient) -> ControlWorker {
        ControlWorker {
            process: Some(process),
            ..ControlWorker::on(DeviceOrder::cpu(1, 0))
        }
    }
}
