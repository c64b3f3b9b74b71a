//! What a plan's buffers and sources are in this process.

use gpubench::plan::{BufferId, KernelRef};

use super::ReplayError;
use gpubench_device::{DevicePtr, Driver, Function, Module};

/// Addresses of a plan's buffers, and the loaded modules of its sources.
#[derive(Clone, Copy, Debug)]
pub struct AddressSpace<'a> {
    /// First byte of every tensor; of some there may be no memory here.
    pub tensors: &'a [Option<DevicePtr>],
    /// First byte of every scratch allocation of the plan.
    pub scratch: &'a [DevicePtr],
    /// Modules by the position of their source.
    pub modules: &'a [(u32, Module)],
}

impl AddressSpace<'_> {
    /// An address in a buffer.
    ///
    /// # Errors
    /// When the buffer has no memory here.
    pub(super) fn address(&self, buffer: BufferId, offset: u64) -> Result<DevicePtr, ReplayError> {
        let start = match buffer {
            BufferId::Tensor(tensor) => self.tensors.get(tensor as usize).copied().flatten(),
            BufferId::Scratch(scratch) => self.scratch.get(scratch as usize).copied(),
        };
        Ok(start.ok_or(ReplayError::Missing("a buffer"))?.offset(offset))
    }

    /// The module of a source.
    ///
    /// # Errors
    /// When it was not loaded.
    pub(super) fn module(&self, source: u32) -> Result<Module, ReplayError> {
        let module = self.modules.iter().find(|(known, _)| *known == source);
        module
            .map(|(_, module)| *module)
            .ok_or(ReplayError::Missing("a module"))
    }

    /// A kernel of a module.
    ///
    /// # Errors
    /// When the module was not loaded or lacks it.
    pub(super) fn function(&self, driver: &mut dyn Driver, kernel: &KernelRef) -> Result<Function, ReplayError> {
        Ok(driver.function(self.module(kernel.source)?, &kernel.name)?)
    }
}

/// A tensor's memory in a process that runs a case's own kernels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operand {
    /// What it holds before the call, where it is an input.
    pub contents: Option<DevicePtr>,
    /// What is expected after the call, where it is an output.
    pub answer: Option<DevicePtr>,
}
