//! The addresses of a plan's buffers and the modules of its sources in this process.

use gpubench::plan::{BufferId, KernelRef};

use super::ReplayError;
use gpubench_device::{DevicePtr, Driver, Function, Module};

/// Addresses of a plan's buffers, and the loaded modules of its sources.
#[derive(Clone, Copy, Debug)]
pub struct AddressSpace<'a> {
    /// Address of every tensor. Some have no memory here.
    pub tensors: &'a [Option<DevicePtr>],
    /// Address of every scratch allocation of the plan.
    pub scratch: &'a [DevicePtr],
    /// Modules with the position of their source.
    pub modules: &'a [(u32, Module)],
}

impl AddressSpace<'_> {
    /// Returns an address in a buffer.
    ///
    /// # Errors
    /// If the buffer has no memory here.
    pub(super) fn address(&self, buffer: BufferId, offset: u64) -> Result<DevicePtr, ReplayError> {
        let start = match buffer {
            BufferId::Tensor(tensor) => self.tensors.get(tensor as usize).copied().flatten(),
            BufferId::Scratch(scratch) => self.scratch.get(scratch as usize).copied(),
        };
        Ok(start.ok_or(ReplayError::Missing("a buffer"))?.offset(offset))
    }

    /// Returns the module of a source.
    ///
    /// # Errors
    /// If it is not loaded.
    pub(super) fn module(&self, source: u32) -> Result<Module, ReplayError> {
        let module = self.modules.iter().find(|(known, _)| *known == source);
        module
            .map(|(_, module)| *module)
            .ok_or(ReplayError::Missing("a module"))
    }

    /// Returns a kernel of a source.
    ///
    /// # Errors
    /// If its module is not loaded or lacks it.
    pub(super) fn function(&self, driver: &mut dyn Driver, kernel: &KernelRef) -> Result<Function, ReplayError> {
        Ok(driver.function(self.module(kernel.source)?, &kernel.name)?)
    }
}

/// A tensor's memory in a process that runs a case's own kernels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operand {
    /// Contents before the call, for inputs.
    pub contents: Option<DevicePtr>,
    /// Expected contents after the call, for outputs.
    pub answer: Option<DevicePtr>,
}
