//! The plan under test on this process's mappings.

use gpubench::catalog::Recording;

use super::WorkerError;
use super::buffers::{Buffers, NamedBuffer};
use crate::replay::{AddressSpace, ReadyPlan};
use gpubench_device::{DevicePtr, Driver, Module};

/// Binds a recording's plan to buffers (its tensors, then its scratch) and modules (by position of their source).
pub(super) fn bind(
    driver: &mut dyn Driver,
    recording: &Recording,
    buffers: &Buffers,
    modules: &[(u32, Module)],
) -> Result<ReadyPlan, WorkerError> {
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
    Ok(ReadyPlan::bind(driver, &recording.plan, &space)?)
}
