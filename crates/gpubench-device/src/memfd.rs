//! Memory that processes share through memfds, mapped between guard pages. The CPU device uses it
//! for all memory; every device uses it for what the referee shares with the author.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous};

use super::guarded::Reserved;
use super::{Access, DeviceError, DevicePtr, Freeze, Memory};

/// The page size in bytes, which is the granularity of allocations.
pub const PAGE: u64 = 4096;

/// Size of the inaccessible range on each side of a mapping, in bytes. Shorter overruns fault;
/// address space costs nothing.
pub const GUARD: u64 = 1 << 20;

/// The allocations and mappings of one process.
#[derive(Debug, Default)]
pub struct MemfdTable {
    shared: HashMap<Memory, SharedAllocation>,
    private: HashMap<DevicePtr, Reserved>,
    next: u32,
}

#[derive(Debug)]
struct SharedAllocation {
    descriptor: OwnedFd,
    bytes: u64,
    mapping: Option<(Reserved, Access)>,
}

impl SharedAllocation {
    /// Maps the allocation at the start of a mapping, in place of what is mapped there.
    fn map_at(&self, (range, access): &(Reserved, Access)) -> Result<(), DeviceError> {
        let protection = match access {
            Access::Read => ProtFlags::READ,
            Access::ReadWrite => ProtFlags::READ | ProtFlags::WRITE,
        };
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: the target lies inside a range that was reserved for an allocation of this size,
        // and that nothing else uses.
        unsafe {
            mmap(
                range.at(GUARD as usize).cast(),
                self.bytes as usize,
                protection,
                flags,
                &self.descriptor,
                0,
            )
        }
        .map(drop)
        .map_err(|error| DeviceError::Os {
            what: "mapping a shared buffer",
            source: error.into(),
        })
    }
}

impl MemfdTable {
    /// Creates a shareable allocation of `bytes`.
    ///
    /// # Errors
    /// When there is no memory or descriptor for it.
    pub fn create(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let make = || -> std::io::Result<OwnedFd> {
            let descriptor = memfd_create("gpubench-buffer", flags)?;
            ftruncate(&descriptor, bytes)?;
            Ok(descriptor)
        };
        let descriptor = make().map_err(|source| DeviceError::OutOfMemory { bytes, source })?;
        Ok(self.insert(descriptor, bytes))
    }

    /// Imports an allocation of `bytes` from another process.
    ///
    /// # Errors
    /// When the descriptor cannot be examined, or its size is not `bytes`.
    pub fn import(&mut self, descriptor: OwnedFd, bytes: u64) -> Result<Memory, DeviceError> {
        let size = fstat(&descriptor)
            .map_err(|error| DeviceError::ForeignMemory(error.to_string()))?
            .st_size;
        if u64::try_from(size) != Ok(bytes) {
            return Err(other_size(size as u64, bytes));
        }
        Ok(self.insert(descriptor, bytes))
    }

    fn insert(&mut self, descriptor: OwnedFd, bytes: u64) -> Memory {
        let memory = Memory(self.next);
        self.next += 1;
        self.shared.insert(
            memory,
            SharedAllocation {
                descriptor,
                bytes,
                mapping: None,
            },
        );
        memory
    }

    /// Returns a descriptor of an allocation, for another process.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    pub fn export(&self, memory: Memory) -> Result<OwnedFd, DeviceError> {
        let os = |source| DeviceError::Os {
            what: "duplicating a descriptor",
            source,
        };
        self.get(memory)?.descriptor.as_fd().try_clone_to_owned().map_err(os)
    }

    /// Freezes an allocation: its size, or also its contents for new mappings.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn freeze(&self, memory: Memory, freeze: Freeze) -> Result<(), DeviceError> {
        let size = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        let seals = match freeze {
            Freeze::Size => size,
            Freeze::SizeAndContents => size | SealFlags::FUTURE_WRITE,
        };
        fcntl_add_seals(&self.get(memory)?.descriptor, seals).map_err(|error| DeviceError::Os {
            what: "sealing a buffer",
            source: error.into(),
        })
    }

    /// Maps an allocation between two guard ranges.
    ///
    /// # Errors
    /// When the operating system refuses, or has no addresses left.
    pub fn map(&mut self, memory: Memory, access: Access) -> Result<DevicePtr, DeviceError> {
        let allocation = self.shared.get_mut(&memory).ok_or_else(unknown_memory)?;
        let (range, start) = reserve(allocation.bytes)?;
        let mapping = (range, access);
        allocation.map_at(&mapping)?;
        allocation.mapping = Some(mapping);
        Ok(DevicePtr(start as u64))
    }

    /// Maps `new` where `old` is mapped, instead of `old`, which stays allocated.
    ///
    /// # Errors
    /// When `old` is not mapped, `new` has another size, or the operating system refuses; then
    /// `old` is mapped as before.
    pub fn remap(&mut self, old: Memory, new: Memory) -> Result<(), DeviceError> {
        let (target, bytes) = (self.get(new)?, self.get(old)?.bytes);
        if target.bytes != bytes {
            return Err(other_size(target.bytes, bytes));
        }
        let mapping = self.get(old)?.mapping.as_ref().ok_or_else(unmapped)?;
        // The system call replaces the mapping as a whole, or leaves it.
        target.map_at(mapping)?;
        let mapping = self.shared.get_mut(&old).and_then(|old| old.mapping.take());
        self.shared.get_mut(&new).ok_or_else(unknown_memory)?.mapping = mapping;
        Ok(())
    }

    /// Unmaps an allocation and releases it.
    pub fn release(&mut self, memory: Memory) {
        self.shared.remove(&memory);
    }

    /// Creates and maps a private allocation.
    ///
    /// # Errors
    /// As [`create`](Self::create) and [`map`](Self::map).
    pub fn alloc(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let bytes = bytes.max(1).next_multiple_of(PAGE);
        let (mapping, start) = reserve(bytes)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: the target lies inside the range just reserved, which nothing else uses.
        unsafe { mmap_anonymous(start.cast(), bytes as usize, protection, flags) }.map_err(|error| {
            DeviceError::OutOfMemory {
                bytes,
                source: error.into(),
            }
        })?;
        let address = DevicePtr(start as u64);
        self.private.insert(address, mapping);
        Ok(address)
    }

    /// Unmaps and releases the private allocation at an address.
    pub fn free(&mut self, address: DevicePtr) {
        self.private.remove(&address);
    }

    fn get(&self, memory: Memory) -> Result<&SharedAllocation, DeviceError> {
        self.shared.get(&memory).ok_or_else(unknown_memory)
    }
}

pub(crate) fn other_size(bytes: u64, expected: u64) -> DeviceError {
    DeviceError::ForeignMemory(format!("it has {bytes} bytes instead of {expected}"))
}

pub(crate) fn unmapped() -> DeviceError {
    DeviceError::ForeignMemory("it is not mapped".to_owned())
}

fn unknown_memory() -> DeviceError {
    DeviceError::ForeignMemory("it has been released".to_owned())
}

/// Reserves addresses for `bytes` bytes between two guard ranges. Returns the reservation and the
/// first of those addresses.
fn reserve(bytes: u64) -> Result<(Reserved, *mut u8), DeviceError> {
    let out_of_memory = |error: rustix::io::Errno| DeviceError::OutOfMemory {
        bytes,
        source: error.into(),
    };
    let all = bytes
        .checked_add(2 * GUARD)
        .and_then(|bytes| usize::try_from(bytes).ok());
    let reserved = all
        .ok_or(rustix::io::Errno::NOMEM)
        .and_then(Reserved::new)
        .map_err(out_of_memory)?;
    let start = reserved.at(GUARD as usize);
    Ok((reserved, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_at<'a>(address: DevicePtr, len: usize) -> &'a mut [u8] {
        // SAFETY: the tests pass addresses of live mappings of at least `len` bytes and use one
        // slice at a time.
        unsafe { std::slice::from_raw_parts_mut(address.0 as *mut u8, len) }
    }

    #[test]
    fn mappings_share_their_bytes() {
        let (mut ours, mut theirs) = (MemfdTable::default(), MemfdTable::default());
        let memory = ours.create(PAGE).unwrap();
        let near = ours.map(memory, Access::ReadWrite).unwrap();
        let imported = theirs.import(ours.export(memory).unwrap(), PAGE).unwrap();
        let far = theirs.map(imported, Access::Read).unwrap();
        bytes_at(near, 4096)[4095] = 9;
        assert_eq!(bytes_at(far, 4096)[4095], 9);
    }

    #[test]
    fn a_frozen_input_cannot_be_truncated_or_mapped_for_writing() {
        let (mut ours, mut theirs) = (MemfdTable::default(), MemfdTable::default());
        let memory = ours.create(PAGE).unwrap();
        let near = ours.map(memory, Access::ReadWrite).unwrap();
        ours.freeze(memory, Freeze::SizeAndContents).unwrap();
        bytes_at(near, 1)[0] = 1;

        let descriptor = ours.export(memory).unwrap();
        assert!(ftruncate(&descriptor, 0).is_err());
        let imported = theirs.import(descriptor, PAGE).unwrap();
        assert!(theirs.map(imported, Access::ReadWrite).is_err());
        assert!(theirs.map(imported, Access::Read).is_ok());
    }

    #[test]
    fn new_memory_takes_the_addresses_and_the_access_of_the_old_which_keeps_its_bytes() {
        let (mut ours, mut theirs) = (MemfdTable::default(), MemfdTable::default());
        let [old, new] = [9, 0].map(|byte| (ours.create(PAGE).unwrap(), byte));
        let near = ours.map(old.0, Access::ReadWrite).unwrap();
        bytes_at(near, 1)[0] = old.1;
        let imported = theirs.import(ours.export(old.0).unwrap(), PAGE).unwrap();
        let far = theirs.map(imported, Access::Read).unwrap();

        ours.remap(old.0, new.0).unwrap();
        assert_eq!((bytes_at(near, 1)[0], bytes_at(far, 1)[0]), (new.1, old.1));
        bytes_at(near, 1)[0] = 7;
        assert_eq!(bytes_at(far, 1)[0], old.1);

        ours.freeze(new.0, Freeze::SizeAndContents).unwrap();
        let fresh = theirs.import(ours.export(new.0).unwrap(), PAGE).unwrap();
        theirs.remap(imported, fresh).unwrap();
        assert_eq!(bytes_at(far, 1)[0], 7);
        ours.release(old.0);
        theirs.release(imported);
        assert_eq!((bytes_at(near, 1)[0], bytes_at(far, 1)[0]), (7, 7));
    }

    #[test]
    fn memory_that_cannot_be_remapped_leaves_the_mapping_as_it_was() {
        let mut table = MemfdTable::default();
        let (old, longer, frozen) = (
            table.create(PAGE).unwrap(),
            table.create(2 * PAGE).unwrap(),
            table.create(PAGE).unwrap(),
        );
        assert!(table.remap(old, frozen).is_err(), "it is not mapped");
        let address = table.map(old, Access::ReadWrite).unwrap();
        bytes_at(address, 1)[0] = 3;
        table.freeze(frozen, Freeze::SizeAndContents).unwrap();
        for refused in [longer, frozen, Memory(99)] {
            assert!(table.remap(old, refused).is_err(), "{refused:?}");
            assert_eq!(bytes_at(address, 1)[0], 3);
        }
    }

    #[test]
    fn importing_with_the_wrong_size_fails() {
        let (mut ours, mut theirs) = (MemfdTable::default(), MemfdTable::default());
        let memory = ours.create(PAGE).unwrap();
        assert!(theirs.import(ours.export(memory).unwrap(), 2 * PAGE).is_err());
    }
}
