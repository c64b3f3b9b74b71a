//! The files that a worker may still change that runs the user's code.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    path_beneath_rules,
};

/// Why files are not closed, or not all of the way.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilesError {
    /// The kernel has no Landlock, or it is switched off.
    #[error("files stay writable: the kernel has no Landlock")]
    Missing,
    /// It knows fewer rights than are asked for: before ABI 3, files can be cut short.
    #[error("files can be cut short: the kernel's Landlock is older than ABI 3")]
    Partial,
    /// The operating system refuses.
    #[error("files stay writable")]
    Refused(#[from] RulesetError),
}

/// The first that knows all of the ways to change what a file holds.
const RIGHTS: ABI = ABI::V3;

/// How far files can be closed to a worker on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileClosing {
    /// Every way to change what a file holds.
    Whole,
    /// Files can still be cut short.
    Partial,
    /// Not at all.
    Missing,
}

impl FileClosing {
    /// Asks the kernel; nothing is closed.
    pub fn here() -> FileClosing {
        let knows = |rights: ABI| {
            let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
            ruleset.handle_access(AccessFs::from_write(rights)).is_ok()
        };
        match (knows(RIGHTS), knows(ABI::V1)) {
            (true, _) => FileClosing::Whole,
            (false, true) => FileClosing::Partial,
            (false, false) => FileClosing::Missing,
        }
    }
}

/// Keeps every file as it is from this process and those that it starts, as far as [`FileClosing::here`] says that this machine can: for a worker that runs native kernels. It has no folder of its own.
/// To be called while the process has one thread.
pub fn keep_files_as_they_are() -> FileClosing {
    match keep_all_but(None) {
        Ok(()) => FileClosing::Whole,
        Err(FilesError::Partial) => FileClosing::Partial,
        Err(FilesError::Missing | FilesError::Refused(_)) => FileClosing::Missing,
    }
}

/// What CPU code and drivers write in `/dev`. Block devices are not among it: they hold the file systems.
const DEVICES: [&str; 9] = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "dxg"];

/// What the names of a driver's device nodes begin with.
const DRIVERS: [&str; 5] = ["nvidia", "nvmap", "nvhost", "nvgpu", "nvsciipc"];

/// Refuses, with `EACCES`, to create, write, cut, remove, rename and link files anywhere but in `private`, where there is such a folder, in `/dev/shm`, below `/proc/self` and at the devices of a driver. It holds for
/// this thread and those that it starts, whoever the user is; reading and executing stay as they are.
///
/// # Errors
/// When the operating system cannot do so, or not all of it.
pub(super) fn keep_all_but(private: Option<&Path>) -> Result<(), FilesError> {
    let change = AccessFs::from_write(RIGHTS);
    let contents = AccessFs::WriteFile | AccessFs::Truncate;
    let own = private.into_iter().chain([Path::new("/dev/shm")]);
    let ruleset = Ruleset::default()
        .handle_access(change)?
        .create()?
        .add_rules(path_beneath_rules(
            own,
            change & !(AccessFs::MakeChar | AccessFs::MakeBlock),
        ))?
        .add_rules(path_beneath_rules(["/proc/self"], contents))?
        .add_rules(path_beneath_rules(devices(), contents))?;
    match ruleset.restrict_self()?.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        RulesetStatus::PartiallyEnforced => Err(FilesError::Partial),
        RulesetStatus::NotEnforced => Err(FilesError::Missing),
    }
}

fn devices() -> Vec<PathBuf> {
    // Without a list there is nothing to allow; the device says what it lacks.
    let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let needed = entries.filter(|entry| is_needed(&entry.file_name().to_string_lossy()));
    needed.map(|entry| entry.path()).collect()
}

fn is_needed(name: &str) -> bool {
    DEVICES.contains(&name) || DRIVERS.iter().any(|driver| name.starts_with(driver))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_may_write_its_devices_and_nobody_a_disk() {
        for needed in ["nvidia0", "nvidiactl", "nvidia-uvm", "nvidia-caps", "null"] {
            assert!(is_needed(needed), "{needed}");
        }
        for disk in ["sda", "vda1", "nvme0", "nvme0n1", "mem"] {
            assert!(!is_needed(disk), "{disk}");
        }
    }

    #[test]
    fn what_the_kernel_says_it_can_close_is_what_it_closes() {
        let private = tempfile::tempdir().unwrap();
        let closed = std::thread::scope(|scope| scope.spawn(|| keep_all_but(Some(private.path()))).join().unwrap());
        match FileClosing::here() {
            FileClosing::Whole => closed.unwrap(),
            FileClosing::Partial => assert!(matches!(closed, Err(FilesError::Partial)), "{closed:?}"),
            FileClosing::Missing => assert!(closed.is_err()),
        }
    }

    /// A thread of its own, since there is no way back.
    #[test]
    fn without_a_private_folder_no_file_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "as it was").unwrap();
        let closed = std::thread::scope(|scope| {
            let attempt = scope.spawn(|| {
                let closed = keep_files_as_they_are();
                (
                    closed,
                    std::fs::write(&file, "changed").is_err(),
                    std::fs::read(&file).unwrap(),
                )
            });
            attempt.join().unwrap()
        });
        let kept = FileClosing::here() != FileClosing::Missing;
        assert_eq!((closed.0, closed.1), (FileClosing::here(), kept));
        assert_eq!(closed.2 == b"as it was", kept);
    }

    /// A thread of its own, since there is no way back.
    #[test]
    fn nothing_is_changed_outside_of_the_private_folder() {
        let (private, foreign) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = foreign.path().join("file");
        std::fs::write(&file, "as it was").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                keep_all_but(Some(private.path())).unwrap();
                std::fs::write(private.path().join("file"), "new").unwrap();
                let moved = private.path().join("moved");
                let attempts = [
                    std::fs::write(&file, "changed"),
                    std::fs::write(foreign.path().join("another"), ""),
                    std::fs::remove_file(&file),
                    std::fs::hard_link(&file, foreign.path().join("linked")),
                    std::fs::rename(&file, foreign.path().join("renamed")),
                    std::fs::rename(&file, &moved),
                    std::fs::create_dir(foreign.path().join("folder")),
                ];
                for (number, attempt) in attempts.iter().enumerate() {
                    assert!(attempt.is_err(), "attempt {number}");
                }
            });
        });
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "as it was");
    }
}
