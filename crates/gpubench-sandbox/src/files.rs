//! The files that a process can open and change.

#![allow(unsafe_code)]

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

/// A role's rights to files. Everything outside of `/dev` stays readable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files {
    pub(crate) changes: Changes,
    /// Whether it can open a driver's device nodes, and `/dev/shm`, through which drivers share
    /// memory.
    pub(crate) has_driver: bool,
}

/// Where it can create, write, truncate, remove, rename and link files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    Anything,
    InPrivateFolder,
    Nothing,
}

/// Why files are not protected completely.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilesError {
    /// The kernel has no Landlock, or it is disabled.
    #[error("files remain writable: this Linux kernel has no Landlock")]
    Missing,
    /// The kernel's Landlock lacks rights. Before ABI 3, files can be truncated.
    #[error("files can still be truncated: this Linux kernel's Landlock is older than ABI 3")]
    Partial,
    /// The operating system refused.
    #[error("files remain writable")]
    Refused(#[from] RulesetError),
}

/// The first version that covers every change of a file's contents.
const NEEDED: ABI = ABI::V3;

/// The newest version that is used. An older kernel applies the part that it knows.
const NEWEST: ABI = ABI::V9;

/// How far this machine can protect files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileClosing {
    /// From every change of their contents.
    Whole,
    /// From all changes except truncation.
    Partial,
    /// Not at all.
    Missing,
}

impl FileClosing {
    /// Asks the kernel, without protecting anything.
    pub fn here() -> FileClosing {
        let knows = |rights: ABI| {
            let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
            ruleset.handle_access(AccessFs::from_write(rights)).is_ok()
        };
        match (knows(NEEDED), knows(ABI::V1)) {
            (true, _) => FileClosing::Whole,
            (false, true) => FileClosing::Partial,
            (false, false) => FileClosing::Missing,
        }
    }
}

/// Returns the kernel's Landlock version, or `None` if it has none or it is disabled.
pub fn landlock_abi() -> Option<u32> {
    const VERSION: libc::c_ulong = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag, no attributes and a size of 0, the call creates nothing and returns a
    // number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Devices in `/dev` that every role can open. Terminals and disks are not among them.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Prefixes of the names of a driver's device nodes.
const DRIVERS: [&str; 6] = ["nvidia", "nvmap", "nvhost", "nvgpu", "nvsciipc", "dxg"];

/// Denies with `EACCES` all changes of files, and all devices, that `files` does not allow. It
/// applies to this thread and the threads that it starts, for every user including root.
///
/// # Errors
/// If the operating system cannot protect all of it.
pub(crate) fn close(files: Files, private: Option<&Path>) -> Result<(), FilesError> {
    let status = closing(files, private)?.restrict_self()?;
    match (status.ruleset, FileClosing::here()) {
        (RulesetStatus::NotEnforced, _) | (_, FileClosing::Missing) => Err(FilesError::Missing),
        (_, FileClosing::Partial) => Err(FilesError::Partial),
        // The system call filter covers rights that are newer than `NEEDED`, such as datagrams to
        // services.
        (_, FileClosing::Whole) => Ok(()),
    }
}

/// Returns the rules, ready to apply, with every right that this kernel's Landlock knows.
///
/// # Errors
/// If the operating system rejects them.
pub(crate) fn closing(files: Files, private: Option<&Path>) -> Result<RulesetCreated, RulesetError> {
    let open = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let contents = open | AccessFs::Truncate;
    let make_device = AccessFs::MakeChar | AccessFs::MakeBlock;
    let every_change = AccessFs::from_write(NEWEST) & !make_device;
    let (handled, outside_of_dev) = match files.changes {
        Changes::Anything => (open, open),
        Changes::InPrivateFolder | Changes::Nothing => (
            AccessFs::from_write(NEWEST) | AccessFs::ReadFile,
            AccessFs::ReadFile.into(),
        ),
    };
    let drivers = |name: &str| files.has_driver && DRIVERS.iter().any(|driver| name.starts_with(driver));
    let shared_memory = match (files.changes, files.has_driver) {
        (Changes::Anything, _) | (_, true) => every_change | AccessFs::ReadFile,
        _ => AccessFs::ReadFile.into(),
    };
    // Drivers name their threads through a file of each thread.
    let own = if files.has_driver {
        "/proc/self"
    } else {
        "/proc/self/comm"
    };
    let beneath = |paths: Vec<PathBuf>, access: BitFlags<AccessFs>| path_beneath_rules(paths, access & handled);
    denied_without_a_rule(files, handled)?
        .create()?
        .add_rules(beneath(entries("/", |name| name != "dev"), outside_of_dev))?
        .add_rules(beneath(entries("/dev", |name| DEVICES.contains(&name)), contents))?
        .add_rules(beneath(entries("/dev", drivers), contents))?
        .add_rules(beneath(vec!["/dev/shm".into()], shared_memory))?
        .add_rules(beneath(vec![own.into()], contents))?
        .add_rules(beneath(
            private.into_iter().map(Path::to_owned).collect(),
            every_change | AccessFs::ReadFile,
        ))
}

/// Returns the rights that are denied without a rule. With `Changes::Anything` only devices need
/// one.
fn denied_without_a_rule(files: Files, handled: BitFlags<AccessFs>) -> Result<Ruleset, RulesetError> {
    let ruleset = Ruleset::default().handle_access(handled)?;
    match files.changes {
        Changes::Anything => Ok(ruleset),
        Changes::InPrivateFolder | Changes::Nothing => ruleset
            .handle_access(AccessNet::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST)),
    }
}

/// Returns the wanted entries of a folder. Links to `/dev` are left out, because they would open
/// all of it.
fn entries(folder: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    // If the folder cannot be listed, nothing is allowed, and the process fails at what it lacks.
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let wanted = entries.filter(|entry| is_wanted(&entry.file_name().to_string_lossy()));
    let paths = wanted.map(|entry| entry.path());
    paths
        .filter(|path| folder == "/dev" || !leads_to_devices(path))
        .collect()
}

fn leads_to_devices(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path.starts_with("/dev"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConfinedRole;

    /// Runs `attempt` in a thread with the role's file rights, which it cannot regain.
    fn closed_as<T: Send>(role: ConfinedRole, private: Option<&Path>, attempt: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let closed = close(role.rules().files, private);
                assert_eq!(closed.is_ok(), FileClosing::here() == FileClosing::Whole, "{closed:?}");
                attempt()
            });
            thread.join().unwrap()
        })
    }

    fn is_closed_here() -> bool {
        FileClosing::here() != FileClosing::Missing
    }

    #[test]
    fn authors_and_native_kernels_can_read_but_not_change_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for role in [ConfinedRole::Author, ConfinedRole::NativeKernels] {
            std::fs::write(&file, "as it was").unwrap();
            let (written, read) = closed_as(role, None, || {
                (std::fs::write(&file, "changed").is_ok(), std::fs::read(&file).is_ok())
            });
            assert_eq!((written, read), (!is_closed_here(), true), "{role:?}");
            // Processes share memory through this folder.
            let shared = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
            let written = closed_as(role, None, || std::fs::write(&shared, "changed").is_ok());
            assert_eq!(written, !is_closed_here(), "{role:?}");
        }
    }

    #[test]
    fn no_role_opens_a_terminal_or_a_disk() {
        for role in ConfinedRole::ALL {
            for device in [
                "/dev/ptmx",
                "/dev/tty",
                "/dev/tty0",
                "/dev/console",
                "/dev/vda",
                "/dev/mem",
            ] {
                let open = || std::fs::File::open(device).map_err(|error| error.raw_os_error());
                let code = closed_as(role, None, open).err().flatten();
                let missing = open().err().flatten() == Some(libc::ENOENT);
                let expected = if missing { libc::ENOENT } else { libc::EACCES };
                assert!(
                    !is_closed_here() || code == Some(expected),
                    "{role:?}: {device}: {code:?}"
                );
            }
        }
    }

    #[test]
    fn every_role_opens_the_common_devices() {
        for role in ConfinedRole::ALL {
            for device in DEVICES {
                let path = Path::new("/dev").join(device);
                let open = || std::fs::OpenOptions::new().read(true).write(true).open(&path).map(drop);
                closed_as(role, None, open).unwrap_or_else(|error| panic!("{role:?}: {device}: {error}"));
            }
        }
    }

    /// Files that control a process, such as which one is killed first when memory runs out.
    #[test]
    fn settings_of_the_system_and_of_other_processes_cannot_be_written() {
        let writes = |path: &str| std::fs::OpenOptions::new().write(true).open(path).map(drop);
        let mut other = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let settings = [
            format!("/proc/{}/oom_score_adj", other.id()),
            format!("/proc/{}/comm", other.id()),
            "/proc/sys/kernel/hostname".to_owned(),
            "/proc/sys/vm/overcommit_memory".to_owned(),
            "/proc/sysrq-trigger".to_owned(),
        ];
        assert!(writes(&settings[0]).is_ok(), "a process can set what it started");
        for role in ConfinedRole::ALL
            .into_iter()
            .filter(|role| *role != ConfinedRole::Compiler)
        {
            for setting in &settings {
                let written = closed_as(role, None, || writes(setting));
                assert!(written.is_err() || !is_closed_here(), "{role:?}: {setting}");
            }
            let own = closed_as(role, None, || writes("/proc/self/comm"));
            assert!(own.is_ok(), "{role:?}: {own:?}");
            let score = closed_as(role, None, || writes("/proc/self/oom_score_adj"));
            let is_open = role.rules().files.has_driver || !is_closed_here();
            assert!(score.is_err() || is_open, "{role:?}: its own score");
        }
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn only_the_private_folder_can_be_changed() {
        let (private, foreign) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = foreign.path().join("file");
        std::fs::write(&file, "as it was").unwrap();
        closed_as(ConfinedRole::HostCode, Some(private.path()), || {
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
                assert!(attempt.is_err() || !is_closed_here(), "attempt {number}");
            }
        });
        assert!(!is_closed_here() || std::fs::read_to_string(&file).unwrap() == "as it was");
    }

    #[test]
    fn a_link_to_a_device_does_not_open_it() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("d");
        std::os::unix::fs::symlink("/dev", &link).unwrap();
        assert!(leads_to_devices(&link) && leads_to_devices(&link.join("null")) && !leads_to_devices(folder.path()));
        let other = folder.path().join("other");
        std::fs::write(&other, "").unwrap();
        assert_eq!(entries(folder.path().to_str().unwrap(), |_| true), [other]);
    }
}
