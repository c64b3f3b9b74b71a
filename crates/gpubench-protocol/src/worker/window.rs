//! The worker's part of a window.

use std::time::Instant;

use super::WorkerError;
use super::case::{Assignment, OpenDevice, Worker};
use super::stopwatch::Stopwatch;
use crate::wire::{Claim, FaultPlace, FixedText, UNKNOWN_STEP, WindowOrder};
use gpubench_device::{DeviceError, DevicePtr, Driver, Fault, FaultCode, HostFailure};

/// The result of queueing a window.
pub(super) enum Armed {
    /// The whole window is queued. `host_ns` is the host time for queueing the call.
    Queued { stopwatch: Stopwatch, host_ns: f64 },
    /// The user's host code failed. The worker does not wait for the work that it queued.
    Failed(HostFailure),
}

impl Worker {
    /// Queues a window that waits for *go*.
    pub(super) fn arm(&mut self, order: &WindowOrder) -> Result<Armed, WorkerError> {
        let (case, device) = (&self.assignment, &mut self.device);
        let (driver, harness, stream) = (&mut *device.driver, &device.harness, device.stream);
        let stopwatch = device.events.of(order.kind);
        let on_device = case.on_device.in_window(order.window);
        driver.wait_value(stream, DevicePtr(on_device.go()), order.window)?;
        let queue = |driver: &mut dyn Driver, calls: u32| {
            (0..calls).try_for_each(|_| case.queue(order.kind, driver, harness, stream))
        };
        let queued = queue(driver, order.settling).and_then(|()| {
            stopwatch.arm(driver, stream)?;
            let queued_from = Instant::now();
            queue(driver, order.switch_after)?;
            if order.switch_after > 0 {
                driver.write_value(stream, DevicePtr(on_device.halted()), order.window)?;
                driver.wait_value(stream, DevicePtr(on_device.resumed()), order.window)?;
            }
            queue(driver, order.repeats.get())?;
            let host_ns = queued_from.elapsed().as_nanos() as f64;
            stopwatch.disarm(driver, stream)?;
            Ok(host_ns)
        });
        let host_ns = match queued {
            Ok(host_ns) => host_ns,
            Err(DeviceError::Host(failure)) => return Ok(Armed::Failed(failure)),
            Err(error) => return Err(WorkerError::Plan(error)),
        };
        case.finish_window(order, driver, harness, stream)?;
        Ok(Armed::Queued { stopwatch, host_ns })
    }

    /// Releases the queued work of a window. Otherwise it would wait for *go* forever, and the
    /// device could not be closed.
    pub(super) fn release(&mut self, order: &WindowOrder) {
        let on_host = self.assignment.page.on_host().in_window(order.window);
        for word in [on_host.go(), on_host.resumed()] {
            self.device.driver.store_value(word, order.window);
        }
    }

    /// Waits for the window's work and returns the claim.
    pub(super) fn finish(&mut self, order: &WindowOrder, armed: Armed) -> Result<Claim, WorkerError> {
        let empty = Claim::empty(order.window);
        let (stopwatch, host_ns) = match armed {
            Armed::Queued { stopwatch, host_ns } => (stopwatch, host_ns),
            Armed::Failed(failure) => {
                self.release(order);
                return Ok(host_claim(empty, &failure));
            }
        };
        let claim = Claim { host_ns, ..empty };
        let OpenDevice { driver, stream, .. } = &mut self.device;
        match driver.synchronize(*stream) {
            Ok(()) => {
                let claim = stopwatch.read(&mut **driver, claim)?;
                Ok(self.assignment.call.read_parts(order.kind, &mut **driver, claim)?)
            }
            Err(DeviceError::Fault(fault)) => Ok(self.fault_claim(claim, &fault)),
            Err(DeviceError::Host(failure)) => Ok(host_claim(claim, &failure)),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn fault_claim(&self, claim: Claim, fault: &Fault) -> Claim {
        let Assignment { call, buffers, .. } = &self.assignment;
        let launch = call.faulting_launch(fault);
        let place = match (fault.block, fault.thread) {
            (Some(_), Some(_)) => FaultPlace::Thread,
            (Some(_), None) => FaultPlace::Block,
            (None, _) => FaultPlace::Unknown,
        };
        Claim {
            fault: buffers.code_of(fault),
            step: launch.map_or(UNKNOWN_STEP, |(position, _)| position),
            block: fault.block.unwrap_or_default(),
            thread: fault.thread.unwrap_or_default(),
            place,
            text: FixedText::new(&buffers.describe(fault, launch.map(|(_, kernel)| kernel))),
            ..claim
        }
    }
}

pub(super) fn host_claim(claim: Claim, failure: &HostFailure) -> Claim {
    let code = match failure {
        HostFailure::Returned(_) | HostFailure::Panicked(_) => FaultCode::HostCallFailed,
        HostFailure::ForeignContext => FaultCode::ForeignContext,
    };
    Claim {
        fault: code,
        text: FixedText::new(&failure.to_string()),
        ..claim
    }
}
