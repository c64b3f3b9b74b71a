//! A worker's private folder, removed with the worker whatever it contains.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use gpubench_diagnostic::print_warning;

/// A folder for a worker's temporary files. Dropping it removes it, with a warning on failure.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    /// The folder that contains it, and the nested folders during removal.
    outer: PathBuf,
    path: PathBuf,
}

impl PrivateFolder {
    /// Creates an empty folder.
    ///
    /// # Errors
    /// If the system's folder for temporary files is not writable.
    pub(super) fn new() -> io::Result<PrivateFolder> {
        let folder = tempfile::Builder::new().prefix("gpubench-worker-").tempdir()?;
        let path = numbered(folder.path(), 0);
        fs::create_dir(&path)?;
        Ok(PrivateFolder {
            path,
            outer: folder.keep(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        match remove(&self.outer) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => print_warning(&format_args!(
                "cannot remove a worker's folder `{}`: {error}",
                self.outer.display()
            )),
            _ => {}
        }
    }
}

/// Removes the numbered folders in `outer`. It first moves nested folders up and gives them
/// numbers. A worker may have nested them too deep for a path or a stack, and may have removed
/// permissions.
fn remove(outer: &Path) -> io::Result<()> {
    let (mut emptied, mut last) = (0, 0);
    let open = |folder: &Path| fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    if !numbered(outer, 0).symlink_metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    while emptied <= last {
        let folder = numbered(outer, emptied);
        open(&folder)?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                last += 1;
                open(&entry.path())?;
                fs::rename(entry.path(), numbered(outer, last))?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        fs::remove_dir(folder)?;
        emptied += 1;
    }
    fs::remove_dir(outer)
}

fn numbered(outer: &Path, number: u64) -> PathBuf {
    outer.join(number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

    /// The test needs a thread without root's capabilities, which cannot be regained.
    #[test]
    fn a_folder_without_permissions_is_removed() {
        let none = CapabilitySets {
            effective: CapabilitySet::empty(),
            permitted: CapabilitySet::empty(),
            inheritable: CapabilitySet::empty(),
        };
        let left = std::thread::spawn(move || {
            set_capabilities(None, none).unwrap();
            let folder = PrivateFolder::new().unwrap();
            let (path, closed) = (folder.outer.clone(), folder.path().join("closed"));
            fs::create_dir_all(closed.join("inner")).unwrap();
            fs::write(closed.join("inner/file"), "").unwrap();
            for closed in [closed.join("inner"), closed] {
                fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
            }
            assert!(
                fs::remove_dir_all(&path).is_err(),
                "the folder can be removed without new permissions"
            );
            drop(folder);
            path.exists()
        });
        assert!(!left.join().unwrap());
    }

    #[test]
    fn deeply_nested_folders_are_removed() {
        let folder = PrivateFolder::new().unwrap();
        let (outer, place) = (folder.outer.clone(), |name: &str| folder.path().join(name));
        fs::create_dir(place("tree")).unwrap();
        for _ in 0..1_100 {
            fs::create_dir(place("above")).unwrap();
            fs::write(place("above/file"), "").unwrap();
            fs::rename(place("tree"), place("above/tree")).unwrap();
            fs::rename(place("above"), place("tree")).unwrap();
        }
        std::os::unix::fs::symlink("/", place("link")).unwrap();
        drop(folder);
        assert!(!outer.exists());
    }
}
