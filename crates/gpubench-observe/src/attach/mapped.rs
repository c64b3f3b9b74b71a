//! What jobs of strangers' files and processes do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use gpubench_bpf::Account;

use super::libraries::{Inode, below_root, inode, mapped_by};
use super::prober::{Looked, Prober};
use crate::system;

/// A file as records of mappings name it: its device and its number there.
pub(super) type Mapping = ((u32, u32), u64);

/// Something to look at.
#[derive(Debug)]
pub(super) enum Job {
    /// The processes of the machine.
    Survey,
    /// What processes have mapped.
    Scan(Vec<u32>),
    /// A file that a process has mapped.
    File(MappedFile),
}

/// A file that a process has mapped.
#[derive(Clone, Debug)]
pub(super) struct MappedFile {
    pub(super) pid: u32,
    /// Unknown if it was found by a scan.
    pub(super) mapping: Option<Mapping>,
    /// A path through `/proc`, as long as the process has it mapped there.
    pub(super) place: PathBuf,
    /// How the process calls it.
    pub(super) name: Option<PathBuf>,
    /// All processes of the account that are known to have mapped it.
    pub(super) holders: BTreeSet<u32>,
    /// How often another thread was looking at it.
    pub(super) waited: u32,
}

/// What was found.
#[derive(Debug)]
pub(super) enum Found {
    Processes(BTreeMap<Account, Vec<u32>>),
    Files(Vec<MappedFile>),
    File(MappedFile, Result<Looked, Unread>),
}

/// Why a file was not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is not there any more, or its process has ended.
    Gone,
    /// This process may not read it.
    Closed,
}

/// The longest scan of the processes of one account.
const LONGEST_SCAN: Duration = Duration::from_secs(3);

impl Job {
    pub(super) fn run(self, prober: &Prober) -> Found {
        match self {
            Job::Survey => {
                let mut processes: BTreeMap<Account, Vec<u32>> = BTreeMap::new();
                for pid in system::all() {
                    processes.entry(Account::from_pid(pid)).or_default().push(pid);
                }
                Found::Processes(processes)
            }
            Job::Scan(pids) => {
                let until = Instant::now() + LONGEST_SCAN;
                let pids = pids.into_iter().take_while(|_| Instant::now() < until);
                let mut files: BTreeMap<Inode, MappedFile> = BTreeMap::new();
                for (pid, place) in pids.flat_map(|pid| mapped_by(pid).into_iter().map(move |place| (pid, place))) {
                    let known = files.len();
                    if let Some(inode) = inode(&place)
                        && (known < MOST_FOUND || files.contains_key(&inode))
                    {
                        let file = files.entry(inode).or_insert_with(|| MappedFile::found(pid, place));
                        file.holders.insert(pid);
                    }
                }
                Found::Files(files.into_values().collect())
            }
            Job::File(file) => {
                if file.waited > 0 {
                    thread::sleep(BETWEEN_TRIES);
                }
                let paths = file.paths();
                let looked = paths.iter().find_map(|path| prober.look_at(path));
                let is_closed = |path: &PathBuf| {
                    let error = std::fs::metadata(path).err();
                    error.is_some_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
                };
                let looked = looked.ok_or_else(|| match paths.iter().any(is_closed) {
                    true if !system::has_ended(file.pid) => Unread::Closed,
                    _ => Unread::Gone,
                });
                Found::File(file, looked)
            }
        }
    }
}

/// Files that a scan finds.
const MOST_FOUND: usize = 48;
/// A pause while another thread looks at the file.
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

impl MappedFile {
    /// A file that a scan found.
    fn found(pid: u32, place: PathBuf) -> MappedFile {
        MappedFile {
            pid,
            mapping: None,
            place,
            name: None,
            holders: BTreeSet::new(),
            waited: 0,
        }
    }

    /// Returns the paths that may lead to it, the surest first.
    fn paths(&self) -> Vec<PathBuf> {
        let in_process = self.name.as_ref().map(|name| below_root(self.pid, name));
        // A process that has ended leaves the path as it called it.
        let left = self.name.clone().filter(|_| !system::exists(self.pid));
        [Some(self.place.clone()), in_process, left]
            .into_iter()
            .flatten()
            .collect()
    }
}
