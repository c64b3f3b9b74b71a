//! The files that a process may still open and change.

#![allow(unsafe_code)]

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

/// What a role may do with files. Everything outside of `/dev` stays readable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files {
    pub(crate) changes: Changes,
    /// Whether it opens the nodes of a driver, and `/dev/shm`, which drivers share memory through.
    pub(crate) has_driver: bool,
}

/// Where files may be created, written, cut, removed, renamed and linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    Anything,
    InPrivateFolder,
    Nothing,
}

/// Why files are not closed, or not all of the way.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilesError {
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
const NEEDED: ABI = ABI::V3;

/// The newest that there are words for; an older kernel takes what it knows of it.
const NEWEST: ABI = ABI::V9;

/// How far files can be closed on this machine.
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
        match (knows(NEEDED), knows(ABI::V1)) {
            (true, _) => FileClosing::Whole,
            (false, true) => FileClosing::Partial,
            (false, false) => FileClosing::Missing,
        }
    }
}

/// The version of Landlock that this kernel speaks; `None` where it has none, or has it switched
/// off.
pub fn landlock_abi() -> Option<u32> {
    const VERSION: libc::c_ulong = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag, no attributes and a size of 0 the call makes nothing and returns a
    // number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, VERSION) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// What any code opens in `/dev`. Terminals and disks are not among it.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// What the names of a driver's device nodes begin with.
const DRIVERS: [&str; 6] = ["nvidia", "nvmap", "nvhost", "nvgpu", "nvsciipc", "dxg"];

/// Refuses, with `EACCES`, to change files other than [`Files`] says, and to open other devices,
/// for this thread and those that it starts, whoever the user is.
///
/// # Errors
/// When the operating system cannot do so, or not all of it.
pub(crate) fn close(files: Files, private: Option<&Path>) -> Result<(), FilesError> {
    let status = closing(files, private)?.restrict_self()?;
    match (status.ruleset, FileClosing::here()) {
        (RulesetStatus::NotEnforced, _) | (_, FileClosing::Missing) => Err(FilesError::Missing),
        (_, FileClosing::Partial) => Err(FilesError::Partial),
        // Rights that came after `NEEDED`, datagrams to services among them, are closed by the
        // filter of system calls.
        (_, FileClosing::Whole) => Ok(()),
    }
}

/// The rules, ready to be put in force: with every right that this kernel's Landlock knows.
///
/// # Errors
/// When the operating system refuses them.
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
    // Drivers name their threads by files, of which each thread has its own.
    let own = if files.has_driver {
        "/proc/self"
    } else {
        "/proc/self/comm"
    };
    let beneath = |paths: Vec<PathBuf>, access: BitFlags<AccessFs>| path_beneath_rules(paths, access & handled);
    refused_without_a_rule(files, handled)?
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

/// What is refused where no rule allows it. Where anything may be changed, that is devices alone.
fn refused_without_a_rule(files: Files, handled: BitFlags<AccessFs>) -> Result<Ruleset, RulesetError> {
    let ruleset = Ruleset::default().handle_access(handled)?;
    match files.changes {
        Changes::Anything => Ok(ruleset),
        Changes::InPrivateFolder | Changes::Nothing => ruleset
            .handle_access(AccessNet::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST)),
    }
}

/// What of a folder is wanted. A link to `/dev` is not: it would open all of it.
fn entries(folder: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    // Without a list there is nothing to allow; the process says what it lacks.
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

    /// What `attempt` gives in a thread that is closed as the role: there is no way back.
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
    fn an_author_and_native_kernels_read_files_and_change_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for role in [ConfinedRole::Author, ConfinedRole::NativeKernels] {
            std::fs::write(&file, "as it was").unwrap();
            let (written, read) = closed_as(role, None, || {
                (std::fs::write(&file, "changed").is_ok(), std::fs::read(&file).is_ok())
            });
            assert_eq!((written, read), (!is_closed_here(), true), "{role:?}");
            // What processes share memory through.
            let shared = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
            let written = closed_as(role, None, || std::fs::write(&shared, "changed").is_ok());
            assert_eq!(written, !is_closed_here(), "{role:?}");
        }
    }

    #[test]
    fn nobody_opens_a_terminal_or_a_disk() {
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
    fn everybody_opens_the_devices_that_any_code_opens() {
        for role in ConfinedRole::ALL {
            for device in DEVICES {
                let path = Path::new("/dev").join(device);
                let open = || std::fs::OpenOptions::new().read(true).write(true).open(&path).map(drop);
                closed_as(role, None, open).unwrap_or_else(|error| panic!("{role:?}: {device}: {error}"));
            }
        }
    }

    /// What says how a process is treated: which is ended first where memory runs out, for one.
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
    fn nothing_is_changed_outside_of_the_private_folder() {
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
    fn a_link_to_the_devices_is_no_way_round() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("d");
        std::os::unix::fs::symlink("/dev", &link).unwrap();
        assert!(leads_to_devices(&link) && leads_to_devices(&link.join("null")) && !leads_to_devices(folder.path()));
        let other = folder.path().join("other");
        std::fs::write(&other, "").unwrap();
        assert_eq!(entries(folder.path().to_str().unwrap(), |_| true), [other]);
    }
}
