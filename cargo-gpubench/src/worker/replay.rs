//! A launch plan on a device.

use gpubench::catalog::{Recording, Role};

use super::WorkerError;
use crate::device::memfd::GUARD;
use crate::device::{DeviceError, DevicePtr, Driver, Fault, Module, Stream};
use crate::replay::{AddressSpace, ReadyPlan};
use crate::wire::{BufferLayout, FaultCode};

/// The plan under test on this process's mappings.
pub(super) struct Replay {
    plan: ReadyPlan,
    buffers: Vec<NamedBuffer>,
}

/// A buffer of the plan as this process has mapped it.
#[derive(Clone, Debug)]
pub(super) struct NamedBuffer {
    pub(super) name: String,
    pub(super) role: Role,
    /// Start of the allocation.
    pub(super) mapping: DevicePtr,
    pub(super) layout: BufferLayout,
}

impl Replay {
    /// Binds a recording's plan to buffers (its tensors, then its scratch) and modules (by position of their source).
    pub(super) fn bind(
        driver: &mut dyn Driver,
        recording: &Recording,
        buffers: Vec<NamedBuffer>,
        modules: &[(u32, Module)],
    ) -> Result<Replay, WorkerError> {
        let addresses: Vec<DevicePtr> = buffers.iter().map(NamedBuffer::address).collect();
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
        Ok(Replay { plan, buffers })
    }

    /// Queues one call.
    pub(super) fn queue(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        self.plan.queue(driver, stream)
    }

    /// Outputs in tensor order: address and bytes.
    pub(super) fn outputs(&self) -> Vec<(DevicePtr, u64)> {
        let outputs = self.buffers.iter().filter(|buffer| buffer.role.is_output());
        outputs.map(|buffer| (buffer.address(), buffer.layout.len)).collect()
    }

    /// Position among the plan's steps of the launch that faulted: the only one, where the device does not say which.
    pub(super) fn step_of(&self, fault: &Fault) -> Option<u32> {
        self.plan.faulting_launch(fault).map(|(position, _)| position)
    }

    /// A fault in words, with the kernel and with the buffer that a stray access missed or was not allowed to write.
    pub(super) fn describe(&self, fault: &Fault) -> String {
        let text = match self.plan.faulting_launch(fault) {
            Some((_, kernel)) => format!("kernel `{kernel}`: {}", fault.text),
            None => format!("one of the kernels: {}", fault.text),
        };
        match fault
            .address
            .and_then(|address| self.buffers.iter().find_map(|buffer| buffer.locate(address)))
        {
            Some(place) => format!("{text}, {place}"),
            None => text,
        }
    }

    /// What a fault was: a store to a buffer that is mapped for loads alone is more than a stray access.
    pub(super) fn code_of(&self, fault: &Fault) -> FaultCode {
        let inside = |address: u64| {
            let holds = |buffer: &NamedBuffer| {
                let start = buffer.address().0;
                (start..start + buffer.layout.len).contains(&address)
            };
            self.buffers.iter().any(holds)
        };
        match fault.code {
            FaultCode::OutOfBounds if fault.address.is_some_and(inside) => FaultCode::InputWritten,
            code => code,
        }
    }
}

impl NamedBuffer {
    fn address(&self) -> DevicePtr {
        self.mapping.offset(self.layout.offset)
    }

    /// Where an address lies relative to the buffer, when it is in it or on a guard page beside it.
    fn locate(&self, address: u64) -> Option<String> {
        let (start, len) = (self.address().0, self.layout.len);
        let end = self.mapping.0 + self.layout.allocation;
        if !(self.mapping.0.saturating_sub(GUARD)..end + GUARD).contains(&address) {
            return None;
        }
        let name = &self.name;
        Some(match address {
            _ if address >= start + len => format!(
                "{} bytes behind the end of `{name}` ({len} bytes)",
                address - start - len
            ),
            _ if address < start => format!("{} bytes before the start of `{name}`", start - address),
            _ => format!("byte {} of the read-only `{name}`", address - start),
        })
    }
}
