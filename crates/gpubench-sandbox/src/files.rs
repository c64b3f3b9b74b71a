//! The files that a process can open and change.

#![allow(unsafe_code)]

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

/// A role's rights to files. It can create, write, truncate, remove, rename and link files only in
/// a private folder, if it has one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files {
    pub(crate) reads: Reads,
    /// Whether it can open a driver's device nodes, and `/dev/shm`, through which drivers share
    /// memory.
    pub(crate) has_driver: bool,
}

/// What it can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// All files outside of `/dev`.
    Anything,
    /// What comes with the system and with toolkits, and its private folder. A source can quote
    /// what its compiler can read, and records are published.
    Toolkits,
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

/// Devices in `/dev` that a role can open. Terminals and disks are not among them. For a compiler,
/// some are sources without an end.
const fn devices(reads: Reads) -> &'static [&'static str] {
    match reads {
        Reads::Anything => &["null", "zero", "full", "random", "urandom"],
        Reads::Toolkits => &["null"],
    }
}

/// Where systems have compilers, their headers and their libraries, and what the loader and the
/// C library read.
const SYSTEM: [&str; 31] = [
    "/bin",
    "/gnu",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/opt",
    "/sbin",
    "/snap",
    "/usr",
    "/etc/ccache.conf",
    "/etc/clang",
    "/etc/env.d",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/nvcc.profile",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/overcommit_memory",
    "/proc/version",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

/// Prefixes of the names of a driver's device nodes.
const DRIVERS: [&str; 6] = ["nvidia", "nvmap", "nvhost", "nvgpu", "nvsciipc", "dxg"];

/// Denies with `EACCES` all changes of files, and all devices, that `files` does not allow. It
/// applies to this thread and the threads that it starts, for every user including root.
///
/// # Errors
/// If the operating system cannot protect all of it.
pub(crate) fn close(files: Files, private: Option<&Path>) -> Result<(), FilesError> {
    let status = closing(files, private, &[])?.restrict_self()?;
    match (status.ruleset, FileClosing::here()) {
        (RulesetStatus::NotEnforced, _) | (_, FileClosing::Missing) => Err(FilesError::Missing),
        (_, FileClosing::Partial) => Err(FilesError::Partial),
        // The system call filter covers rights that are newer than `NEEDED`, such as datagrams to
        // services.
        (_, FileClosing::Whole) => Ok(()),
    }
}

/// Returns the rules, ready to apply, with every right that this kernel's Landlock knows. A role
/// that reads toolkits also reads `toolkits`, without the user's home folder.
///
/// # Errors
/// If the operating system rejects them.
pub(crate) fn closing(
    files: Files,
    private: Option<&Path>,
    toolkits: &[PathBuf],
) -> Result<RulesetCreated, RulesetError> {
    let contents = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::Truncate;
    let make_device = AccessFs::MakeChar | AccessFs::MakeBlock;
    let every_change = AccessFs::from_write(NEWEST) & !make_device;
    let handled = AccessFs::from_write(NEWEST) | AccessFs::ReadFile;
    let readable = match files.reads {
        Reads::Anything => entries("/", |name| name != "dev"),
        Reads::Toolkits => {
            let all = SYSTEM.iter().map(PathBuf::from).chain(toolkits.iter().cloned());
            let home = std::env::var_os("HOME")
                .map(PathBuf::from)
                .filter(|home| home.is_absolute());
            all.flat_map(|folder| without(folder, home.as_deref())).collect()
        }
    };
    let drivers = |name: &str| files.has_driver && DRIVERS.iter().any(|driver| name.starts_with(driver));
    let shared_memory = if files.has_driver {
        every_change | AccessFs::ReadFile
    } else {
        AccessFs::ReadFile.into()
    };
    // Drivers name their threads through a file of each thread. A compiler is another process than
    // this one.
    let (shared, own): (&[&str], &[&str]) = match files {
        Files {
            reads: Reads::Toolkits, ..
        } => (&[], &[]),
        Files { has_driver: true, .. } => (&["/dev/shm"], &["/proc/self"]),
        _ => (&["/dev/shm"], &["/proc/self/comm"]),
    };
    let beneath = |paths: Vec<PathBuf>, access: BitFlags<AccessFs>| path_beneath_rules(paths, access & handled);
    denied_without_a_rule(files, handled)?
        .create()?
        .add_rules(beneath(readable, AccessFs::ReadFile.into()))?
        .add_rules(beneath(
            entries("/dev", |name| devices(files.reads).contains(&name)),
            contents,
        ))?
        .add_rules(beneath(entries("/dev", drivers), contents))?
        .add_rules(beneath(shared.iter().map(PathBuf::from).collect(), shared_memory))?
        .add_rules(beneath(own.iter().map(PathBuf::from).collect(), contents))?
        .add_rules(beneath(
            private.into_iter().map(Path::to_owned).collect(),
            every_change | AccessFs::ReadFile,
        ))
}

/// Returns the rights that are denied without a rule. Compilers may be distributed ones, and a
/// source cannot make them send anything.
fn denied_without_a_rule(files: Files, handled: BitFlags<AccessFs>) -> Result<Ruleset, RulesetError> {
    let ruleset = Ruleset::default().handle_access(handled)?;
    match files.reads {
        Reads::Toolkits => Ok(ruleset),
        Reads::Anything => ruleset
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

/// Returns a folder, or what is in it besides the user's home folder, which is a service's in
/// `/opt`, for example.
fn without(folder: PathBuf, home: Option<&Path>) -> Vec<PathBuf> {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
    match home.map(|home| home.canonicalize().unwrap_or_else(|_| home.to_owned())) {
        Some(home) if home == real => Vec::new(),
        Some(home) if home.starts_with(&real) => {
            let inside = real.to_str().map(|real| entries(real, |_| true)).unwrap_or_default();
            inside
                .into_iter()
                .flat_map(|entry| without(entry, Some(&home)))
                .collect()
        }
        _ => vec![folder],
    }
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
    fn every_role_opens_the_common_devices_and_compilers_only_the_empty_one() {
        for role in ConfinedRole::ALL {
            for device in devices(Reads::Anything) {
                let path = Path::new("/dev").join(device);
                let open = || std::fs::OpenOptions::new().read(true).write(true).open(&path).map(drop);
                let opened = closed_as(role, None, open);
                let expected = devices(role.rules().files.reads).contains(device) || !is_closed_here();
                assert_eq!(opened.is_ok(), expected, "{role:?}: {device}: {opened:?}");
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
        for role in ConfinedRole::ALL {
            for setting in &settings {
                let written = closed_as(role, None, || writes(setting));
                assert!(written.is_err() || !is_closed_here(), "{role:?}: {setting}");
            }
            let own = closed_as(role, None, || writes("/proc/self/comm"));
            let is_named = role != ConfinedRole::Compiler || !is_closed_here();
            assert_eq!(own.is_ok(), is_named, "{role:?}: {own:?}");
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
    fn a_compiler_reads_toolkits_and_neither_secrets_nor_the_home_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (private, toolkit) = (folder.path().join("private"), folder.path().join("toolkit"));
        for place in [&private, &toolkit] {
            std::fs::create_dir(place).unwrap();
            std::fs::write(place.join("file"), "").unwrap();
        }
        std::fs::write(folder.path().join("secret"), "").unwrap();
        let reads = |path: &Path| std::fs::File::open(path).is_ok();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let files = ConfinedRole::Compiler.rules().files;
                let rules = closing(files, Some(&private), std::slice::from_ref(&toolkit)).unwrap();
                rules.restrict_self().unwrap();
                assert!(reads("/usr/bin/env".as_ref()) && reads(&private.join("file")) && reads(&toolkit.join("file")));
                assert!(std::fs::write(private.join("new"), "").is_ok());
                for secret in ["/etc/passwd", "/proc/self/environ", "/dev/urandom", "/proc/1/status"] {
                    assert!(!reads(secret.as_ref()) || !is_closed_here(), "{secret}");
                }
                assert!(!reads(&folder.path().join("secret")) || !is_closed_here());
                assert!(std::fs::write(toolkit.join("new"), "").is_err() || !is_closed_here());
            });
            thread.join().unwrap();
        });
    }

    #[test]
    fn a_home_folder_among_toolkits_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["service/.ssh", "cuda", "service2"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        let mut left = without(folder.path().to_owned(), Some(&at("service")));
        left.sort();
        assert_eq!(
            left,
            [
                at("cuda").canonicalize().unwrap(),
                at("service2").canonicalize().unwrap()
            ]
        );
        assert!(without(at("service"), Some(&at("service"))).is_empty());
        assert_eq!(without(at("cuda"), Some(&at("service"))), [at("cuda")]);
        assert_eq!(
            without(at("service/.ssh"), Some(&at("service"))),
            [at("service/.ssh")],
            "named by itself"
        );
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
