//! The name of a compiled file in the cache: a hash of all inputs of the compilation.

use sha2::{Digest as _, Sha256};

use super::compiler::Wanted;
use gpubench_diagnostic::hexadecimal;

/// A hash of parts, each with its length, so that no two lists of parts have the same bytes.
pub(super) struct CacheKey(Sha256);

impl CacheKey {
    /// Begins a key for files of this version of the tool.
    pub(super) fn new() -> CacheKey {
        let mut key = CacheKey(Sha256::new());
        key.add(env!("CARGO_PKG_VERSION"));
        key
    }

    pub(super) fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    pub(super) fn add_all<T: AsRef<[u8]>>(&mut self, parts: &[T]) {
        self.0.update((parts.len() as u64).to_le_bytes());
        parts.iter().for_each(|part| self.add(part));
    }

    /// Adds a source and the names of its wanted kernels.
    pub(super) fn add_wanted(&mut self, wanted: Wanted<'_>) {
        self.add_all(wanted.names);
        self.add_all(&wanted.source.options);
        for file in &wanted.source.files {
            self.add(&file.path);
            self.add(&file.contents);
        }
    }

    /// Returns 64 hexadecimal digits.
    pub(super) fn finish(self) -> String {
        hexadecimal(&self.0.finalize())
    }
}
