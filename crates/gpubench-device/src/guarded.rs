//! Accessible memory between inaccessible addresses.

use std::ffi::c_void;
use std::ops::Range;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// A reserved address range of this process, inaccessible at first and released on drop. It takes
/// no memory.
#[derive(Debug)]
pub(crate) struct Reserved {
    start: *mut c_void,
    bytes: usize,
}

// SAFETY: it is a range of addresses that this value owns; sharing it between threads is like
// sharing an integer.
unsafe impl Send for Reserved {}

impl Reserved {
    /// Reserves a range of `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> rustix::io::Result<Reserved> {
        // `STACK`, because most ranges are stacks; Linux 6.7 and later does not use huge pages for
        // them.
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::STACK;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice overlaps nothing.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::empty(), flags) }?;
        Ok(Reserved { start, bytes })
    }

    /// Returns the address `offset` bytes after the start.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        self.start.cast::<u8>().wrapping_add(offset)
    }

    /// Returns all addresses.
    pub(crate) fn addresses(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.bytes
    }

    /// Backs a part of the range with readable and writable memory.
    pub(crate) fn open(&self, part: Range<usize>) -> rustix::io::Result<()> {
        assert!(part.end <= self.bytes, "the part lies inside");
        let access = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: the part lies in the range that this value owns, and nothing uses it yet.
        unsafe { mprotect(self.at(part.start).cast(), part.len(), access) }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: the range was reserved by `new` with this length and is owned by this value.
        let unmapped = unsafe { munmap(self.start, self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}
