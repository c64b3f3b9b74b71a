//! Stacks for the threads of a kernel.

use std::io;

use corosensei::stack::{Stack, StackPointer};

use crate::guarded::Reserved;

/// Usable bytes of a thread's stack. They are reserved, and committed on first use.
pub(super) const STACK_BYTES: usize = 256 * 1024;
/// Inaccessible bytes below it. Frames are probed page by page, so one page would do; kernels built
/// elsewhere may not probe.
const GUARD_BYTES: usize = 64 * 1024;
const PAGE: usize = 4096;
/// The shift of successive stacks inside a page, in bytes. Without it, frames at equal offsets of
/// their pages would share cache sets, and loads would wait for unrelated stores: barriers were
/// measured to be 2 to 3 times slower.
const SHIFT_STEP: usize = 320;

/// A stack with a guard below it.
pub(super) struct GuardedStack {
    mapping: Reserved,
    base: StackPointer,
}

impl GuardedStack {
    /// Maps a stack; `number` selects its shift.
    pub(super) fn new(number: usize) -> io::Result<GuardedStack> {
        let bytes = GUARD_BYTES + STACK_BYTES;
        let mapping = Reserved::new(bytes)?;
        mapping.open(GUARD_BYTES..bytes)?;
        let shift = (number * SHIFT_STEP) % PAGE;
        let base = StackPointer::new(mapping.at(bytes - shift) as usize).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(GuardedStack { mapping, base })
    }

    /// Returns the addresses of the guard.
    pub(super) fn guard(&self) -> std::ops::Range<usize> {
        let start = self.mapping.addresses().start;
        start..start + GUARD_BYTES
    }
}

// SAFETY: the guard is part of the mapping, the base is a multiple of 64, and at least
// `STACK_BYTES - PAGE` bytes are usable.
unsafe impl Stack for GuardedStack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        StackPointer::new(self.mapping.addresses().start).expect("no mapping begins at zero")
    }
}
