//! What the system tells of processes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::cuda::Pids;
use crate::{Origin, Owner, ProcessStart};

/// Whether there is a process with this pid.
pub(crate) fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Whether no thread of the process runs any more, although its parent may not have waited for it.
pub(crate) fn has_ended(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return !exists(pid);
    };
    // The main thread may end before others.
    let threads = fields(&stat).nth(17);
    is_of_ended_thread(&stat) && threads.is_none_or(|threads| matches!(threads, "0" | "1"))
}

/// Whether the first thread of a process has ended. Others may go on.
pub(crate) fn first_thread_has_ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| is_of_ended_thread(&stat))
}

fn is_of_ended_thread(stat: &str) -> bool {
    matches!(fields(stat).next(), Some("Z" | "X"))
}

/// Returns the fields after the name of the program, which may contain anything.
fn fields(stat: &str) -> impl Iterator<Item = &str> {
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace()
}

/// Whether a process is ending, or has ended.
pub(crate) fn is_ending(pid: u32) -> bool {
    /// `PF_EXITING` in the kernel's `sched.h`.
    const EXITING: u64 = 4;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let flags = fields(&stat).nth(6);
    flags
        .and_then(|flags| flags.parse().ok())
        .is_none_or(|flags: u64| flags & EXITING != 0)
}

/// Returns what the system tells of a process now.
pub(crate) fn describe(pid: u32, origin: Origin) -> ProcessStart {
    ProcessStart {
        origin,
        executable: executable(pid),
        command: words(&command_line(pid)),
        owner: Owner::of(pid),
    }
}

fn executable(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Returns the beginning of a command line. A whole one has up to megabytes.
fn command_line(pid: u32) -> Vec<u8> {
    const MOST_BYTES: u64 = 4096;
    in_time(Duration::from_millis(200), move || {
        let mut line = Vec::new();
        let file = File::open(format!("/proc/{pid}/cmdline"));
        match file.and_then(|file| file.take(MOST_BYTES).read_to_end(&mut line)) {
            Ok(_) => line,
            Err(_) => Vec::new(),
        }
    })
}

/// Returns what a process has mapped, as the kernel lists it: at most the first 16 MiB.
pub fn mappings_of(pid: u32) -> String {
    const MOST_BYTES: u64 = 16 << 20;
    in_time(Duration::from_secs(1), move || {
        let mut maps = Vec::new();
        let file = File::open(format!("/proc/{pid}/maps"));
        // What was read before an error is as true as the rest.
        let _ = file.and_then(|file| file.take(MOST_BYTES).read_to_end(&mut maps));
        String::from_utf8_lossy(&maps).into_owned()
    })
}

/// Returns what `read` gives, or nothing if that takes too long. The arguments of a process are in
/// its memory, and that can be in a file of a file system that never answers.
fn in_time<T: Default + Send + 'static>(patience: Duration, read: impl FnOnce() -> T + Send + 'static) -> T {
    /// Threads that wait for an answer.
    const MOST: usize = 8;
    static WAITING: AtomicUsize = AtomicUsize::new(0);
    if WAITING.load(Ordering::Acquire) >= MOST {
        return T::default();
    }
    WAITING.fetch_add(1, Ordering::AcqRel);
    let (answer, answered) = mpsc::channel();
    let work = move || {
        // Nobody listens any more if it took too long.
        let _ = answer.send(read());
        WAITING.fetch_sub(1, Ordering::AcqRel);
    };
    if thread::Builder::new().name("reader".to_owned()).spawn(work).is_err() {
        WAITING.fetch_sub(1, Ordering::AcqRel);
        return T::default();
    }
    answered.recv_timeout(patience).unwrap_or_default()
}

fn words(arguments: &[u8]) -> Vec<String> {
    let arguments = arguments.strip_suffix(b"\0").unwrap_or(arguments);
    if arguments.is_empty() {
        return Vec::new();
    }
    let words = arguments.split(|byte| *byte == 0);
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// What the kernel recorded of a program, which may have ended since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded<'a> {
    /// The path that was executed, or the name of the file alone.
    pub(crate) path: &'a [u8],
    pub(crate) arguments: &'a [u8],
    /// Whether there are more arguments.
    pub(crate) is_cut: bool,
    /// The real user, in the kernel's own numbers.
    pub(crate) user: u32,
}

impl Recorded<'_> {
    /// Adds what the system still tells, if it is of the same program.
    pub(crate) fn complete(self, pid: u32, origin: Origin) -> ProcessStart {
        let path = Path::new(OsStr::from_bytes(self.path));
        let is_same = |found: &PathBuf| !path.is_absolute() && found.file_name() == path.file_name();
        let recorded = (!self.path.is_empty()).then(|| path.to_owned());
        let executable = if path.is_absolute() {
            recorded
        } else {
            executable(pid).filter(is_same).or(recorded)
        };
        let longer = self.is_cut.then(|| command_line(pid));
        let longer = longer.filter(|longer| longer.starts_with(self.arguments));
        ProcessStart {
            origin,
            executable,
            command: words(longer.as_deref().unwrap_or(self.arguments)),
            owner: Owner::of(pid).or(Owner {
                user: Some(self.user),
                cgroup: None,
            }),
        }
    }
}

/// Returns the pids of all processes.
pub(crate) fn all() -> BTreeSet<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Returns processes and all that descend from them.
pub(crate) fn with_descendants(roots: &[u32]) -> BTreeSet<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in all() {
        if let Some(stat) = Stat::from_pid(pid) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    let mut found: BTreeSet<u32> = roots.iter().copied().collect();
    let mut open = roots.to_vec();
    while let Some(pid) = open.pop() {
        for child in children.get(&pid).into_iter().flatten() {
            if found.insert(*child) {
                open.push(*child);
            }
        }
    }
    found
}

/// Two fields of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    parent: u32,
    /// In clock ticks since the system started. Another process with the pid has another one.
    started: u64,
}

impl Stat {
    /// Whether it is of the same process, which may have another parent now.
    pub(crate) fn is_same_process(self, other: Stat) -> bool {
        self.started == other.started
    }

    pub(crate) fn from_pid(pid: u32) -> Option<Stat> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program may contain anything, also parentheses and spaces.
        let (_, rest) = text.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        Some(Stat {
            parent: fields.nth(1)?.parse().ok()?,
            started: fields.nth(17)?.parse().ok()?,
        })
    }
}

/// Whether `/proc` shows this process with the process id that it has. It does not in a container
/// that has its own process ids, and the `/proc` of another one.
pub fn sees_its_own_process_ids() -> bool {
    let own = std::process::id().to_string();
    std::fs::read_link("/proc/self").is_ok_and(|link| link == Path::new(&own))
}

/// Returns whose process ids this process sees. `None` if `/proc` is of another namespace.
pub(crate) fn pids() -> Option<Pids> {
    // The kernel numbers its first namespace so (`PROC_PID_INIT_INO`).
    const FIRST: u64 = 0xefff_fffc;
    let namespace = std::fs::metadata("/proc/self/ns/pid").ok()?;
    match namespace.ino() {
        _ if !sees_its_own_process_ids() => None,
        FIRST => Some(Pids::OfTheKernel),
        inode => Some(Pids::OfNamespace {
            // The kernel's own form of the number: its file systems have the major number 0.
            device: u64::from(rustix::fs::minor(namespace.dev())),
            inode,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: Origin = Origin::Before;

    #[test]
    fn arguments_are_split_at_their_ends() {
        let recorded = Recorded {
            path: b"/bin/echo",
            arguments: b"echo\0\0two words\0",
            is_cut: false,
            user: 7,
        };
        let start = recorded.complete(u32::MAX, BEFORE);
        assert_eq!(start.command, ["echo", "", "two words"]);
        assert_eq!(start.executable.as_deref(), Some(Path::new("/bin/echo")));
        assert_eq!(
            start.owner.user,
            Some(7),
            "the process is gone, and the kernel recorded its user"
        );
    }

    #[test]
    fn the_name_of_a_file_is_completed_if_the_process_still_runs_it() {
        let own = std::env::current_exe().unwrap();
        let name = own.file_name().unwrap().as_bytes();
        let recorded = |path| Recorded {
            path,
            arguments: b"",
            is_cut: false,
            user: 0,
        };
        let id = std::process::id();
        assert_eq!(recorded(name).complete(id, BEFORE).executable.as_ref(), Some(&own));
        let other = recorded(b"other").complete(id, BEFORE).executable;
        assert_eq!(other.as_deref(), Some(Path::new("other")));
    }

    #[test]
    fn of_a_long_command_line_the_beginning_is_kept() {
        let long = "word ".repeat(20_000);
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", "read line", &long])
            .stdin(std::process::Stdio::piped());
        let mut child = shell.spawn().unwrap();
        // The kernel sets it up a moment after the exec.
        let line = std::iter::repeat_with(|| command_line(child.id())).find(|line| !line.is_empty());
        let line = line.unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(line.len(), 4096);
        assert!(line.starts_with(b"sh\0-c\0read line\0word word"));
    }

    #[test]
    fn what_never_answers_is_nothing_and_is_not_asked_again_and_again() {
        let (keep, kept) = mpsc::channel::<()>();
        let kept = std::sync::Arc::new(std::sync::Mutex::new(kept));
        let asked = std::sync::Arc::new(AtomicUsize::new(0));
        for _ in 0..20 {
            let (kept, asked) = (kept.clone(), asked.clone());
            let answer = in_time(Duration::from_millis(20), move || {
                asked.fetch_add(1, Ordering::AcqRel);
                // Until the sender is gone.
                let _ = kept.lock().map(|kept| kept.recv());
                7
            });
            assert_eq!(answer, 0);
        }
        assert!(asked.load(Ordering::Acquire) <= 8);
        drop(keep);
    }

    #[test]
    fn a_process_has_ended_before_its_parent_waits_for_it() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(!has_ended(child.id()) && !has_ended(std::process::id()));
        child.kill().unwrap();
        let until = std::time::Instant::now() + Duration::from_secs(20);
        while !has_ended(child.id()) {
            assert!(std::time::Instant::now() < until);
            thread::sleep(Duration::from_millis(1));
        }
        assert!(exists(child.id()));
        child.wait().unwrap();
        assert!(has_ended(child.id()));
    }

    #[test]
    fn descendants_are_found_with_their_process() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let found = with_descendants(&[std::process::id()]);
        assert!(found.contains(&std::process::id()) && found.contains(&child.id()));
        assert_eq!(with_descendants(&[child.id()]), BTreeSet::from([child.id()]));
        assert_eq!(with_descendants(&[child.id(), std::process::id()]), found);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
