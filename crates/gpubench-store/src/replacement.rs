//! Replacing a file as a whole: whatever ends the process, the old contents or the new ones are
//! there.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};

use crate::lock::lock_to_write;
use gpubench_diagnostic::create_regular;

/// A file beside the one that is to be replaced, under a lock: of several processes that replace
/// the same file, one goes after the other. One that a killed process left behind is taken over.
#[derive(Debug)]
pub struct Replacement {
    file: File,
    path: Utf8PathBuf,
    target: Utf8PathBuf,
}

impl Replacement {
    /// Makes the folder and the file beside the target.
    ///
    /// # Errors
    /// When one of them cannot be made, or another process keeps the lock for longer than writing
    /// takes.
    pub fn of(target: &Utf8Path) -> io::Result<Replacement> {
        let target = target.canonicalize_utf8().unwrap_or_else(|_| target.to_owned());
        match std::fs::metadata(&target) {
            Ok(there) if there.is_dir() => return Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(there) if !there.is_file() => {
                return Err(io::Error::other(
                    "it is a device or a pipe, which nothing can take the place of",
                ));
            }
            _ => {}
        }
        let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let path = folder_of(&target).join(format!(".{name}.tmp"));
        std::fs::create_dir_all(folder_of(&target))?;
        loop {
            let file = create_regular(&path, 0o666)?;
            let ours = file.metadata()?;
            lock_to_write(&file, &path)?;
            // Whoever had the lock may have made it the target.
            let is_there = |there: &std::fs::Metadata| (there.dev(), there.ino()) == (ours.dev(), ours.ino());
            if std::fs::symlink_metadata(&path).as_ref().is_ok_and(is_there) {
                return Ok(Replacement { file, path, target });
            }
        }
    }

    /// Gives the target these contents, so that they outlast a power failure.
    ///
    /// # Errors
    /// When they cannot be written; the target is as it was, unless it is the folder alone whose
    /// change may not outlast a power failure.
    pub fn commit(mut self, contents: &[u8]) -> io::Result<()> {
        self.fill(contents).inspect_err(|_| {
            // What is left of it would be taken over by the next one anyway.
            let _ = std::fs::remove_file(&self.path);
        })?;
        // From here on a file of that name is another process's.
        File::open(folder_of(&self.target))?.sync_all()
    }

    fn fill(&mut self, contents: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.write_all(contents)?;
        self.file.sync_all()?;
        std::fs::rename(&self.path, &self.target)
    }

    /// Leaves the target as it is.
    ///
    /// # Errors
    /// When the file beside it cannot be removed.
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
