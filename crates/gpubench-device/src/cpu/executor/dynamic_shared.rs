//! The dynamic shared memory of a block.

use std::io;

use super::fault::{Access, FaultKind};
use super::launch::{MAX_DYNAMIC_SHARED, ScheduleSeed};
use super::margin::{Margin, fill_with_noise};
use crate::guarded::Reserved;

const PAGE: usize = 4096;
/// The most memory of a launch, and space for a margin.
const MEMORY_BYTES: usize = (MAX_DYNAMIC_SHARED as usize + ALIGNMENT).next_multiple_of(PAGE);
/// Inaccessible bytes on each side, as for a buffer.
const GUARD_BYTES: usize = 1 << 20;
/// Alignment of the memory's start in bytes: enough for a processor's largest vectors, and more
/// than a GPU needs.
const ALIGNMENT: usize = 128;

/// The dynamic shared memory of the blocks that one thread runs. It ends at an inaccessible page,
/// or as close to it as its alignment permits. The bytes in between, some before the memory, and
/// at first the memory have noise.
pub(super) struct DynamicShared {
    mapping: Reserved,
    requested: u32,
    /// Whether there is noise around the memory.
    has_margins: bool,
}

impl DynamicShared {
    pub(super) fn new(order: ScheduleSeed) -> io::Result<DynamicShared> {
        let mapping = Reserved::new(GUARD_BYTES + MEMORY_BYTES + GUARD_BYTES)?;
        mapping.open(GUARD_BYTES..GUARD_BYTES + MEMORY_BYTES)?;
        // SAFETY: the memory is open, and nothing uses it yet.
        unsafe { fill_with_noise(mapping.at(GUARD_BYTES), MEMORY_BYTES, order) };
        Ok(DynamicShared {
            mapping,
            requested: 0,
            has_margins: false,
        })
    }

    /// Returns the start of the memory. If the launch has none, the start and the bytes before it
    /// are inaccessible.
    fn start(&self) -> *mut u8 {
        let end = GUARD_BYTES + MEMORY_BYTES;
        let offset = match self.requested as usize {
            0 => end + GUARD_BYTES / 2,
            requested => end - requested.next_multiple_of(ALIGNMENT),
        };
        self.mapping.at(offset)
    }

    /// Prepares a launch with `requested` bytes, at most [`MAX_DYNAMIC_SHARED`]. Returns the start
    /// of the memory.
    pub(super) fn prepare(&mut self, requested: u32) -> *mut u8 {
        if self.requested != requested || !self.has_margins {
            self.requested = requested;
            for (_, margin) in self.margins() {
                // SAFETY: the margins lie in the accessible part of the mapping, outside of the
                // memory; nothing uses it now.
                unsafe { margin.fill() };
            }
            self.has_margins = true;
        }
        self.start()
    }

    /// Returns an overrun by a block that has ended. [`prepare`](Self::prepare) restores the noise.
    pub(super) fn overrun(&mut self) -> Option<FaultKind> {
        let offset = self.margins().into_iter().find_map(|(first, margin)| {
            // SAFETY: as in `prepare`.
            Some(first + unsafe { margin.changed() }? as i64)
        })?;
        self.has_margins = false;
        Some(FaultKind::DynamicShared {
            access: Access::Write,
            offset,
            requested: self.requested,
        })
    }

    /// Turns an invalid access to one of the adjacent inaccessible pages into a fault of dynamic
    /// shared memory.
    pub(super) fn name(&self, kind: FaultKind) -> FaultKind {
        match kind {
            FaultKind::Access { address, access }
                if access != Access::Unknown && self.mapping.addresses().contains(&address) =>
            {
                FaultKind::DynamicShared {
                    access,
                    offset: address as i64 - self.start() as i64,
                    requested: self.requested,
                }
            }
            kind => kind,
        }
    }

    /// Returns the margins before and after the memory, each with its offset from the memory's
    /// start. The second reaches up to the inaccessible page; the first has the largest size that
    /// the second can have.
    fn margins(&self) -> [(i64, Margin); 2] {
        let requested = self.requested as usize;
        let front = if requested == 0 { 0 } else { ALIGNMENT };
        [
            (-(front as i64), front),
            (requested as i64, requested.next_multiple_of(ALIGNMENT) - requested),
        ]
        .map(|(first, len)| {
            let start = self.start().wrapping_offset(first as isize);
            (first, Margin { start, len })
        })
    }
}
