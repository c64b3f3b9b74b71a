//! Rings of perf records, one for each processor.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Record;
use super::attribute::{PerfAttribute, Scope, flag};
use crate::BpfError;
use crate::syscall::page_size;

/// Whose records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// One process and what it starts from now on. Its later threads too, but not those it has.
    Process(u32),
    /// All processes. Needs `CAP_PERFMON`.
    System,
}

/// Records of what processes map, fork, execute, and of their ends.
#[derive(Debug)]
pub struct Records(Vec<ProcessorRing>);

const SOFTWARE: u32 = 1;
/// An event that never happens, only its records.
const DUMMY: u64 = 9;
/// Records carry thread and time.
const THREAD_AND_TIME: u64 = 2 | 4;
const DATA_PAGES: usize = 16;
const CLOCK_MONOTONIC: u32 = 1;

impl Records {
    /// Begins to record.
    ///
    /// # Errors
    ///
    /// If the process is another user's, or `perf_event_paranoid` forbids it.
    pub fn open(watched: Watched) -> Result<Records, BpfError> {
        let of_all = flag::EXCLUDE_KERNEL
            | flag::EXCLUDE_HYPERVISOR
            | flag::MAPPED_CODE
            | flag::MAPPED_WITH_INODE
            | flag::COMMAND
            | flag::COMMAND_EXEC
            | flag::TASK
            | flag::SAMPLE_ID_ALL
            | flag::USE_CLOCK;
        let flags = match watched {
            Watched::Process(_) => of_all | flag::INHERIT | flag::MAPPED_DATA,
            Watched::System => of_all,
        };
        let attribute = PerfAttribute::new(SOFTWARE, DUMMY, flags)
            .double(24, THREAD_AND_TIME)
            .word(92, CLOCK_MONOTONIC);
        let mut rings = Vec::new();
        for processor in online_processors() {
            let scope = match watched {
                Watched::Process(pid) => Scope::ProcessOn(pid, processor),
                Watched::System => Scope::Processor(processor),
            };
            // SAFETY: this attribute has no addresses.
            let event = unsafe { attribute.open(scope) }.map_err(|source| BpfError::Refused {
                what: "record what processes map",
                source,
            })?;
            rings.push(ProcessorRing::map(event)?);
        }
        Ok(Records(rings))
    }

    /// Returns the records since the last call, in the order of time.
    pub fn read(&mut self) -> Vec<Record> {
        let mut records: Vec<Record> = self.0.iter_mut().flat_map(ProcessorRing::read).collect();
        records.sort_by_key(|record| record.at);
        records
    }
}

/// The records of one processor.
#[derive(Debug)]
struct ProcessorRing {
    start: NonNull<u8>,
    #[expect(dead_code, reason = "the descriptor holds the event")]
    event: OwnedFd,
}

// SAFETY: the mapping is the same in all threads, and is used through `&mut` alone.
unsafe impl Send for ProcessorRing {}

/// Where the writer's and the reader's positions are in the first page.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

impl ProcessorRing {
    fn map(event: OwnedFd) -> Result<ProcessorRing, BpfError> {
        // SAFETY: the kernel chooses a free place, so no other memory changes.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(start.cast()).filter(|_| start != libc::MAP_FAILED) {
            Some(start) => Ok(ProcessorRing { start, event }),
            None => Err(BpfError::last("map perf records")),
        }
    }

    fn position(&self, at: usize) -> &AtomicU64 {
        // SAFETY: both positions are 8 aligned bytes of the first page, which lives as `self` does.
        unsafe { self.start.add(at).cast::<AtomicU64>().as_ref() }
    }

    fn read(&mut self) -> Vec<Record> {
        let head = self.position(HEAD).load(Ordering::Acquire);
        let mut tail = self.position(TAIL).load(Ordering::Relaxed);
        let mut found = Vec::new();
        while tail + 8 <= head {
            let header = self.copy(tail, 8);
            let length = u64::from(u16::from_ne_bytes([header[6], header[7]]));
            if length < 8 || tail + length > head {
                break;
            }
            found.extend(Record::read(&self.copy(tail, length as usize)));
            tail += length;
        }
        self.position(TAIL).store(tail, Ordering::Release);
        found
    }

    /// Copies bytes out of the ring. They may go over its end.
    fn copy(&self, at: u64, length: usize) -> Vec<u8> {
        let size = DATA_PAGES * page_size();
        let byte = |index| {
            let place = page_size() + ((at as usize).wrapping_add(index) & (size - 1));
            // SAFETY: the place is in the data, where the kernel does not write before the tail.
            unsafe { self.start.add(place).read() }
        };
        (0..length).map(byte).collect()
    }
}

impl Drop for ProcessorRing {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference to it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), length()) };
    }
}

fn length() -> usize {
    (1 + DATA_PAGES) * page_size()
}

/// Returns the numbers of the processors that run: `0-3,8` in the kernel's list.
fn online_processors() -> Vec<u32> {
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let found: Vec<u32> = list.trim().split(',').filter_map(range).flatten().collect();
    if found.is_empty() { vec![0] } else { found }
}

fn range(text: &str) -> Option<std::ops::RangeInclusive<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}
