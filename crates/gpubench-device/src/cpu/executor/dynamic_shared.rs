//! The dynamic shared memory of a block.

use std::io;

use super::fault::{Access, FaultKind};
use super::launch::MAX_DYNAMIC_SHARED;
use super::margin::Margin;
use crate::guarded::Reserved;

const PAGE: usize = 4096;
/// Most a launch may ask for, and room for a margin.
const MEMORY_BYTES: usize = (MAX_DYNAMIC_SHARED as usize + ALIGNMENT).next_multiple_of(PAGE);
/// Inaccessible bytes on either side, as beside a buffer.
const GUARD_BYTES: usize = 1 << 20;
/// What the memory's start is a multiple of: the largest vectors of a processor, and more than a
/// GPU needs for any.
const ALIGNMENT: usize = 128;

/// Memory for the dynamic shared memory of the blocks that one thread runs, one after the other. It
/// ends at an inaccessible page, or as close to it as its alignment permits: the bytes in between,
/// and some in front, hold noise.
pub(super) struct DynamicShared {
    mapping: Reserved,
    asked: u32,
    /// Whether noise lies beside the memory.
    has_margins: bool,
}

impl DynamicShared {
    pub(super) fn new() -> io::Result<DynamicShared> {
        let mapping = Reserved::new(GUARD_BYTES + MEMORY_BYTES + GUARD_BYTES)?;
        mapping.open(GUARD_BYTES..GUARD_BYTES + MEMORY_BYTES)?;
        Ok(DynamicShared {
            mapping,
            asked: 0,
            has_margins: false,
        })
    }

    /// Where it begins. Where none is asked for it has no accessible byte, and neither has what
    /// lies in front of it.
    fn start(&self) -> *mut u8 {
        let end = GUARD_BYTES + MEMORY_BYTES;
        let offset = match self.asked as usize {
            0 => end + GUARD_BYTES / 2,
            asked => end - asked.next_multiple_of(ALIGNMENT),
        };
        self.mapping.at(offset)
    }

    /// Makes it ready for a launch that asks for so many bytes, at most [`MAX_DYNAMIC_SHARED`], and
    /// says where it begins.
    pub(super) fn prepare(&mut self, asked: u32) -> *mut u8 {
        if self.asked != asked || !self.has_margins {
            self.asked = asked;
            for (_, margin) in self.margins() {
                // SAFETY: the margins lie in the accessible part of the mapping, beside the memory;
                // nobody uses it now.
                unsafe { margin.fill() };
            }
            self.has_margins = true;
        }
        self.start()
    }

    /// Where a block that has ended wrote beside the memory. [`prepare`](Self::prepare) fills the
    /// noise in again.
    pub(super) fn overrun(&mut self) -> Option<FaultKind> {
        let offset = self.margins().into_iter().find_map(|(first, margin)| {
            // SAFETY: as in `prepare`.
            Some(first + unsafe { margin.changed() }? as i64)
        })?;
        self.has_margins = false;
        Some(FaultKind::DynamicShared {
            access: Access::Write,
            offset,
            asked: self.asked,
        })
    }

    /// Names the memory where a stray access met one of the inaccessible pages beside it.
    pub(super) fn name(&self, kind: FaultKind) -> FaultKind {
        match kind {
            FaultKind::Access { address, access }
                if access != Access::Unknown && self.mapping.addresses().contains(&address) =>
            {
                FaultKind::DynamicShared {
                    access,
                    offset: address as i64 - self.start() as i64,
                    asked: self.asked,
                }
            }
            kind => kind,
        }
    }

    /// As many bytes in front as there can be behind, and those between the end and the
    /// inaccessible page; with where each begins, from the memory's start.
    fn margins(&self) -> [(i64, Margin); 2] {
        let asked = self.asked as usize;
        let front = if asked == 0 { 0 } else { ALIGNMENT };
        [
            (-(front as i64), front),
            (asked as i64, asked.next_multiple_of(ALIGNMENT) - asked),
        ]
        .map(|(first, len)| {
            let start = self.start().wrapping_offset(first as isize);
            (first, Margin { start, len })
        })
    }
}
