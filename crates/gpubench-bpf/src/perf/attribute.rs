//! What `perf_event_open(2)` is asked for.

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

/// `struct perf_event_attr`, with the fields that are used here. The others are zero.
#[derive(Clone, Debug)]
#[repr(C, align(8))]
pub(super) struct PerfAttribute([u8; PerfAttribute::LENGTH]);

/// Whose events.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope {
    /// Of one thread, on all processors.
    Thread(u32),
    /// Of one process, on one processor: needed for rings of inherited events.
    ProcessOn(u32, u32),
    /// Of all processes on one processor.
    Processor(u32),
}

/// Bits of the attribute's flags.
pub(super) mod flag {
    pub(in crate::perf) const INHERIT: u64 = 1 << 1;
    pub(in crate::perf) const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub(in crate::perf) const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    pub(in crate::perf) const MAPPED_CODE: u64 = 1 << 8;
    pub(in crate::perf) const COMMAND: u64 = 1 << 9;
    pub(in crate::perf) const TASK: u64 = 1 << 13;
    pub(in crate::perf) const MAPPED_DATA: u64 = 1 << 17;
    pub(in crate::perf) const SAMPLE_ID_ALL: u64 = 1 << 18;
    pub(in crate::perf) const MAPPED_WITH_INODE: u64 = 1 << 23;
    pub(in crate::perf) const COMMAND_EXEC: u64 = 1 << 24;
    pub(in crate::perf) const USE_CLOCK: u64 = 1 << 25;
}

impl PerfAttribute {
    const LENGTH: usize = 136;

    pub(super) fn new(source: u32, configuration: u64, flags: u64) -> PerfAttribute {
        PerfAttribute([0; PerfAttribute::LENGTH])
            .word(0, source)
            .word(4, PerfAttribute::LENGTH as u32)
            .double(8, configuration)
            .double(40, flags)
    }

    pub(super) fn word(mut self, at: usize, value: u32) -> PerfAttribute {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    pub(super) fn double(mut self, at: usize, value: u64) -> PerfAttribute {
        self.0[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        self
    }

    /// Opens the event. Its descriptor closes on exec.
    ///
    /// # Safety
    ///
    /// Each address in the attribute that the kernel reads in this process is of live memory.
    pub(super) unsafe fn open(&self, scope: Scope) -> io::Result<OwnedFd> {
        let (pid, processor) = match scope {
            Scope::Thread(thread) => (thread.cast_signed(), -1),
            Scope::ProcessOn(pid, processor) => (pid.cast_signed(), processor.cast_signed()),
            Scope::Processor(processor) => (-1, processor.cast_signed()),
        };
        const NO_GROUP: i32 = -1;
        const CLOSE_ON_EXEC: libc::c_ulong = 8;
        let attribute = self.0.as_ptr();
        // SAFETY: the attribute is as long as it says, and the caller vouches for its addresses.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                attribute,
                pid,
                processor,
                NO_GROUP,
                CLOSE_ON_EXEC,
            )
        };
        match i32::try_from(descriptor) {
            // SAFETY: the kernel has just made it, for us alone.
            Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
