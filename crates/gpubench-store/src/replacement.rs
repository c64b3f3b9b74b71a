//! Atomic replacement of a file: if the process ends, either the old or the new contents are there.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};

use crate::lock::lock_to_write;
use gpubench_diagnostic::create_regular;

/// A locked temporary file next to the target. Processes that replace the same file wait for each
/// other. A temporary file of a killed process is reused.
#[derive(Debug)]
pub struct Replacement {
    file: File,
    path: Utf8PathBuf,
    target: Utf8PathBuf,
}

impl Replacement {
    /// Creates the folder and the temporary file.
    ///
    /// # Errors
    /// One of them cannot be created, or another process holds the lock for longer than writing
    /// takes.
    pub fn of(target: &Utf8Path) -> io::Result<Replacement> {
        let target = target.canonicalize_utf8().unwrap_or_else(|_| target.to_owned());
        match std::fs::metadata(&target) {
            Ok(there) if there.is_dir() => return Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(there) if !there.is_file() => {
                return Err(io::Error::other("it is a device or a pipe and cannot be replaced"));
            }
            _ => {}
        }
        let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let path = folder_of(&target).join(format!(".{name}.tmp"));
        std::fs::create_dir_all(folder_of(&target))?;
        loop {
            let file = create_regular(&path, 0o666)?;
            let opened = file.metadata()?;
            lock_to_write(&file, &path)?;
            // The previous holder of the lock may have renamed the file to the target.
            let is_there = |there: &std::fs::Metadata| (there.dev(), there.ino()) == (opened.dev(), opened.ino());
            if std::fs::symlink_metadata(&path).as_ref().is_ok_and(is_there) {
                return Ok(Replacement { file, path, target });
            }
        }
    }

    /// Writes the contents to the target, so that they survive a power failure.
    ///
    /// # Errors
    /// They cannot be written. The target is then unchanged, unless only the sync of the folder
    /// failed.
    pub fn commit(mut self, contents: &[u8]) -> io::Result<()> {
        self.fill(contents).inspect_err(|_| {
            // If this fails, the next replacement reuses the file.
            let _ = std::fs::remove_file(&self.path);
        })?;
        // From here on, a file with the temporary name belongs to another process.
        File::open(folder_of(&self.target))?.sync_all()
    }

    fn fill(&mut self, contents: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.write_all(contents)?;
        self.file.sync_all()?;
        std::fs::rename(&self.path, &self.target)
    }

    /// Leaves the target unchanged.
    ///
    /// # Errors
    /// The temporary file cannot be removed.
    pub fn abandon(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

fn folder_of(path: &Utf8Path) -> &Utf8Path {
    match path.parent() {
        None => path,
        Some(parent) if parent.as_str().is_empty() => Utf8Path::new("."),
        Some(parent) => parent,
    }
}
