//! Private copies of a case's buffers, for calls under a sanitizer.
//!
//! The buffers that all roles share lie in larger allocations, with a redzone around them, and
//! another process memsets them. So a sanitizer would know neither where they end nor that they are
//! initialised. The copies have exactly the size of the buffers, and only inputs are copied to
//! them.

use gpubench::catalog::Role;

use super::buffers::{Buffers, NamedBuffer};
use crate::wire::BufferLayout;
use gpubench_device::{DeviceError, DevicePtr, Driver, Stream};

/// The copies that a call uses, with the buffers that they belong to.
pub(super) struct Copies(Vec<Private>);

struct Private {
    role: Role,
    own: DevicePtr,
    shared: DevicePtr,
    bytes: u64,
}

impl Copies {
    /// Allocates a copy of each buffer. Returns the copies, and the buffers that the call uses
    /// instead of `shared`.
    pub(super) fn new(driver: &mut dyn Driver, shared: &Buffers) -> Result<(Copies, Buffers), DeviceError> {
        let (mut copies, mut own) = (Vec::new(), Vec::new());
        for buffer in &shared.0 {
            let bytes = buffer.layout.len;
            let copy = driver.alloc(bytes)?;
            copies.push(Private {
                role: buffer.role,
                own: copy,
                shared: buffer.address(),
                bytes,
            });
            own.push(NamedBuffer {
                mapping: copy,
                layout: BufferLayout {
                    allocation: bytes,
                    offset: 0,
                    len: bytes,
                    front: 0,
                    back: 0,
                },
                ..buffer.clone()
            });
        }
        Ok((Copies(copies), Buffers(own)))
    }

    /// Copies what the call reads.
    pub(super) fn fill(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        let mut inputs = self.0.iter().filter(|copy| copy.role.is_input() && copy.bytes > 0);
        inputs.try_for_each(|copy| driver.copy(stream, copy.own, copy.shared, copy.bytes))
    }

    /// Copies the outputs of the call to where they are checked.
    pub(super) fn publish(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        let mut outputs = self.0.iter().filter(|copy| copy.role.is_output() && copy.bytes > 0);
        outputs.try_for_each(|copy| driver.copy(stream, copy.shared, copy.own, copy.bytes))
    }
}
