//! A launch plan on a device.

use gpubench::catalog::Recording;

use super::WorkerError;
use super::buffers::{Buffers, NamedBuffer};
use crate::replay::{AddressSpace, ReadyPlan};
use gpubench_device::{DeviceError, DevicePtr, Driver, Fault, Module, Stream};

/// The plan under test on this process's mappings.
pub(super) struct Replay {
    plan: ReadyPlan,
}

impl Replay {
    /// Binds a recording's plan to buffers (its tensors, then its scratch) and modules (by position of their source).
    pub(super) fn bind(
        driver: &mut dyn Driver,
        recording: &Recording,
        buffers: &Buffers,
        modules: &[(u32, Module)],
    ) -> Result<Replay, WorkerError> {
        let addresses: Vec<DevicePtr> = buffers.all().iter().map(NamedBuffer::address).collect();
        let (tensors, scratch) = addresses
            .split_at_checked(recording.tensors.len())
            .ok_or(WorkerError::Order("a buffer is missing"))?;
        let tensors: Vec<Option<DevicePtr>> = tensors.iter().copied().map(Some).collect();
        let space = AddressSpace {
            tensors: &tensors,
            scratch,
            modules,
        };
        let plan = ReadyPlan::bind(driver, &recording.plan, &space)?;
        Ok(Replay { plan })
    }

    /// Queues one call.
    pub(super) fn queue(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        self.plan.queue(driver, stream)
    }

    /// The launch that faulted, by its position among the plan's steps and its kernel: the only one, where the device does not say which.
    pub(super) fn faulting_launch(&self, fault: &Fault) -> Option<(u32, &str)> {
        self.plan.faulting_launch(fault)
    }
}
