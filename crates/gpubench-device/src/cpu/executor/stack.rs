//! Stacks of a kernel's threads.

use std::io;
use std::num::NonZeroUsize;

use corosensei::stack::{Stack, StackPointer};

/// Usable bytes of a thread's stack; reserved, not committed, until they are touched.
pub(super) const STACK_BYTES: usize = 256 * 1024;
/// Inaccessible bytes below it. Frames are probed page by page, so one page would do; kernels built elsewhere may not probe.
const GUARD_BYTES: usize = 64 * 1024;
const PAGE: usize = 4096;
/// Distance by which successive stacks are shifted inside a page. Frames at equal offsets of their pages would fall on the same cache sets
/// and make loads wait for unrelated stores: measured 2 to 3 times slower barriers.
const COLOUR_STEP: usize = 320;

/// A stack with a guard below it.
pub(super) struct GuardedStack {
    mapping: NonZeroUsize,
    base: StackPointer,
}

impl GuardedStack {
    /// Maps a stack; `number` colours it.
    pub(super) fn new(number: usize) -> io::Result<GuardedStack> {
        let bytes = GUARD_BYTES + STACK_BYTES;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: a fresh anonymous mapping touches nothing that exists.
        let mapping = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
        if mapping == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the upper part of the mapping just made.
        let usable = unsafe { mapping.byte_add(GUARD_BYTES) };
        // SAFETY: as above.
        if unsafe { libc::mprotect(usable, STACK_BYTES, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            let error = io::Error::last_os_error();
            // SAFETY: the mapping made above, which nobody uses.
            unsafe { libc::munmap(mapping, bytes) };
            return Err(error);
        }
        let colour = (number * COLOUR_STEP) % PAGE;
        let mapping = NonZeroUsize::new(mapping as usize).ok_or(io::ErrorKind::OutOfMemory)?;
        let base = mapping.checked_add(bytes - colour).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(GuardedStack { mapping, base })
    }

    /// Addresses of the guard.
    pub(super) fn guard(&self) -> std::ops::Range<usize> {
        self.mapping.get()..self.mapping.get() + GUARD_BYTES
    }
}

// SAFETY: the guard is part of the mapping, the base is a multiple of 64, and at least `STACK_BYTES - PAGE` bytes are usable.
unsafe impl Stack for GuardedStack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.mapping
    }
}

impl Drop for GuardedStack {
    fn drop(&mut self) {
        // SAFETY: the mapping is this stack's own.
        unsafe { libc::munmap(self.mapping.get() as *mut libc::c_void, GUARD_BYTES + STACK_BYTES) };
    }
}
