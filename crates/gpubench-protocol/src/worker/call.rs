//! One call of a benchmark, from a plan or from host code.

use gpubench::catalog::Recording;
use gpubench_contract::Method;

use super::WorkerError;
use super::buffers::{Buffers, NamedBuffer};
use super::hosted::Hosted;
use crate::replay::{AddressSpace, ReadyPlan};
use crate::window::WindowKind;
use gpubench_device::{DeviceError, DevicePtr, Driver, Fault, Graph, Module, Stream};

/// The call of a window.
pub(super) struct Call {
    work: Work,
    /// The same work in a graph, for a method that times one.
    graph: Option<Graph>,
}

/// The work of a call.
pub(super) enum Work {
    /// The steps of a plan.
    Sealed(ReadyPlan),
    /// The user's host code.
    Hosted(Hosted),
}

impl Call {
    /// Returns the call of a method. Captures its work if the method times a graph.
    ///
    /// # Errors
    /// If the work cannot be in a graph.
    pub(super) fn new(
        driver: &mut dyn Driver,
        stream: Stream,
        work: Work,
        method: Method,
    ) -> Result<Call, WorkerError> {
        let graph = match method {
            Method::Graph => Some(work.capture(driver, stream)?),
            Method::Cold | Method::Warm => None,
        };
        Ok(Call { work, graph })
    }

    /// Queues the call. In an early check it is never a graph, because the check kernel could not
    /// start before the graph has ended.
    pub(super) fn queue(&self, kind: WindowKind, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match (kind, self.graph) {
            (WindowKind::Timed, Some(graph)) => driver.launch_graph(stream, graph),
            _ => self.work.queue(driver, stream),
        }
    }

    /// Returns the position and the kernel of the launch that faulted, if known.
    pub(super) fn faulting_launch(&self, fault: &Fault) -> Option<(u32, &str)> {
        match &self.work {
            Work::Sealed(plan) => plan.faulting_launch(fault),
            Work::Hosted(_) => None,
        }
    }

    /// Frees the graph.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        if let Some(graph) = self.graph {
            driver.release_graph(graph);
        }
    }
}

impl Work {
    /// Binds a recording's plan to `buffers` (tensors, then scratch) and to `modules`, which have
    /// the position of their source.
    pub(super) fn sealed(
        driver: &mut dyn Driver,
        recording: &Recording,
        buffers: &Buffers,
        modules: &[(u32, Module)],
    ) -> Result<Work, WorkerError> {
        let addresses: Vec<DevicePtr> = buffers.0.iter().map(NamedBuffer::address).collect();
        let (tensors, scratch) = addresses
            .split_at_checked(recording.tensors.len())
            .ok_or(WorkerError::Order("a buffer is missing"))?;
        let tensors: Vec<Option<DevicePtr>> = tensors.iter().copied().map(Some).collect();
        let space = AddressSpace {
            tensors: &tensors,
            scratch,
            modules,
        };
        Ok(Work::Sealed(ReadyPlan::bind(driver, &recording.plan, &space)?))
    }

    fn queue(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match self {
            Work::Sealed(plan) => plan.queue(driver, stream),
            Work::Hosted(hosted) => hosted.queue(driver, stream),
        }
    }

    /// Captures the work in a graph. Always ends the capture, so that the stream can be used again.
    fn capture(&self, driver: &mut dyn Driver, stream: Stream) -> Result<Graph, WorkerError> {
        driver.begin_capture(stream)?;
        let queued = self.queue(driver, stream);
        let captured = driver.end_capture(stream);
        match queued {
            Ok(()) => captured.map_err(WorkerError::Capture),
            Err(error) => Err(WorkerError::Capture(error)),
        }
    }
}
