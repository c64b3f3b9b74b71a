//! Temporary folders that do not stay when their process is killed: the next run removes them.
//!
//! A folder `PREFIX123abc` of a live process contains a locked file and the folder to use. The
//! system releases the lock when the process ends, in whatever container it ran.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Once;

use rustix::fs::{CWD, Mode, OFlags, openat, statfs};

use crate::{create_regular, open_regular, print_warning};

/// The file that shows that a folder is in use.
const LOCK: &str = "lock";

/// Letters after the prefix.
const LETTERS: usize = 6;

/// Attempts to make a folder that another process takes for an abandoned one.
const ATTEMPTS: usize = 100;

/// File systems that only this machine uses, so that all locks on their files are known here:
/// ext4, XFS, Btrfs, tmpfs, overlayfs, ZFS, F2FS and bcachefs (`linux/magic.h`).
const LOCAL: [u32; 8] = [
    0x0000_ef53,
    0x5846_5342,
    0x9123_683e,
    0x0102_1994,
    0x794c_7630,
    0x2fc1_2fc1,
    0xf2f5_2010,
    0xca45_1a4e,
];

/// What a temporary folder among those of the system is for. It is part of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The files of a worker.
    Worker,
    /// An unpacked archive.
    Archive,
    /// The output of a compiler or of another program of a toolkit.
    Toolkit,
    /// The tensors that a command which is a reference reads and writes.
    Exchange,
    /// The reference of a definition, and compiled solutions.
    Definition,
}

impl Purpose {
    const ALL: [Purpose; 5] = [
        Purpose::Worker,
        Purpose::Archive,
        Purpose::Toolkit,
        Purpose::Exchange,
        Purpose::Definition,
    ];

    const fn prefix(self) -> &'static str {
        match self {
            Purpose::Worker => "gpubench-worker-",
            Purpose::Archive => "gpubench-archive-",
            Purpose::Toolkit => "gpubench-toolkit-",
            Purpose::Exchange => "gpubench-exchange-",
            Purpose::Definition => "gpubench-definition-",
        }
    }
}

/// A temporary folder. Dropping it removes it, whatever it contains, with a warning on failure.
#[derive(Debug)]
pub struct TemporaryFolder {
    outer: PathBuf,
    path: PathBuf,
    _lock: File,
}

impl TemporaryFolder {
    /// Creates an empty folder among the system's temporary files. The first one in a process
    /// removes those that killed processes of this user left.
    ///
    /// # Errors
    /// There is no writable folder for temporary files.
    pub fn new(purpose: Purpose) -> io::Result<TemporaryFolder> {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(remove_abandoned);
        make_in(&std::env::temp_dir(), purpose.prefix())
    }

    /// Creates an empty folder in another one, after removing those that killed processes of this
    /// user left there. `prefix` begins its name, and that of no other file there.
    ///
    /// # Errors
    /// The folder is not writable.
    pub fn new_in(parent: &Path, prefix: &str) -> io::Result<TemporaryFolder> {
        remove_abandoned_in(parent, &[prefix]);
        make_in(parent, prefix)
    }

    /// Returns the path of the empty folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        match empty(&self.outer).and_then(|()| fs::remove_dir(&self.outer)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => print_warning(&format_args!(
                "cannot remove the temporary folder `{}`: {error}",
                self.outer.display()
            )),
            _ => {}
        }
    }
}

/// Removes the temporary folders of this user's killed processes. What cannot be removed stays.
pub fn remove_abandoned() {
    remove_abandoned_in(&std::env::temp_dir(), &Purpose::ALL.map(Purpose::prefix));
}

fn make_in(parent: &Path, prefix: &str) -> io::Result<TemporaryFolder> {
    for _ in 0..ATTEMPTS {
        let folder = tempfile::Builder::new()
            .prefix(prefix)
            .rand_bytes(LETTERS)
            .tempdir_in(parent)?;
        // Until the lock is held, another process may take the folder for an abandoned one.
        if let Some(lock) = locked(&folder.path().join(LOCK))? {
            let outer = folder.keep();
            let path = numbered(&outer, 0);
            fs::create_dir(&path)?;
            return Ok(TemporaryFolder {
                outer,
                path,
                _lock: lock,
            });
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Creates and locks a file. `None` if another process has locked or removed it, or its folder.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let file = match create_regular(path, 0o600) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        // Nobody removes a folder whose file system has no locks.
        Err(TryLockError::Error(_)) => return Ok(Some(file)),
    }
    Ok((file.metadata()?.nlink() > 0).then_some(file))
}

fn remove_abandoned_in(parent: &Path, prefixes: &[&str]) {
    let is_local = |parent: &Path| statfs(parent).is_ok_and(|system| LOCAL.contains(&(system.f_type as u32)));
    let Some(entries) = fs::read_dir(parent).ok().filter(|_| is_local(parent)) else {
        return;
    };
    let is_ours = |name: &str| {
        let rest = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
        rest.is_some_and(|rest| rest.len() == LETTERS && rest.bytes().all(|letter| letter.is_ascii_alphanumeric()))
    };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_ours) {
            // Another process may remove it at the same time, and the next run tries again.
            let _ = remove_if_abandoned(&entry.path());
        }
    }
}

fn remove_if_abandoned(outer: &Path) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = File::from(openat(CWD, outer, flags, Mode::empty())?);
    if opened.metadata()?.uid() != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let lock = match open_regular(outer.join(LOCK)) {
        // It has just been made, or a process was killed just then. Only an empty one is removed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return fs::remove_dir(outer),
        lock => lock?,
    };
    match lock.try_lock() {
        Ok(()) => {
            // Through the open folder, in case somebody exchanges it.
            empty(format!("/proc/self/fd/{}", opened.as_raw_fd()).as_ref())?;
            fs::remove_dir(outer)
        }
        Err(_) => Ok(()),
    }
}

/// Removes the numbered folders in `outer`, then the lock, so that a folder that is half removed is
/// removed later. It first moves nested folders up and gives them numbers. A worker may have nested
/// them too deep for a path or a stack, and may have removed permissions.
fn empty(outer: &Path) -> io::Result<()> {
    let mut left: Vec<u64> = numbers_in(outer)?;
    let mut last = left.iter().copied().max().unwrap_or(0);
    while let Some(number) = left.pop() {
        let folder = numbered(outer, number);
        open(&folder)?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                last += 1;
                open(&entry.path())?;
                fs::rename(entry.path(), numbered(outer, last))?;
                left.push(last);
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        fs::remove_dir(folder)?;
    }
    match fs::remove_file(outer.join(LOCK)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn numbers_in(outer: &Path) -> io::Result<Vec<u64>> {
    let entries = fs::read_dir(outer)?.flatten();
    Ok(entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect())
}

/// Makes the contents of a folder accessible. It fails for a link, which would lead elsewhere.
fn open(folder: &Path) -> io::Result<()> {
    if folder.symlink_metadata()?.is_dir() {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}

fn numbered(outer: &Path, number: u64) -> PathBuf {
    outer.join(number.to_string())
}

#[cfg(test)]
mod tests {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

    use super::*;

    const PREFIX: &str = "gpubench-worker-";

    fn made_in(parent: &tempfile::TempDir) -> TemporaryFolder {
        TemporaryFolder::new_in(parent.path(), PREFIX).unwrap()
    }

    /// Leaves a folder as a process does that is killed.
    #[expect(clippy::used_underscore_binding, reason = "only the lock's end matters")]
    fn killed(folder: TemporaryFolder) -> PathBuf {
        let mut folder = std::mem::ManuallyDrop::new(folder);
        // Closes the file without removing anything.
        folder._lock = File::open("/dev/null").unwrap();
        folder.outer.clone()
    }

    #[test]
    fn only_abandoned_folders_are_removed_and_no_others() {
        let parent = tempfile::tempdir().unwrap();
        let (alive, dead) = (made_in(&parent), killed(made_in(&parent)));
        fs::create_dir_all(dead.join("0/a/b")).unwrap();
        std::os::unix::fs::symlink(alive.path(), dead.join("0/link")).unwrap();
        let begun = parent.path().join("gpubench-worker-begun1");
        fs::create_dir(&begun).unwrap();
        let kept = [
            "gpubench-worker-notes",
            "gpubench-worker-abcde!",
            "gpubench-worker-abcdef",
            "gpubench-worker-link12",
        ];
        for name in kept {
            if name.ends_with("link12") {
                std::os::unix::fs::symlink(&dead, parent.path().join(name)).unwrap()
            } else {
                fs::create_dir_all(parent.path().join(name).join("0")).unwrap()
            }
        }
        fs::write(alive.path().join("file"), "").unwrap();
        let new = made_in(&parent);
        assert!(!dead.exists() && !begun.exists());
        assert!(alive.path().join("file").exists() && new.path().is_dir());
        for name in kept {
            assert!(parent.path().join(name).symlink_metadata().is_ok(), "{name}");
        }
        let outer = new.outer.clone();
        drop(new);
        assert!(!outer.exists());
    }

    #[test]
    fn folders_of_another_user_are_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let dead = killed(made_in(&parent));
        if std::os::unix::fs::chown(&dead, Some(4_242), None).is_ok() {
            drop(made_in(&parent));
            assert!(dead.exists());
        }
    }

    /// Each makes and removes folders while the others sweep.
    #[test]
    fn processes_that_begin_at_once_keep_their_folders() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..50 {
                        let folder = made_in(&parent);
                        let file = folder.path().join("file");
                        fs::write(&file, "mine").unwrap();
                        remove_abandoned_in(parent.path(), &[PREFIX]);
                        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
                        if round % 3 == 0 {
                            killed(folder);
                        }
                    }
                });
            }
        });
        remove_abandoned_in(parent.path(), &[PREFIX]);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

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
            let folder = TemporaryFolder::new(Purpose::Worker).unwrap();
            let (path, closed) = (folder.outer.clone(), folder.path().join("closed"));
            fs::create_dir_all(closed.join("inner")).unwrap();
            fs::write(closed.join("inner/file"), "").unwrap();
            for closed in [closed.join("inner"), closed] {
                fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
            }
            assert!(
                fs::remove_dir_all(folder.path()).is_err(),
                "the folder can be removed without new permissions"
            );
            drop(folder);
            path.exists()
        });
        assert!(!left.join().unwrap());
    }

    #[test]
    fn deeply_nested_folders_are_removed() {
        let folder = TemporaryFolder::new(Purpose::Worker).unwrap();
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
