//! One call of a benchmark, from a plan or from host code.

use std::num::NonZeroU32;

use gpubench::catalog::Recording;
use gpubench_contract::Launching;

use super::WorkerError;
use super::buffers::{Buffers, NamedBuffer};
use super::graphs::{CallGraphs, capture};
use super::hosted::{Caller, Hosted};
use super::parts::Parts;
use crate::replay::{AddressSpace, ReadyPlan};
use crate::window::{MadeCalls, WindowCalls, WindowKind, calls_of_graphs};
use crate::wire::Claim;
use gpubench_contract::MetricKind;
use gpubench_device::{Count, Counter, DeviceError, DevicePtr, Driver, Fault, Graph, Module, Stream};

/// The range of a call that is counted as a whole.
pub(super) const WHOLE_CALL: &str = "(the call)";

/// The calls of a window.
pub(super) struct Call {
    work: Work,
    /// How many there are, each with its own tensors.
    count: NonZeroU32,
    /// The same work in graphs, for a mode that times one.
    graphs: Option<CallGraphs>,
    parts: Parts,
}

/// The work of a call.
pub(super) enum Work {
    /// The steps of a plan.
    Sealed(ReadyPlan),
    /// The user's host code.
    Hosted(Hosted),
}

impl Call {
    /// Returns the calls of a mode. Captures their work if the mode times a graph.
    ///
    /// # Errors
    /// If the work cannot be in a graph.
    pub(super) fn new(
        driver: &mut dyn Driver,
        stream: Stream,
        work: Work,
        calls: WindowCalls,
    ) -> Result<Call, WorkerError> {
        let queue = |driver: &mut dyn Driver, made| work.queue_calls(made, calls.count, driver, stream);
        let graphs = match calls.mode.launching() {
            Launching::InGraph if work.steps() > 0 => Some(CallGraphs::capture(driver, stream, queue)?),
            Launching::InGraph | Launching::Alone | Launching::BackToBack => None,
        };
        let parts = Parts::new(driver, &work, calls)?;
        Ok(Call {
            work,
            count: calls.count,
            graphs,
            parts,
        })
    }

    /// Queues the calls that a window makes. In an early check they are never in a graph, because
    /// the check kernel could not start before the graph has ended.
    pub(super) fn queue(&self, kind: WindowKind, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match (kind, &self.graphs) {
            (WindowKind::Parts, _) => self.parts.queue(driver, stream, &self.work),
            (WindowKind::Timed | WindowKind::Single, Some(graphs)) => graphs.queue(kind.made_calls(), driver, stream),
            _ => self.work.queue_calls(kind.made_calls(), self.count, driver, stream),
        }
    }

    /// Whether the call may wait for the device while the rest of its window is queued.
    pub(super) fn may_wait(&self) -> bool {
        matches!(&self.work, Work::Hosted(hosted) if hosted.caller() == Caller::OwnThread)
    }

    /// Begins a call that may wait for the device.
    pub(super) fn begin(&self, driver: &mut dyn Driver) -> Result<(), DeviceError> {
        match &self.work {
            Work::Hosted(hosted) => hosted.begin(driver),
            Work::Sealed(_) => Err(DeviceError::Unsupported("begin a plan as host code".to_owned())),
        }
    }

    /// Captures a part of the repeated calls of a window in a graph, if they are too many to be
    /// queued one by one.
    ///
    /// # Errors
    /// If the work cannot be in a graph.
    pub(super) fn bundle(
        &self,
        repeats: NonZeroU32,
        driver: &mut dyn Driver,
        stream: Stream,
    ) -> Result<Option<Graph>, WorkerError> {
        let steps = u32::try_from(self.work.steps()).unwrap_or(u32::MAX);
        let Some(calls) = calls_of_graphs(repeats, steps) else {
            return Ok(None);
        };
        let queue = |driver: &mut dyn Driver| (0..calls.get()).try_for_each(|_| self.work.queue(driver, stream));
        Ok(Some(capture(driver, stream, queue)?))
    }

    /// Writes the times of the parts into a claim about a window of parts.
    pub(super) fn read_parts(
        &self,
        kind: WindowKind,
        driver: &mut dyn Driver,
        claim: Claim,
    ) -> Result<Claim, DeviceError> {
        match kind {
            WindowKind::Parts => self.parts.read(driver, claim),
            _ => Ok(claim),
        }
    }

    /// Runs the call on an idle stream and counts what it does, without a graph. Returns `None` if
    /// further calls are needed for complete counts.
    pub(super) fn count(
        &self,
        metric: MetricKind,
        driver: &mut dyn Driver,
        stream: Stream,
        counter: &mut dyn Counter,
    ) -> Result<Option<Vec<Count>>, DeviceError> {
        match (&self.work, metric) {
            (Work::Sealed(plan), MetricKind::Instructions) => plan.count(driver, stream, counter),
            // The launches of host code are not known, and the values of metrics in several ranges
            // have no sum.
            _ => {
                counter.start(self.work.known_launches().max(1))?;
                counter.begin(WHOLE_CALL)?;
                self.work.queue(driver, stream)?;
                driver.synchronize_all()?;
                counter.end()?;
                counter.stop()
            }
        }
    }

    /// Returns the position and the kernel of the launch that faulted, if known.
    pub(super) fn faulting_launch(&self, fault: &Fault) -> Option<(u32, &str)> {
        match &self.work {
            Work::Sealed(plan) => plan.faulting_launch(fault),
            Work::Hosted(_) => None,
        }
    }

    /// Frees the graphs.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        if let Some(graphs) = self.graphs {
            graphs.release(driver);
        }
    }
}

impl Work {
    /// Returns the number of launches of a plan; 0 for host code, whose launches are not known.
    fn known_launches(&self) -> usize {
        match self {
            Work::Sealed(plan) => plan.number_of_launches(),
            Work::Hosted(_) => 0,
        }
    }

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

    /// Queues the work of a window.
    pub(super) fn queue(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match self {
            Work::Sealed(plan) => plan.queue(driver, stream),
            Work::Hosted(hosted) => hosted.queue(driver, stream),
        }
    }

    /// Queues all of `count` calls, or the first.
    fn queue_calls(
        &self,
        made: MadeCalls,
        count: NonZeroU32,
        driver: &mut dyn Driver,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        match made {
            MadeCalls::All => self.queue(driver, stream),
            MadeCalls::First => self.queue_part(0, count.get() as usize, driver, stream),
        }
    }

    /// Returns the number of steps that can be queued one by one.
    pub(super) fn steps(&self) -> usize {
        match self {
            Work::Sealed(plan) => plan.steps(),
            Work::Hosted(hosted) => hosted.calls(),
        }
    }

    /// Queues one of `parts` equal parts.
    pub(super) fn queue_part(
        &self,
        part: usize,
        parts: usize,
        driver: &mut dyn Driver,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        let each = self.steps() / parts;
        (part * each..(part + 1) * each).try_for_each(|step| match self {
            Work::Sealed(plan) => plan.queue_step(step, driver, stream),
            Work::Hosted(hosted) => hosted.queue_call(step, driver, stream),
        })
    }
}

#[cfg(test)]
mod tests;
