//! The contents of stored tensors, for cases without a library.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;

use crate::cdylib::AuthorError;
use gpubench_device::FrozenFile;

/// A file with the contents of all stored tensors, one after another.
#[derive(Debug)]
pub(super) struct StoredTensors(File);

impl StoredTensors {
    /// Returns those of a file.
    ///
    /// # Errors
    /// There is no descriptor for it.
    pub(super) fn in_file(file: &FrozenFile) -> Result<StoredTensors, AuthorError> {
        let descriptor = file.as_fd().try_clone_to_owned();
        let descriptor = descriptor.map_err(|error| AuthorError::internal(&error))?;
        Ok(StoredTensors(descriptor.into()))
    }

    /// Fills `memory` with the contents of the tensor that begins at `start`.
    ///
    /// # Errors
    /// The file ends before, or cannot be read.
    pub(super) fn copy(&self, start: u64, memory: &mut [u8]) -> Result<(), AuthorError> {
        let read = self.0.read_exact_at(memory, start);
        read.map_err(|error| AuthorError::internal(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_fills_memory_from_its_start() {
        let file = FrozenFile::of_contents("x", &b"abcdef"[..]).unwrap();
        let stored = StoredTensors::in_file(&file).unwrap();
        let mut memory = [0; 4];
        stored.copy(2, &mut memory).unwrap();
        assert_eq!(&memory, b"cdef");
        stored.copy(3, &mut memory).unwrap_err();
    }
}
