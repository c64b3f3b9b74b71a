//! One call of a benchmark, whoever launches it.

use gpubench::catalog::Recording;

use super::WorkerError;
use super::buffers::{Buffers, NamedBuffer};
use super::hosted::Hosted;
use crate::replay::{AddressSpace, ReadyPlan};
use gpubench_device::{DeviceError, DevicePtr, Driver, Fault, Module, Stream};

/// What a window's call consists of.
pub(super) enum Call {
    /// The steps of a plan.
    Sealed(ReadyPlan),
    /// The user's host code.
    Hosted(Hosted),
}

impl Call {
    /// Binds a recording's plan to buffers (its tensors, then its scratch) and modules (by position
    /// of their source).
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

    /// Queues it.
    pub(super) fn queue(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match self {
            Call::Sealed(plan) => plan.queue(driver, stream),
            Call::Hosted(hosted) => hosted.queue(driver, stream),
        }
    }

    /// The launch that faulted, by its position among the plan's steps and its kernel, where that
    /// can be told.
    pub(super) fn faulting_launch(&self, fault: &Fault) -> Option<(u32, &str)> {
        match self {
            Call::Sealed(plan) => plan.faulting_launch(fault),
            Call::Hosted(_) => None,
        }
    }
}
