//! A case's buffers as the worker has mapped them.

use gpubench::catalog::{Recording, Role};

use crate::wire::BufferLayout;
use gpubench_device::memfd::GUARD;
use gpubench_device::{DevicePtr, Fault, FaultCode};

/// Every tensor, then every scratch allocation of the plan.
pub(super) struct Buffers(pub(super) Vec<NamedBuffer>);

/// A buffer as this process has mapped it.
#[derive(Clone, Debug)]
pub(super) struct NamedBuffer {
    pub(super) name: String,
    pub(super) role: Role,
    /// Start of the allocation.
    pub(super) mapping: DevicePtr,
    pub(super) layout: BufferLayout,
}

impl Buffers {
    /// Outputs in tensor order: address and bytes.
    pub(super) fn outputs(&self) -> Vec<(DevicePtr, u64)> {
        let outputs = self.0.iter().filter(|buffer| buffer.role.is_output());
        outputs.map(|buffer| (buffer.address(), buffer.layout.len)).collect()
    }

    /// A fault in words, with the kernel and with the buffer that a stray access missed or was not
    /// allowed to write.
    pub(super) fn describe(&self, fault: &Fault, kernel: Option<&str>) -> String {
        let text = match kernel {
            Some(kernel) => format!("kernel `{kernel}`: {}", fault.text),
            None => format!("one of the kernels: {}", fault.text),
        };
        match fault
            .address
            .and_then(|address| self.0.iter().find_map(|buffer| buffer.locate(address)))
        {
            Some(place) => format!("{text}, {place}"),
            None => text,
        }
    }

    /// What a fault was: a store to a buffer that is mapped for loads alone is more than a stray
    /// access.
    pub(super) fn code_of(&self, fault: &Fault) -> FaultCode {
        let inside = |address: u64| {
            let holds = |buffer: &NamedBuffer| {
                let start = buffer.address().0;
                (start..start + buffer.layout.len).contains(&address)
            };
            self.0.iter().any(holds)
        };
        match fault.code {
            FaultCode::OutOfBounds if fault.address.is_some_and(inside) => FaultCode::InputWritten,
            code => code,
        }
    }
}

/// What buffer number `position` is called and for.
pub(super) fn describe_buffer(recording: &Recording, position: usize) -> (String, Role) {
    match recording.tensors.get(position) {
        Some(tensor) => (tensor.name.clone(), tensor.role),
        None => (format!("scratch {}", position - recording.tensors.len()), Role::Scratch),
    }
}

impl NamedBuffer {
    /// Address of its first byte.
    pub(super) fn address(&self) -> DevicePtr {
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
                "{} bytes past the end of `{name}` ({len} bytes)",
                address - start - len
            ),
            _ if address < start => format!("{} bytes before the start of `{name}`", start - address),
            _ => format!("byte {} of the read-only `{name}`", address - start),
        })
    }
}
