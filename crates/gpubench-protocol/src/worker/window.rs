//! The worker's part of a window.

use std::time::{Duration, Instant};

use super::WorkerError;
use super::case::{Assignment, OpenDevice, Worker};
use super::gate_guard::{Queueing, open_if_stuck};
use super::hosted::await_call;
use super::stopwatch::Stopwatch;
use crate::window::{GRAPHS, Gate, WindowContent, WindowKind};
use crate::wire::{
    Channel, ChannelError, Claim, DeviceWork, FaultPlace, FixedText, Observer, UNKNOWN_STEP, WindowOrder,
};
use gpubench_device::{DeviceError, DevicePtr, Fault, FaultCode, Graph, HostFailure};

/// How long the host waits for *go* between two looks at the connection.
const LOOK: Duration = Duration::from_millis(2);

/// Why a call cannot be held.
const STUCK: &str =
    "while the call waits, the driver queues nothing after it (hint: a copy to pageable memory waits like this)";

/// The result of arming a window.
pub(super) enum Armed {
    /// Nothing is queued yet: the host waits for *go*, because the call may wait for the device. An
    /// observer may also hold the host until a launch has run, which it never would before *go*.
    Held,
    /// The window is queued.
    Queued(Queued),
}

/// The result of queueing a window.
pub(super) enum Queued {
    /// The whole window is queued. `host_ns` is the host time for queueing the call.
    Whole {
        stopwatch: Stopwatch,
        host_ns: f64,
        /// The graph of repeated calls, if there is one.
        bundle: Option<Graph>,
        /// What the device did, if it was recorded.
        work: DeviceWork,
        call: CallState,
    },
    /// The user's host code failed. The worker does not wait for the work that it queued.
    Failed(HostFailure),
    /// The call faulted while it was queued after *go*.
    Faulted(Fault),
}

/// Whether the host code of a call still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallState {
    Returned,
    /// It waits for the device.
    Waits,
}

impl Worker {
    /// Queues a window that waits for *go*, unless the call or an observer might wait for its end.
    pub(super) fn arm(&mut self, order: &WindowOrder) -> Result<Armed, WorkerError> {
        match (order.gate, self.assignment.observer) {
            (Gate::Stream, Observer::None) if self.holds_call_of(order) => {
                Ok(Armed::Queued(self.queue_around_call(order)?))
            }
            (Gate::Stream, Observer::None) => Ok(Armed::Queued(self.queue(order)?)),
            (Gate::Stream, Observer::Sanitizer | Observer::Profiler | Observer::Debugger) => Ok(Armed::Held),
            (Gate::Host, _) => {
                let OpenDevice { driver, tracing, .. } = &mut self.device;
                if order.kind == WindowKind::Parts {
                    tracing.begin(&mut **driver);
                }
                Ok(Armed::Held)
            }
        }
    }

    fn queue(&mut self, order: &WindowOrder) -> Result<Queued, WorkerError> {
        let (case, device) = (&self.assignment, &mut self.device);
        let (driver, harness, stream) = (&mut *device.driver, &device.harness, device.stream);
        let stopwatch = device.events.for_window(order.kind);
        let on_device = case.on_device.in_window(order.window);
        // Making a graph could wait for the stream, so the stream must not wait for *go* yet.
        let bundle = case.call.bundle(order.repeats, driver, stream)?;
        driver.wait_value(stream, DevicePtr(on_device.go()), order.window)?;
        let queued = case.prepare(order, driver, harness, stream).and_then(|()| {
            stopwatch.arm(driver, stream)?;
            let queued_from = Instant::now();
            match bundle {
                None => (0..order.repeats.get()).try_for_each(|_| case.queue(order, driver, harness, stream))?,
                Some(graph) => (0..GRAPHS).try_for_each(|_| driver.launch_graph(stream, graph))?,
            }
            let host_ns = queued_from.elapsed().as_nanos() as f64;
            stopwatch.disarm(driver, stream)?;
            Ok(host_ns)
        });
        let host_ns = match queued {
            Ok(host_ns) => host_ns,
            Err(DeviceError::Host(failure)) => return Ok(Queued::Failed(failure)),
            Err(error) => return Err(WorkerError::Plan(error)),
        };
        case.finish_window(order, driver, harness, stream)?;
        Ok(Queued::Whole {
            stopwatch,
            host_ns,
            bundle,
            work: DeviceWork::default(),
            call: CallState::Returned,
        })
    }

    /// Whether a window has a call that may wait for the device, and that the stream holds.
    fn holds_call_of(&self, order: &WindowOrder) -> bool {
        order.kind.content() == WindowContent::Call && self.assignment.call.may_wait()
    }

    /// Queues a window whose call may wait for the device. The call begins on its own thread, and
    /// has some time to queue its work, which *go* holds. Then the rest of the window follows. The
    /// wait of the call ends after *go*.
    fn queue_around_call(&mut self, order: &WindowOrder) -> Result<Queued, WorkerError> {
        let (case, device) = (&self.assignment, &mut self.device);
        let (driver, harness, stream) = (&mut *device.driver, &device.harness, device.stream);
        let stopwatch = device.events.for_window(order.kind);
        let go = case.on_device.in_window(order.window).go();
        driver.wait_value(stream, DevicePtr(go), order.window)?;
        case.prepare(order, driver, harness, stream)
            .and_then(|()| stopwatch.arm(driver, stream))
            .map_err(WorkerError::Plan)?;
        let called_at = Instant::now();
        let begun = case.call.begin(driver);
        let has_returned = match begun.and_then(|()| driver.end_host_call(case.hold.work(), case.hold.patience())) {
            Ok(has_returned) => has_returned,
            Err(DeviceError::Host(failure)) => return Ok(Queued::Failed(failure)),
            Err(error) => return Err(WorkerError::Plan(error)),
        };
        let host_ns = called_at.elapsed().as_nanos() as f64;
        let (queueing, rest) = open_if_stuck(&case.page.in_window(order.window).go, order.window, || {
            let stopped = stopwatch.disarm(driver, stream);
            stopped.and_then(|()| case.finish_window(order, driver, harness, stream))
        });
        rest.map_err(WorkerError::Plan)?;
        if queueing == Queueing::Stuck {
            return Ok(Queued::Failed(HostFailure::Returned(STUCK.to_owned())));
        }
        let (host_ns, call) = match has_returned {
            true => (host_ns, CallState::Returned),
            // When the call had queued its work is not known.
            false => (0.0, CallState::Waits),
        };
        Ok(Queued::Whole {
            stopwatch,
            host_ns,
            bundle: None,
            work: DeviceWork::default(),
            call,
        })
    }

    /// Makes the calls of a window and waits for all their work. Nothing of the tool's is queued
    /// meanwhile: a call may wait for the whole device.
    fn call(&mut self, order: &WindowOrder) -> Result<Queued, WorkerError> {
        let mut hold = self.assignment.hold;
        let (case, device) = (&self.assignment, &mut self.device);
        let (driver, harness, stream) = (&mut *device.driver, &device.harness, device.stream);
        let called_at = Instant::now();
        let called = (0..order.repeats.get()).try_for_each(|_| case.queue(order, driver, harness, stream));
        let host_ns = called_at.elapsed().as_nanos() as f64;
        match called.and_then(|()| driver.synchronize_all()) {
            Ok(()) => hold.note(called_at.elapsed()),
            Err(DeviceError::Host(failure)) => return Ok(Queued::Failed(failure)),
            Err(error) => return Err(WorkerError::Plan(error)),
        }
        let on_host = case.page.on_host().in_window(order.window);
        driver.store_value(on_host.returned(), order.window);
        let work = match order.kind {
            WindowKind::Parts => device.tracing.end(),
            _ => None,
        };
        case.finish_window(order, driver, harness, stream)?;
        self.assignment.hold = hold;
        Ok(Queued::Whole {
            stopwatch: Stopwatch::Absent,
            host_ns,
            bundle: None,
            work: work.map_or(DeviceWork::default(), |operations| {
                DeviceWork::from_operations(&operations)
            }),
            call: CallState::Returned,
        })
    }

    /// Releases the queued work of a window. Otherwise it would wait for *go* forever, and the
    /// device could not be closed.
    pub(super) fn release(&mut self, order: &WindowOrder) {
        let go = self.assignment.page.on_host().in_window(order.window).go();
        self.device.driver.store_value(go, order.window);
    }

    /// Waits on the host until the referee has written *go*.
    pub(super) fn await_go(&mut self, order: &WindowOrder, channel: &Channel) -> Result<(), WorkerError> {
        let go = self.assignment.page.on_host().in_window(order.window).go();
        let mut missed_ns = 0;
        while !self.device.driver.see_value(go, order.window, LOOK, &mut missed_ns) {
            // The broker sends nothing during a window, so this is the end of the connection.
            if channel.is_readable()? {
                return Err(ChannelError::Closed.into());
            }
        }
        Ok(())
    }

    /// Queues the window after *go*.
    pub(super) fn queue_after_go(&mut self, order: &WindowOrder, channel: &Channel) -> Result<Queued, WorkerError> {
        self.await_go(order, channel)?;
        let queued = match order.gate {
            Gate::Stream => self.queue(order),
            Gate::Host => self.call(order),
        };
        match queued {
            Err(WorkerError::Device(DeviceError::Fault(fault)) | WorkerError::Plan(DeviceError::Fault(fault))) => {
                Ok(Queued::Faulted(fault))
            }
            queued => queued,
        }
    }

    /// Waits for the window's work and returns the claim.
    pub(super) fn finish(&mut self, order: &WindowOrder, queued: Queued) -> Result<Claim, WorkerError> {
        let empty = Claim::empty(order.window);
        let (stopwatch, bundle, call, claim) = match queued {
            Queued::Whole {
                stopwatch,
                host_ns,
                bundle,
                work,
                call,
            } => (stopwatch, bundle, call, Claim { host_ns, work, ..empty }),
            Queued::Faulted(fault) => return Ok(self.fault_claim(empty, &fault)),
            Queued::Failed(failure) => {
                self.release(order);
                return Ok(host_claim(empty, &failure));
            }
        };
        let OpenDevice { driver, stream, .. } = &mut self.device;
        let ended = driver.synchronize(*stream).and_then(|()| match call {
            CallState::Returned => Ok(()),
            CallState::Waits => await_call(&mut **driver),
        });
        match ended {
            Ok(()) => {
                if let Some(graph) = bundle {
                    driver.release_graph(graph);
                }
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
        Claim {
            fault: buffers.code_of(fault),
            step: launch.map_or(UNKNOWN_STEP, |(position, _)| position),
            block: fault.block.unwrap_or_default(),
            thread: fault.thread.unwrap_or_default(),
            place: place_of(fault),
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

fn place_of(fault: &Fault) -> FaultPlace {
    match (fault.block, fault.thread) {
        (Some(_), Some(_)) => FaultPlace::Thread,
        (Some(_), None) => FaultPlace::Block,
        (None, _) => FaultPlace::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_in_the_smallest_place_that_is_known() {
        let place = |block, thread| {
            place_of(&Fault {
                code: FaultCode::Trap,
                launch: None,
                block,
                thread,
                address: None,
                line: None,
                text: "a trap".into(),
            })
        };
        assert_eq!(place(Some([1, 0, 0]), Some([2, 0, 0])), FaultPlace::Thread);
        assert_eq!(place(Some([1, 0, 0]), None), FaultPlace::Block);
        assert_eq!(place(None, None), FaultPlace::Unknown);
    }

    #[test]
    fn a_failure_of_host_code_has_the_cause_that_it_has() {
        let failed = |failure: HostFailure| {
            let claim = host_claim(Claim::empty(7), &failure);
            assert_eq!((claim.window, claim.text.printable()), (7, failure.to_string()));
            claim.fault
        };
        assert_eq!(
            failed(HostFailure::Returned("why".to_owned())),
            FaultCode::HostCallFailed
        );
        assert_eq!(
            failed(HostFailure::Panicked("why".to_owned())),
            FaultCode::HostCallFailed
        );
        assert_eq!(failed(HostFailure::ForeignContext), FaultCode::ForeignContext);
    }
}
