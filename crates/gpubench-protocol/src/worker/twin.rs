//! The twin of a call: one plain kernel of the tool that reads the call's inputs and writes its
//! outputs. A control window runs it instead of the call, so that the referee's clock sees the same
//! time beyond the claim. The same kernel brings tensors to the caches.

use std::num::NonZeroU32;

use gpubench::catalog::{Recording, Role};
use gpubench::plan::Step;
use gpubench_contract::{CacheTreatment, Launching, Mode};

use super::WorkerError;
use super::buffers::{Buffers, NamedBuffer};
use super::graphs::CallGraphs;
use crate::window::{MadeCalls, WindowCalls};
use gpubench_device::harness::{AccessKind, BufferAccess, Harness};
use gpubench_device::{DeviceError, Driver, Stream};

/// The twins that a control window runs instead of the calls.
pub(super) struct Twin {
    calls: Vec<TwinOfCall>,
    /// The same in graphs, for a mode that times one.
    graphs: Option<CallGraphs>,
}

struct TwinOfCall {
    buffers: Vec<BufferAccess>,
    launches: NonZeroU32,
}

impl Twin {
    /// Returns the twins of calls with `launches` launches together. They touch the case's tensors,
    /// but not its scratch.
    ///
    /// # Errors
    /// If a graph cannot be made.
    pub(super) fn new(
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
        buffers: &Buffers,
        calls: WindowCalls,
        launches: NonZeroU32,
    ) -> Result<Twin, WorkerError> {
        let touched: Vec<BufferAccess> = buffers.0.iter().filter_map(as_the_call).collect();
        let of_call = touched.len().div_ceil(calls.count.get() as usize).max(1);
        let launches = NonZeroU32::new(launches.get() / calls.count).unwrap_or(NonZeroU32::MIN);
        let of_calls = touched.chunks(of_call).map(|buffers| TwinOfCall {
            buffers: buffers.to_vec(),
            launches,
        });
        let mut twin = Twin {
            calls: of_calls.collect(),
            graphs: None,
        };
        if calls.mode.launching() == Launching::InGraph {
            let queue = |driver: &mut dyn Driver, made| twin.queue_one_by_one(made, driver, harness, stream);
            twin.graphs = Some(CallGraphs::capture(driver, stream, queue)?);
        }
        Ok(twin)
    }

    /// Queues the twins of the calls that a window makes.
    pub(super) fn queue(
        &self,
        made: MadeCalls,
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        match &self.graphs {
            Some(graphs) => graphs.queue(made, driver, stream),
            None => self.queue_one_by_one(made, driver, harness, stream),
        }
    }

    fn queue_one_by_one(
        &self,
        made: MadeCalls,
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        let made = match made {
            MadeCalls::All => &self.calls[..],
            MadeCalls::First => self.calls.get(..1).unwrap_or_default(),
        };
        let mut calls = made.iter();
        calls.try_for_each(|call| harness.twin(driver, stream, &call.buffers, call.launches))
    }

    /// Frees the graphs.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        if let Some(graphs) = self.graphs {
            graphs.release(driver);
        }
    }
}

/// Returns a tensor with the access that a call must have to it. `None` for scratch.
fn as_the_call(buffer: &NamedBuffer) -> Option<BufferAccess> {
    let access = match buffer.role {
        Role::Input | Role::Constant => AccessKind::Reads,
        Role::Output => AccessKind::Writes,
        Role::InOut => AccessKind::ReadsAndWrites,
        Role::Scratch => return None,
    };
    Some(BufferAccess {
        address: buffer.address(),
        bytes: buffer.layout.len,
        access,
    })
}

/// Reads every buffer of the calls, so that the caches hold them, or do nothing.
pub(super) struct Warming(Vec<BufferAccess>);

impl Warming {
    /// Returns the reads that a mode wants before the calls of a window.
    pub(super) fn new(mode: Mode, buffers: &Buffers) -> Warming {
        let all = buffers.0.iter().map(|buffer| BufferAccess {
            address: buffer.address(),
            bytes: buffer.layout.len,
            access: AccessKind::Reads,
        });
        Warming(match mode.cache() {
            CacheTreatment::Touched => all.collect(),
            CacheTreatment::Flushed | CacheTreatment::Left => Vec::new(),
        })
    }

    /// Queues the reads.
    pub(super) fn queue(&self, driver: &mut dyn Driver, harness: &Harness, stream: Stream) -> Result<(), DeviceError> {
        harness.twin(driver, stream, &self.0, NonZeroU32::MIN)
    }
}

/// Returns the number of launches of a call. It is unknown for host code.
pub(super) fn launches(recording: &Recording) -> NonZeroU32 {
    let steps = recording.plan.steps.iter();
    let launches = steps.filter(|step| matches!(step, Step::Launch(_))).count();
    u32::try_from(launches)
        .ok()
        .and_then(NonZeroU32::new)
        .unwrap_or(NonZeroU32::MIN)
}
