//! Writes to one word of a process, counted in hardware.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;

use super::attribute::{PerfAttribute, Scope, flag};
use crate::BpfError;

/// Counts the writes that a thread, and threads and processes that it starts later, make to four
/// bytes of memory.
///
/// The process runs unchanged code and cannot read the watchpoint. A processor has four for each
/// thread. Memory that is moved (`mremap`), or mapped a second time, is not watched there.
#[derive(Debug)]
pub struct Watchpoint(File);

const BREAKPOINT: u32 = 5;
const ON_WRITE: u32 = 2;
const BYTES: u64 = 4;

impl Watchpoint {
    /// Watches the four bytes at `address` in the process of `thread`.
    ///
    /// # Errors
    ///
    /// If the process is another user's, `perf_event_paranoid` forbids it, or the thread has four.
    pub fn on_writes(thread: u32, address: u64) -> Result<Watchpoint, BpfError> {
        let flags = flag::INHERIT | flag::EXCLUDE_KERNEL | flag::EXCLUDE_HYPERVISOR;
        let attribute = PerfAttribute::new(BREAKPOINT, 0, flags)
            .word(52, ON_WRITE)
            .double(56, address)
            .double(64, BYTES);
        // SAFETY: the address is of the watched process, and this one does not use it.
        let event: Result<OwnedFd, _> = unsafe { attribute.open(Scope::Thread(thread)) };
        event
            .map(|event| Watchpoint(event.into()))
            .map_err(|source| BpfError::Refused {
                what: "watch memory of a process",
                source,
            })
    }

    /// Returns how many writes there were until now.
    ///
    /// # Errors
    ///
    /// If the kernel does not tell.
    pub fn writes(&self) -> Result<u64, BpfError> {
        let mut count = [0; 8];
        (&self.0).read_exact(&mut count).map_err(|source| BpfError::Refused {
            what: "read a watchpoint",
            source,
        })?;
        Ok(u64::from_ne_bytes(count))
    }
}
