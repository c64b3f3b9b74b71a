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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two buffers of 100 bytes in a row, the second with its end at that of the allocation, and
    /// one of another allocation.
    fn buffers() -> Buffers {
        let layout = |offset, front, back| BufferLayout {
            allocation: 4096,
            offset,
            len: 100,
            front,
            back,
        };
        let buffer = |name: &str, role, start, layout| NamedBuffer {
            name: name.to_owned(),
            role,
            mapping: DevicePtr(start),
            layout,
        };
        let row = 1 << 40;
        Buffers(vec![
            buffer("x", Role::Input, row, layout(1000, 1000, 400)),
            buffer("y", Role::Output, row, layout(1500, 400, 2496)),
            buffer("scratch 0", Role::Scratch, 2 << 40, layout(3996, 3996, 0)),
        ])
    }

    fn fault(address: Option<u64>) -> Fault {
        Fault {
            code: FaultCode::OutOfBounds,
            launch: None,
            block: None,
            thread: None,
            address,
            line: None,
            text: "a write".into(),
        }
    }

    #[test]
    fn an_address_is_told_by_the_buffer_in_or_around_which_it_is() {
        let (row, other) = (1_u64 << 40, 2_u64 << 40);
        for (address, place) in [
            (row + 1000, "byte 0 of the read-only `x`"),
            (row + 1099, "byte 99 of the read-only `x`"),
            (row + 1100, "0 bytes past the end of `x` (100 bytes)"),
            (row + 999, "1 bytes before the start of `x`"),
            (row, "1000 bytes before the start of `x`"),
            (row - GUARD, &format!("{} bytes before the start of `x`", 1000 + GUARD)),
            (row + 1499, "399 bytes past the end of `x` (100 bytes)"),
            (row + 1500, "byte 0 of the read-only `y`"),
            (
                row + 4095 + GUARD,
                &format!("{} bytes past the end of `y` (100 bytes)", 2495 + GUARD),
            ),
            (other + 4096, "0 bytes past the end of `scratch 0` (100 bytes)"),
        ] {
            let text = buffers().describe(&fault(Some(address)), Some("spin"));
            assert_eq!(text, format!("kernel `spin`: a write, {place}"));
        }
        // The rest of the row belongs to its other buffers, whichever is looked at first.
        let mut reversed = buffers();
        reversed.0.reverse();
        let text = reversed.describe(&fault(Some(row + 1000)), None);
        assert_eq!(text, "one of the kernels: a write, byte 0 of the read-only `x`");
        for nowhere in [row - GUARD - 1, row + 4096 + GUARD, other + 4096 + GUARD, 7] {
            let text = buffers().describe(&fault(Some(nowhere)), None);
            assert_eq!(text, "one of the kernels: a write", "{nowhere:x}");
        }
        assert_eq!(buffers().describe(&fault(None), None), "one of the kernels: a write");
    }

    #[test]
    fn a_fault_inside_of_a_buffer_is_a_write_to_an_input() {
        let row = 1 << 40;
        for (address, code) in [
            (Some(row + 999), FaultCode::OutOfBounds),
            (Some(row + 1000), FaultCode::InputWritten),
            (Some(row + 1099), FaultCode::InputWritten),
            (Some(row + 1100), FaultCode::OutOfBounds),
            (None, FaultCode::OutOfBounds),
        ] {
            assert_eq!(buffers().code_of(&fault(address)), code, "{address:?}");
        }
        let other = Fault {
            code: FaultCode::HostCallFailed,
            ..fault(Some(row + 1000))
        };
        assert_eq!(buffers().code_of(&other), FaultCode::HostCallFailed);
    }

    #[test]
    fn memory_in_use_and_outputs_are_told_by_the_role() {
        let in_use = buffers().in_use();
        let found: Vec<_> = in_use.iter().map(|count| (count.of.as_str(), count.value)).collect();
        assert_eq!(found, [("tensors", 200.0), ("scratch", 100.0)]);
        assert_eq!(buffers().outputs(), [(DevicePtr((1 << 40) + 1500), 100)]);
        let names: Vec<_> = buffers().at(&[2, 0]).0.into_iter().map(|buffer| buffer.name).collect();
        assert_eq!(names, ["scratch 0", "x"]);
        let recording = crate::worker::tests::recording();
        let described = [1, 2, 3, 4].map(|position| describe_buffer(&recording, position));
        let [s, y, first, second] = described;
        assert_eq!((s, y), (("s".to_owned(), Role::InOut), ("y".to_owned(), Role::Output)));
        assert_eq!(first, ("scratch 0".to_owned(), Role::Scratch));
        assert_eq!(second.0, "scratch 1");
    }
}
