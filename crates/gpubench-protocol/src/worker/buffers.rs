//! A case's buffers in the worker's address space.

use gpubench::catalog::{Recording, Role};

use super::call::WHOLE_CALL;
use crate::wire::BufferLayout;
use gpubench_device::memfd::GUARD;
use gpubench_device::{Count, DevicePtr, Fault, FaultCode};

/// All tensors, then all scratch allocations of the plan.
pub(super) struct Buffers(pub(super) Vec<NamedBuffer>);

/// A buffer in the worker's address space.
#[derive(Clone, Debug)]
pub(super) struct NamedBuffer {
    pub(super) name: String,
    pub(super) role: Role,
    /// Start of the allocation.
    pub(super) mapping: DevicePtr,
    pub(super) layout: BufferLayout,
}

impl Buffers {
    /// Returns the buffers at some positions.
    pub(super) fn at(&self, positions: &[usize]) -> Buffers {
        Buffers(positions.iter().map(|position| self.0[*position].clone()).collect())
    }

    /// Returns the address and the bytes of each output, in tensor order.
    pub(super) fn outputs(&self) -> Vec<(DevicePtr, u64)> {
        let outputs = self.0.iter().filter(|buffer| buffer.role.is_output());
        outputs.map(|buffer| (buffer.address(), buffer.layout.len)).collect()
    }

    /// Returns the bytes that tensors and scratch have.
    pub(super) fn in_use(&self) -> Vec<Count> {
        let bytes = |is_scratch: bool| {
            let buffers = self
                .0
                .iter()
                .filter(|buffer| (buffer.role == Role::Scratch) == is_scratch);
            buffers.map(|buffer| buffer.layout.len).sum::<u64>() as f64
        };
        let count = |of: &str, value| Count {
            range: WHOLE_CALL.to_owned(),
            of: of.to_owned(),
            value,
        };
        vec![count("tensors", bytes(false)), count("scratch", bytes(true))]
    }

    /// Describes a fault with its kernel, and with the buffer near the address or the input that it
    /// must not write.
    pub(super) fn describe(&self, fault: &Fault, kernel: Option<&str>) -> String {
        let kernel = kernel.map_or("one of the kernels".to_owned(), |kernel| format!("kernel `{kernel}`"));
        let line = fault.line.as_ref().map_or(String::new(), |line| format!(" at {line}"));
        let text = format!("{kernel}{line}: {}", fault.text);
        match fault
            .address
            .and_then(|address| self.0.iter().find_map(|buffer| buffer.locate(address)))
        {
            Some(place) => format!("{text}, {place}"),
            None => text,
        }
    }

    /// Returns the code of a fault. A write to a read-only buffer has a code of its own.
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

/// Returns the name and the role of a buffer.
pub(super) fn describe_buffer(recording: &Recording, position: usize) -> (String, Role) {
    match recording.tensors.get(position) {
        Some(tensor) => (tensor.name.clone(), tensor.role),
        None => (format!("scratch {}", position - recording.tensors.len()), Role::Scratch),
    }
}

impl NamedBuffer {
    /// Returns the address of the first byte.
    pub(super) fn address(&self) -> DevicePtr {
        self.mapping.offset(self.layout.offset)
    }

    /// Describes an address relative to the buffer, if it is in the buffer or on a guard page next
    /// to it.
    fn locate(&self, address: u64) -> Option<String> {
        let (start, len) = (self.address().0, self.layout.len);
        let BufferLayout { front, back, .. } = self.layout;
        // Before the first and after the last buffer of an allocation are guard pages.
        let before = front + if front == self.layout.offset { GUARD } else { 0 };
        let is_last = self.layout.offset + len + back == self.layout.allocation;
        let after = back + if is_last { GUARD } else { 0 };
        if !(start.saturating_sub(before)..start + len + after).contains(&address) {
            return None;
        }
        let name = &self.name;
        Some(match address {
            _ if address >= start + len => {
                format!("{} bytes past the end of `{name}` ({len} bytes)", address - start - len)
            }
            _ if address < start => format!("{} bytes before the start of `{name}`", start - address),
            _ => format!("byte {} of the read-only `{name}`", address - start),
        })
    }
}
