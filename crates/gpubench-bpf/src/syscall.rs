//! The system call `bpf`, and its attributes as bytes.

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

/// A command of `bpf(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Command {
    MapCreate = 0,
    MapLookup = 1,
    MapUpdate = 2,
    MapDelete = 3,
    ProgramLoad = 5,
    ProgramNextId = 11,
    MapNextId = 12,
    ObjectInfo = 15,
    RawTracepointOpen = 17,
    MapLookupBatch = 24,
    LinkCreate = 28,
    LinkNextId = 31,
}

/// The longest attribute used, in bytes. The kernel takes longer ones than it knows if the rest is
/// zero.
const LENGTH: usize = 128;

/// The attribute of a command. All that is not set is zero.
#[derive(Clone, Debug)]
#[repr(C, align(8))]
pub(crate) struct Attribute([u8; LENGTH]);

impl Attribute {
    pub(crate) fn new() -> Attribute {
        Attribute([0; LENGTH])
    }

    pub(crate) fn bytes(mut self, at: usize, bytes: &[u8]) -> Attribute {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    pub(crate) fn word(self, at: usize, value: u32) -> Attribute {
        self.bytes(at, &value.to_ne_bytes())
    }

    pub(crate) fn double(self, at: usize, value: u64) -> Attribute {
        self.bytes(at, &value.to_ne_bytes())
    }

    /// Sets an address. What it points to must outlive the call.
    pub(crate) fn pointer<T: ?Sized>(self, at: usize, to: *const T) -> Attribute {
        self.double(at, to.cast::<u8>().addr() as u64)
    }

    pub(crate) fn read_word(&self, at: usize) -> u32 {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&self.0[at..at + 4]);
        u32::from_ne_bytes(bytes)
    }
}

/// Calls `bpf(2)` and returns what it returns, never a negative number.
///
/// # Safety
///
/// Each address in the attribute points to as much memory as the command uses.
pub(crate) unsafe fn bpf(command: Command, attribute: &mut Attribute) -> io::Result<i32> {
    // SAFETY: the attribute is as long as told, and the caller vouches for its addresses.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command as i32, &raw mut attribute.0, LENGTH) };
    match i32::try_from(result) {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Calls `bpf(2)` for a command that returns a new descriptor, which closes on exec.
///
/// # Safety
///
/// As for [`bpf`]; and the command returns a descriptor.
pub(crate) unsafe fn bpf_descriptor(command: Command, attribute: &mut Attribute) -> io::Result<OwnedFd> {
    // SAFETY: as the caller vouches.
    let descriptor = unsafe { bpf(command, attribute) }?;
    // SAFETY: the kernel has just made it, for us alone. All of `bpf`'s close on exec.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Returns the size of a page of memory, in bytes.
pub(crate) fn page_size() -> usize {
    // SAFETY: it has no preconditions.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}
