//! SHA-256 digests of files.

use std::fmt;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use gpubench_device::FrozenFile;
use gpubench_diagnostic::hexadecimal;

/// A SHA-256 digest as 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// Returns the digest of some bytes.
    pub fn from_bytes(bytes: &[u8]) -> Digest {
        Digest::finish(Sha256::new_with_prefix(bytes))
    }

    /// Returns the digest of a frozen copy; `None` if the copy cannot be read.
    pub fn of_copy(copy: &FrozenFile) -> Option<Digest> {
        let mut file = fs_err::File::open(copy.path()).ok()?;
        let digested = Digest::while_copying(&mut file, &mut io::sink());
        digested.ok().map(|(_, digest)| digest)
    }

    /// Returns whether this is the digest of a frozen copy; false if the copy cannot be read.
    pub(super) fn is_of(&self, copy: &FrozenFile) -> bool {
        Digest::of_copy(copy).as_ref() == Some(self)
    }

    /// Copies everything. Returns the number of bytes and their digest.
    ///
    /// # Errors
    /// Reading or writing fails.
    pub(super) fn while_copying(from: &mut impl Read, to: &mut impl Write) -> Result<(u64, Digest), CopyError> {
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        let mut piece = vec![0; 64 << 10];
        loop {
            let length = match from.read(&mut piece) {
                Ok(0) => return Ok((bytes, Digest::finish(hash))),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(CopyError::Read(error)),
            };
            hash.update(&piece[..length]);
            to.write_all(&piece[..length]).map_err(CopyError::Write)?;
            bytes += length as u64;
        }
    }

    fn finish(hash: Sha256) -> Digest {
        Digest(hexadecimal(&hash.finalize()))
    }
}

/// A digest of bytes that come one after another.
#[derive(Clone, Debug, Default)]
pub struct Digester(Sha256);

impl Digester {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all bytes.
    pub fn finish(self) -> Digest {
        Digest::finish(self.0)
    }
}

/// The side of a copy that failed.
#[derive(Debug)]
pub(super) enum CopyError {
    Read(io::Error),
    Write(io::Error),
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_sha_256() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::from_bytes(b"").to_string(), empty);
    }

    #[test]
    fn copying_digests_what_it_copies() {
        let text = vec![7; 100_000];
        let mut copy = Vec::new();
        let (bytes, digest) = Digest::while_copying(&mut &text[..], &mut copy).expect("memory can be copied");
        assert_eq!((bytes, &copy, digest), (100_000, &text, Digest::from_bytes(&text)));
    }
}
