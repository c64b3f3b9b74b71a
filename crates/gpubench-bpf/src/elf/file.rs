//! Files that strangers may have made.

use std::cell::Cell;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Library, library};
use crate::BpfError;

/// A file that may be a library, open for reading.
///
/// Observed processes choose such files, so nothing that the file says is believed: what is read of
/// it is limited in bytes and in time. It may shrink meanwhile, so it is never mapped. A file
/// system may never answer, so a caller that must go on opens and reads in another thread.
#[derive(Debug)]
pub struct LibraryFile {
    file: File,
    path: PathBuf,
    /// Bytes that may still be read.
    left: Cell<u64>,
    until: Instant,
}

/// The largest library that is read.
const MOST_BYTES: u64 = 1 << 29;

/// The most bytes that are read of one: ten times as many as a driver needs.
const MOST_READ: u64 = 1 << 26;

/// The longest time that reading one may take.
const PATIENCE: Duration = Duration::from_secs(5);

impl LibraryFile {
    /// Opens a file. Anything else, such as a pipe or a device, is never opened.
    ///
    /// # Errors
    ///
    /// If there is no such file, or it is larger than a library.
    pub fn open(path: &Path) -> Result<LibraryFile, BpfError> {
        let file = open(path).map_err(|source| BpfError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Ok(LibraryFile {
            file,
            path: path.to_owned(),
            left: Cell::new(MOST_READ),
            until: Instant::now() + PATIENCE,
        })
    }

    /// Returns the path it was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path that leads to this very file as long as it is open, whatever happens to the
    /// path it was opened with.
    pub fn lasting_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// Returns its device and its number there.
    ///
    /// # Errors
    ///
    /// If its file system does not tell.
    pub fn inode(&self) -> Result<(u64, u64), BpfError> {
        let metadata = self.file.metadata().map_err(|source| BpfError::Unreadable {
            path: self.path.clone(),
            source,
        })?;
        Ok((metadata.dev(), metadata.ino()))
    }

    /// Reads the exported functions that `wanted` accepts by their names.
    ///
    /// # Errors
    ///
    /// If it is not an ELF file of this machine, or one whose tables are larger than those of a
    /// driver.
    pub fn library(&self, wanted: impl Fn(&str) -> bool) -> Result<Library, BpfError> {
        let functions = library::functions(self, wanted).map_err(|source| BpfError::NotElf {
            path: self.path.clone(),
            source,
        })?;
        Ok(Library { functions })
    }

    /// Reads bytes at an offset.
    pub(super) fn read(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let left = self.left.get().checked_sub(length);
        let left = left.ok_or_else(|| damaged("its tables are larger than those of a driver"))?;
        if Instant::now() > self.until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.left.set(left);
        let mut bytes = vec![0; length as usize];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Reads up to `length` bytes at an offset: fewer at the end of the file.
    pub(super) fn read_some(&self, offset: u64, length: u64) -> Vec<u8> {
        let end = self.file.metadata().map_or(0, |metadata| metadata.len());
        let length = length.min(end.saturating_sub(offset));
        self.read(offset, length).unwrap_or_default()
    }
}

pub(super) fn damaged(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Opens a file, and does nothing to what is none: opening a device can have an effect.
fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_PATH | libc::O_CLOEXEC;
    let place = File::options().read(true).custom_flags(flags).open(path)?;
    let is_library = |metadata: &Metadata| metadata.is_file() && metadata.len() <= MOST_BYTES;
    if !is_library(&place.metadata()?) {
        return Err(io::Error::other("it is no file, or larger than a library"));
    }
    File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(format!("/proc/self/fd/{}", place.as_raw_fd()))
}
