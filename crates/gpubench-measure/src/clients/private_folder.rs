//! A worker's own folder, removed with the worker whatever the worker has put in it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use gpubench_diagnostic::print_warning;

/// A folder for one worker's temporary files. Dropping it removes it, and says so where that cannot be done.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    path: PathBuf,
}

impl PrivateFolder {
    /// Makes an empty one.
    ///
    /// # Errors
    /// When the system's folder for temporary files cannot be written to.
    pub(super) fn new() -> io::Result<PrivateFolder> {
        let folder = tempfile::Builder::new().prefix("gpubench-worker-").tempdir()?;
        Ok(PrivateFolder { path: folder.keep() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.path).or_else(|_| {
            open_folders(&self.path)?;
            fs::remove_dir_all(&self.path)
        });
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => print_warning(&format_args!(
                "a worker's folder `{}` could not be removed: {error}",
                self.path.display()
            )),
            _ => {}
        }
    }
}

/// Makes every folder in it one that can be emptied: a worker may have made some that its user may not look into.
fn open_folders(folder: &Path) -> io::Result<()> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

    /// A thread of its own without root's right to look everywhere: there is no way back.
    #[test]
    fn a_folder_that_was_closed_is_removed_all_the_same() {
        let none = CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        };
        let left = std::thread::spawn(move || {
            set_capabilities(None, none).unwrap();
            let folder = PrivateFolder::new().unwrap();
            let (path, closed) = (folder.path().to_owned(), folder.path().join("closed"));
            fs::create_dir_all(closed.join("inner")).unwrap();
            fs::write(closed.join("inner/file"), "").unwrap();
            for closed in [closed.join("inner"), closed] {
                fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
            }
            assert!(fs::remove_dir_all(&path).is_err(), "nothing is in the way");
            drop(folder);
            path.exists()
        });
        assert!(!left.join().unwrap());
    }
}
