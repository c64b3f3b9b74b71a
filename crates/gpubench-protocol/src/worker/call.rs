//! One call of a benchmark, from a plan or from host code.

use gpubench::catalog::Recording;

use super::WorkerError;
use super::buffers::{Buffers, NamedBuffer};
use super::hosted::Hosted;
use crate::replay::{AddressSpace, ReadyPlan};
use gpubench_device::{DeviceError, DevicePtr, Driver, Fault, Module, Stream};

/// The call of a window.
pub(super) enum Call {
    /// The steps of a plan.
    Sealed(ReadyPlan),
    /// The user's host code.
    Hosted(Hosted),
}

impl Call {
    /// Binds a recording's plan to `buffers` (tensors, then scratch) and to `modules`, which have
    /// the position of their source.
    pub(super) fn sealed(
        driver: &mut dyn Driver,
        recording: &Recording,
        buffers: &Buffers,
        modules: &[(u32, Module)],
    ) -> Result<Call, WorkerError> {
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
        Ok(Call::Sealed(ReadyPlan::bind(driver, &recording.plan, &space)?))
    }

    /// Queues the call.
    pub(super) fn queue(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match self {
            Call::Sealed(plan) => plan.queue(driver, stream),
            Call::Hosted(hosted) => hosted.queue(driver, stream),
        }
    }

    /// Returns the position and the kernel of the launch that faulted, if known.
    pub(super) fn faulting_launch(&self, fault: &Fault) -> Option<(u32, &str)> {
        match self {
            Call::Sealed(plan) => plan.faulting_launch(fault),
            Call::Hosted(_) => None,
        }
    }
}
