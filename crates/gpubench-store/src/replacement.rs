//! Atomic replacement of a file: if the process ends, either the old or the new contents are there.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use camino::Utf8Path;
use rustix::process::geteuid;

use crate::lock::lock_to_write;
use gpubench_diagnostic::{Place, create_regular};

/// A locked temporary file next to the target. Processes that replace the same file wait for each
/// other. A temporary file of a killed process is reused.
#[derive(Debug)]
pub struct Replacement {
    file: File,
    /// The name of the temporary file.
    name: String,
    target: Place,
}

impl Replacement {
    /// Creates the folder and the temporary file.
    ///
    /// # Errors
    /// One of them cannot be created, a link of another user is on the way, the temporary file is
    /// another user's, or another process holds the lock for longer than writing takes.
    pub fn new(target: &Utf8Path) -> io::Result<Replacement> {
        let shown = target;
        let target = Place::with_folders(target)?;
        target.ensure_replaceable()?;
        let name = format!(".{}.tmp", target.name().display());
        let path = target.folder().join(&name);
        let shown = shown.with_file_name(&name);
        loop {
            let file = create_regular(&path, 0o666)?;
            let opened = file.metadata()?;
            if opened.uid() != geteuid().as_raw() || opened.nlink() != 1 {
                return Err(io::Error::other(format!(
                    "`{shown}` is in the way and another user's (hint: remove it)"
                )));
            }
            lock_to_write(&file, &shown)?;
            // The previous holder of the lock may have renamed the file to the target.
            let is_there = |there: &std::fs::Metadata| (there.dev(), there.ino()) == (opened.dev(), opened.ino());
            if std::fs::symlink_metadata(&path).as_ref().is_ok_and(is_there) {
                return Ok(Replacement { file, name, target });
            }
        }
    }

    /// Writes the contents to the target, so that they survive a power failure.
    ///
    /// # Errors
    /// They cannot be written. The target is then unchanged, unless only the sync of the folder
    /// failed.
    pub fn commit(self, contents: &[u8]) -> io::Result<()> {
        self.filled_by(|error| error, |mut file| file.write_all(contents))
    }

    /// Does the same with what `fill` writes to the empty file, and returns what `fill` returns.
    ///
    /// # Errors
    /// Those of `fill`, and those of [`commit`](Replacement::commit) as `unwritten`.
    pub fn filled_by<T, E>(
        self,
        unwritten: impl Fn(io::Error) -> E,
        fill: impl FnOnce(&File) -> Result<T, E>,
    ) -> Result<T, E> {
        let emptied = self.file.set_len(0).map_err(&unwritten);
        let filled = emptied.and_then(|()| fill(&self.file)).and_then(|filled| {
            let kept = self.file.sync_all();
            let kept = kept.and_then(|()| std::fs::rename(self.path(), self.target.path()));
            kept.map(|()| filled).map_err(&unwritten)
        });
        let filled = filled.inspect_err(|_| {
            // If this fails, the next replacement reuses the file.
            let _ = std::fs::remove_file(self.path());
        })?;
        // From here on, a file with the temporary name belongs to another process.
        let folder = File::open(self.target.folder());
        folder.and_then(|folder| folder.sync_all()).map_err(&unwritten)?;
        Ok(filled)
    }

    /// Leaves the target unchanged.
    ///
    /// # Errors
    /// The temporary file cannot be removed.
    pub fn abandon(self) -> io::Result<()> {
        std::fs::remove_file(self.path())
    }

    fn path(&self) -> PathBuf {
        self.target.folder().join(&self.name)
    }
}
