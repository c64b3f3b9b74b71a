//! Maps: memory that programs in the kernel and this process share.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::BpfError;
use crate::syscall::{Attribute, Command, bpf, bpf_descriptor};

/// What a map is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum MapKind {
    /// Entries by key, all allocated in advance.
    Hash = 1,
    /// Entries by number. All exist, zeroed.
    Array = 2,
    /// Entries by number, of which each processor has its own. All exist, zeroed.
    ProcessorArray = 6,
    /// The records that a [`Ring`](crate::Ring) reads. Its number of entries is its size in bytes.
    Ring = 27,
}

/// Which entries an update writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Update {
    /// Any.
    Any = 0,
    /// Only an entry that is not there.
    Absent = 1,
}

/// A map of the kernel.
#[derive(Debug)]
pub struct Map {
    descriptor: OwnedFd,
    key: usize,
    value: usize,
}

impl Map {
    /// Creates a map. `key` and `value` are sizes in bytes.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn create(kind: MapKind, key: usize, value: usize, entries: u32, name: &str) -> Result<Map, BpfError> {
        let mut attribute = Attribute::new()
            .word(0, kind as u32)
            .word(4, key as u32)
            .word(8, value as u32)
            .word(12, entries)
            .bytes(28, &object_name(name));
        // SAFETY: this attribute has no addresses.
        let descriptor = unsafe { bpf_descriptor(Command::MapCreate, &mut attribute) };
        let descriptor = descriptor.map_err(|source| BpfError::Refused {
            what: "create a BPF map",
            source,
        })?;
        Ok(Map { descriptor, key, value })
    }

    fn attribute(&self, key: &[u8]) -> Attribute {
        assert_eq!(key.len(), self.key, "the key has the map's size");
        Attribute::new()
            .word(0, self.as_raw_fd().cast_unsigned())
            .pointer(8, key.as_ptr())
    }

    /// Returns an entry, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    ///
    /// # Panics
    ///
    /// If `key` has another size than the map's keys.
    pub fn lookup(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BpfError> {
        let mut value = vec![0_u8; self.value];
        let mut attribute = self.attribute(key).pointer(16, value.as_mut_ptr());
        // SAFETY: key and value have the sizes that the map was created with.
        let result = unsafe { bpf(Command::MapLookup, &mut attribute) };
        Ok(present(result, "read a BPF map")?.then_some(value))
    }

    /// Gives all entries to `sink`, key and value. Entries that come or go meanwhile may be among
    /// them. Not for [`MapKind::ProcessorArray`].
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn entries(&self, sink: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), BpfError> {
        const AT_ONCE: u32 = 1024;
        let mut keys = vec![0_u8; self.key * AT_ONCE as usize];
        let mut values = vec![0_u8; self.value * AT_ONCE as usize];
        // Where the kernel goes on. It has at most the size of a key, or of a number.
        let mut place = vec![0_u8; self.key.max(4)];
        let mut is_first = true;
        loop {
            let from = if is_first { std::ptr::null() } else { place.as_ptr() };
            let mut attribute = Attribute::new()
                .pointer(0, from)
                .pointer(8, place.as_mut_ptr())
                .pointer(16, keys.as_mut_ptr())
                .pointer(24, values.as_mut_ptr())
                .word(32, AT_ONCE)
                .word(36, self.as_raw_fd().cast_unsigned());
            // SAFETY: keys and values have room for as many entries as told, and the place is as
            // long as the kernel needs.
            let result = unsafe { bpf(Command::MapLookupBatch, &mut attribute) };
            let more = present(result, "read a BPF map")?;
            let found = attribute.read_word(32) as usize;
            let entries = keys.chunks_exact(self.key).zip(values.chunks_exact(self.value));
            entries.take(found).for_each(|(key, value)| sink(key, value));
            if !more {
                return Ok(());
            }
            is_first = false;
        }
    }

    /// Writes an entry. Returns whether it was written: with [`Update::Absent`] one that is there
    /// stays.
    ///
    /// # Errors
    ///
    /// If the kernel refuses, or the map is full.
    ///
    /// # Panics
    ///
    /// If `key` or `value` has another size than the map's.
    pub fn update(&self, key: &[u8], value: &[u8], update: Update) -> Result<bool, BpfError> {
        assert_eq!(value.len(), self.value, "the value has the map's size");
        let mut attribute = self
            .attribute(key)
            .pointer(16, value.as_ptr())
            .double(24, update as u64);
        // SAFETY: key and value have the sizes that the map was created with.
        let result = unsafe { bpf(Command::MapUpdate, &mut attribute) };
        present(result, "write to a BPF map")
    }

    /// Removes an entry. Returns whether it was there.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    ///
    /// # Panics
    ///
    /// If `key` has another size than the map's keys.
    pub fn delete(&self, key: &[u8]) -> Result<bool, BpfError> {
        let mut attribute = self.attribute(key);
        // SAFETY: the key has the size that the map was created with.
        let result = unsafe { bpf(Command::MapDelete, &mut attribute) };
        present(result, "write to a BPF map")
    }
}

impl AsRawFd for Map {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

/// Tells an entry that is not there, or one that is there already, from an error.
fn present(result: io::Result<i32>, what: &'static str) -> Result<bool, BpfError> {
    match result {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EEXIST)) => Ok(false),
        Err(source) => Err(BpfError::Refused { what, source }),
    }
}

/// Returns a name as the kernel takes it: at most 15 bytes of letters, digits, dots and underlines.
pub(crate) fn object_name(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    for (to, from) in bytes.iter_mut().take(15).zip(name.bytes()) {
        *to = if allowed(from) { from } else { b'_' };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_and_cleaned_for_the_kernel() {
        assert_eq!(&object_name("gpubench-alloc-return"), b"gpubench_alloc_\0");
    }
}
