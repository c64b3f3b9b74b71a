//! Records that programs wrote, in the order of all processors.

use std::os::fd::AsRawFd as _;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::syscall::page_size;
use crate::{BpfError, Map, MapKind};

/// The reader's side of a ring. Programs write to its [`Ring::map`].
///
/// Programs do not wake the reader: it polls. A ring of `b` bytes loses nothing while fewer than
/// `b` bytes of records, 8 bytes of header each, are written between two polls.
#[derive(Debug)]
pub struct Ring {
    map: Map,
    size: usize,
    /// A page with the reader's position, which only this process writes.
    consumer: Mapping,
    /// A page with the writers' position, then the data twice, so that no record is cut.
    producer: Mapping,
}

/// The kernel is still writing the record.
const BUSY: u32 = 1 << 31;
/// The program gave the record up.
const DISCARDED: u32 = 1 << 30;
const HEADER: usize = 8;

impl Ring {
    /// Creates a ring of `bytes`, a power of two of at least a page.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn create(bytes: u32) -> Result<Ring, BpfError> {
        let map = Map::create(MapKind::Ring, 0, 0, bytes, "gpubench_ring")?;
        let size = bytes as usize;
        let consumer = Mapping::new(&map, 0, page_size(), libc::PROT_READ | libc::PROT_WRITE)?;
        let producer = Mapping::new(&map, page_size(), page_size() + 2 * size, libc::PROT_READ)?;
        Ok(Ring {
            map,
            size,
            consumer,
            producer,
        })
    }

    /// Returns the map that programs write records to.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Gives the records written until now to `sink`, in order, and returns how many they were.
    pub fn drain(&mut self, sink: &mut dyn FnMut(&[u8])) -> usize {
        // SAFETY: both mappings begin with a position of 8 bytes, aligned to a page, and live as
        // long as `self`.
        let (consumed, produced) = unsafe {
            (
                self.consumer.start.cast::<AtomicU64>().as_ref(),
                self.producer.start.cast::<AtomicU64>().as_ref(),
            )
        };
        // A writer that never rests does not keep the reader here for ever.
        let end = produced.load(Ordering::Acquire);
        let mut at = consumed.load(Ordering::Relaxed);
        let mut records = 0;
        while at < end {
            let place = page_size() + (at as usize & (self.size - 1));
            // SAFETY: records start at multiples of 8 below the writers' position, in the data.
            let header = unsafe { self.producer.start.byte_add(place).cast::<AtomicU32>().as_ref() };
            let header = header.load(Ordering::Acquire);
            if header & BUSY != 0 {
                break;
            }
            let length = (header & !(BUSY | DISCARDED)) as usize;
            if header & DISCARDED == 0 {
                // SAFETY: the record is whole, the second mapping of the data continues the first,
                // and the kernel writes there only after the reader's position moved.
                let record = unsafe {
                    let start = self.producer.start.byte_add(place + HEADER).cast::<u8>();
                    std::slice::from_raw_parts(start.as_ptr(), length)
                };
                sink(record);
                records += 1;
            }
            at += (HEADER + length).next_multiple_of(8) as u64;
            consumed.store(at, Ordering::Release);
        }
        records
    }
}

/// A part of a map in this process's memory.
#[derive(Debug)]
struct Mapping {
    start: NonNull<libc::c_void>,
    length: usize,
}

// SAFETY: the memory belongs to the mapping and is the same in all threads. It is read and written
// through `&mut Ring` alone.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(map: &Map, offset: usize, length: usize, protection: i32) -> Result<Mapping, BpfError> {
        // SAFETY: the kernel chooses a free place, so no other memory changes.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                protection,
                libc::MAP_SHARED,
                map.as_raw_fd(),
                offset as libc::off_t,
            )
        };
        match NonNull::new(start).filter(|_| start != libc::MAP_FAILED) {
            Some(start) => Ok(Mapping { start, length }),
            None => Err(BpfError::last("map a ring")),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference to it is left.
        unsafe { libc::munmap(self.start.as_ptr(), self.length) };
    }
}
