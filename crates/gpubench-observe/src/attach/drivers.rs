//! The files of the driver, found while processes map them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use gpubench_bpf::perf::{Lifecycle, Records, Watched};
use gpubench_bpf::{Account, BpfError, Link, Within};

use super::libraries::{self, Driver, Inode, below_root, is_driver};
use super::mapped::{Found, Job, MappedFile, Mapping, Unread};
use super::places::{NOBODY, Places, Room};
use super::prober::{Attached, Looked, Probed, Prober};
use super::scouts::{Accepted, Limits, News, Scouts};
use super::unobserved::Unobserved;
use crate::cuda::{Functions, Scope};
use crate::system;

/// The files of the driver.
///
/// Whoever may map a file may name it like the driver. So such files are read and probed in other
/// threads, within limits for each account, and an account has no more places than others leave.
#[derive(Debug)]
pub(super) struct Drivers {
    scope: Scope,
    prober: Arc<Prober>,
    places: Places<DriverFile>,
    /// The files as records of mappings name them.
    mappings: HashMap<Mapping, Inode>,
    /// Without them, drivers that are mapped later in unusual places are not seen.
    records: Option<Records>,
    scouts: Scouts<Job, Found>,
    /// Files that a scan found.
    scanned: Vec<(Account, MappedFile)>,
    /// Processes that have mapped a file that is looked at for their account.
    underway: HashMap<(Account, Mapping), BTreeSet<u32>>,
    next_survey: Instant,
    /// Processes whose driver is not probed yet.
    awaiting: BTreeSet<u32>,
    /// Processes that ended before the driver they used was probed.
    too_late: BTreeSet<u32>,
    unobserved: Unobserved,
}

/// A file that is named like the driver.
#[derive(Debug)]
enum DriverFile {
    Probed { driver: Driver, links: Vec<Link> },
    Refused { path: PathBuf, error: BpfError },
}

/// The longest wait for files that processes had mapped before the observation.
const LONGEST_START: Duration = Duration::from_secs(5);
/// The shortest time between two looks at all processes.
const BETWEEN_SURVEYS: Duration = Duration::from_secs(2);
/// The most looks at a file that another thread looks at.
const MOST_TRIES: u32 = 200;
/// Notices of files whose probes are slow.
const MOST_SLOW: usize = 4;
/// Files that records of mappings name differently.
const MOST_MAPPINGS: usize = 1024;

impl Drivers {
    pub(super) fn new(prober: Prober, scope: Scope) -> Drivers {
        Drivers {
            scope,
            prober: Arc::new(prober),
            places: Places::new(),
            mappings: HashMap::new(),
            records: Records::open(Watched::System).ok(),
            scouts: Scouts::new(Limits::default()),
            scanned: Vec::new(),
            underway: HashMap::new(),
            next_survey: Instant::now(),
            awaiting: BTreeSet::new(),
            too_late: BTreeSet::new(),
            unobserved: Unobserved::default(),
        }
    }

    pub(super) fn functions(&self) -> MutexGuard<'_, Functions> {
        self.prober.functions()
    }

    /// Probes a file of this machine, which keeps its place.
    ///
    /// # Errors
    ///
    /// If this process may probe none.
    pub(super) fn probe_installed(&mut self, path: &Path) -> Result<(), BpfError> {
        let Some(Looked { inode, new: Some(new) }) = self.prober.look_at(path) else {
            return Ok(());
        };
        match new.outcome {
            Err(error @ BpfError::Refused { .. }) if error.is_denied() => return Err(error),
            outcome => self.place(inode, Account::Own, Probed { outcome, ..new }),
        }
        self.places.hold(NOBODY, Account::Own, inode);
        Ok(())
    }

    /// Looks for the drivers that processes have mapped: all processes if none are given. Returns
    /// those that have one.
    pub(super) fn find_users(&mut self, of: Option<&BTreeSet<u32>>) -> BTreeSet<u32> {
        match of {
            None => drop(self.add(Account::Own, Job::Survey)),
            Some(pids) => self.scan(by_account(pids.iter().copied())),
        }
        self.settle();
        let holders = self.scanned.iter().flat_map(|(_, file)| file.holders.iter());
        holders.copied().collect()
    }

    /// Probes the drivers that were found, and waits for it.
    pub(super) fn probe_found(&mut self) {
        self.take_scanned();
        self.settle();
        // The notices of the start have them.
        self.unobserved.forget_unreadable();
    }

    /// Waits until all jobs are done, but not for ever.
    fn settle(&mut self) {
        let begun = Instant::now();
        loop {
            self.hear();
            if self.scouts.are_done() || begun.elapsed() > LONGEST_START {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Probes the drivers that processes have mapped since the last call. `concerns` tells whether
    /// a process is observed.
    pub(super) fn poll(&mut self, concerns: impl Fn(u32) -> bool) {
        let records = self.records.as_mut().map(Records::read).unwrap_or_default();
        let mut accounts: HashMap<u32, Account> = HashMap::new();
        for record in records {
            let pid = record.pid;
            match record.what {
                Lifecycle::Forked { parent } => self.places.fork(parent, pid),
                Lifecycle::Exec { .. } => self.places.release(pid),
                Lifecycle::Exited => {
                    self.places.release(pid);
                    if self.awaiting.remove(&pid) {
                        self.too_late.insert(pid);
                    }
                }
                Lifecycle::Lost { records } => self.lost(records, &concerns),
                Lifecycle::Mapped {
                    address,
                    bytes,
                    device,
                    inode,
                    name,
                    ..
                } if is_driver(&name) && concerns(pid) => {
                    let range = format!("{address:x}-{:x}", address.saturating_add(bytes));
                    let account = *accounts.entry(pid).or_insert_with(|| Account::from_pid(pid));
                    let file = MappedFile {
                        pid,
                        mapping: Some((device, inode)),
                        place: PathBuf::from(format!("/proc/{pid}/map_files/{range}")),
                        name: Some(name),
                        holders: BTreeSet::from([pid]),
                        waited: 0,
                    };
                    self.mapped(account, (device, inode), file);
                }
                Lifecycle::Mapped { .. } => {}
            }
        }
        self.hear();
        self.take_scanned();
    }

    /// Looks at all observed processes again, since a driver may be among what was lost.
    fn lost(&mut self, records: u64, concerns: impl Fn(u32) -> bool) {
        self.unobserved.lost += records;
        self.places.release_gone(system::exists);
        self.awaiting.retain(|pid| system::exists(*pid));
        if Instant::now() >= self.next_survey {
            self.next_survey = Instant::now() + BETWEEN_SURVEYS;
            match self.scope {
                Scope::Everything => drop(self.add(Account::Own, Job::Survey)),
                Scope::Listed | Scope::Alone => {
                    self.scan(by_account(system::all().into_iter().filter(|pid| concerns(*pid))))
                }
            }
        }
    }

    fn mapped(&mut self, account: Account, mapping: Mapping, mut file: MappedFile) {
        let pid = file.pid;
        if let Some(path) = self.give_up_lost(pid, mapping) {
            // The folder of a process without its first thread leads nowhere.
            file.place = path;
        }
        if let Some(inode) = self.mappings.get(&mapping) {
            self.places.hold(pid, account, *inode);
            return;
        }
        // The path of a process that ends leads nowhere, also to a driver that is probed.
        let is_known = self.places.iter().any(|((_, known), _)| known == mapping.1);
        let is_underway = self.underway.contains_key(&(account, mapping));
        let has_room = is_known || is_underway || self.places.room_for(account) != Room::None;
        let is_awaited = is_underway || (has_room && self.add(account, Job::File(file)));
        if is_awaited {
            self.underway.entry((account, mapping)).or_default().insert(pid);
        }
        if !has_room {
            self.unobserved.reasons(account).without_place += 1;
        }
        if is_known {
            return;
        }
        let programs = if is_awaited && !system::has_ended(pid) {
            &mut self.awaiting
        } else {
            &mut self.too_late
        };
        programs.insert(pid);
    }

    /// Adds a job, and returns whether it will run.
    fn add(&mut self, account: Account, job: Job) -> bool {
        let is_accepted = self.scouts.add(account, job) == Accepted::Yes;
        self.unobserved.reasons(account).refused += u64::from(!is_accepted);
        is_accepted
    }

    fn scan(&mut self, processes: BTreeMap<Account, Vec<u32>>) {
        for (account, pids) in processes {
            self.add(account, Job::Scan(pids));
        }
    }

    /// Takes what jobs have found.
    fn hear(&mut self) {
        let prober = self.prober.clone();
        let News { found, stuck } = self.scouts.poll(move |_, job| job.run(&prober));
        for account in stuck {
            self.unobserved.reasons(account).slow += 1;
            self.underway.retain(|(of, _), _| *of != account);
        }
        for (account, found) in found {
            match found {
                Found::Processes(processes) => self.scan(processes),
                Found::Files(files) => self.scanned.extend(files.into_iter().map(|file| (account, file))),
                Found::File(file, looked) => self.looked(account, file, looked),
            }
        }
    }

    fn take_scanned(&mut self) {
        for (account, file) in std::mem::take(&mut self.scanned) {
            self.add(account, Job::File(file));
        }
    }

    fn looked(&mut self, account: Account, mut file: MappedFile, looked: Result<Looked, Unread>) {
        if let Some(mapping) = file.mapping {
            file.holders
                .extend(self.underway.remove(&(account, mapping)).unwrap_or_default());
        }
        let Looked { inode, new } = match looked {
            Ok(looked) => looked,
            Err(Unread::Gone) => return self.look_through_another(account, file),
            Err(Unread::Closed) => {
                self.unobserved.reasons(account).closed += 1;
                for pid in &file.holders {
                    self.awaiting.remove(pid);
                }
                return;
            }
        };
        match new {
            Some(new) => {
                self.unobserved.reasons(account).unreadable += u64::from(new.outcome.is_err());
                // A scan finds files only at the start, or after a loss, which has its own notice.
                if new.outcome.is_ok() && file.mapping.is_some() {
                    self.unobserved
                        .late
                        .add(&new.path, file.name.as_deref(), file.holders.len());
                }
                self.place(inode, account, new);
            }
            // Another thread looks at it, perhaps for one who has no place for it.
            None if !self.places.has(inode) && file.waited < MOST_TRIES => {
                file.waited += 1;
                return self.look_again(account, file);
            }
            None => {}
        }
        for pid in &file.holders {
            self.awaiting.remove(pid);
            // Nobody will tell that one has ended which ended before.
            if system::exists(*pid) {
                self.places.hold(*pid, account, inode);
            }
        }
        if let Some(mapping) = file.mapping.filter(|_| self.places.has(inode)) {
            if self.mappings.len() >= MOST_MAPPINGS {
                self.mappings.clear();
            }
            self.mappings.insert(mapping, inode);
        }
    }

    /// Looks at a file through another process that has mapped it: the one before has ended.
    fn look_through_another(&mut self, account: Account, mut file: MappedFile) {
        file.holders.remove(&file.pid);
        // Nothing is left of the driver that it used.
        if self.awaiting.remove(&file.pid) {
            self.too_late.insert(file.pid);
        }
        if let Some(pid) = file.holders.first().copied() {
            file.pid = pid;
            file.place = below_root(pid, file.name.as_deref().unwrap_or(&file.place));
            self.look_again(account, file);
        }
    }

    fn look_again(&mut self, account: Account, file: MappedFile) {
        let (mapping, holders) = (file.mapping, file.holders.clone());
        if self.add(account, Job::File(file))
            && let Some(mapping) = mapping
        {
            self.underway.insert((account, mapping), holders);
        }
    }

    /// Gives a file a place, if it has one.
    fn place(&mut self, inode: Inode, account: Account, new: Probed) {
        match self.places.room_for(account) {
            Room::Free => {}
            Room::InsteadOf(other) => self.evict(other),
            Room::None => {
                self.unobserved.reasons(account).without_place += 1;
                self.prober.forget(inode);
                detach_aside(new.outcome.map_or_else(|_| Vec::new(), |attached| attached.links));
                return;
            }
        }
        let path = new.path;
        let file = match new.outcome {
            Ok(Attached {
                recognised,
                traps,
                within,
                links,
            }) => DriverFile::Probed {
                driver: Driver {
                    path,
                    recognised,
                    traps,
                    within,
                },
                links,
            },
            Err(error) => DriverFile::Refused { path, error },
        };
        self.places.take(inode, account, file);
    }

    /// Gives a file up whose probes a process that is observed alone does not get any more, so that
    /// it is probed anew. Returns the path that leads to it.
    fn give_up_lost(&mut self, pid: u32, (_, number): Mapping) -> Option<PathBuf> {
        let lost = self.places.iter().find_map(|(inode, file)| match file {
            _ if inode.1 != number => None,
            DriverFile::Probed { driver, links } if driver.within != Within::AllProcesses => {
                let is_lost = system::first_thread_has_ended(pid) || links.iter().any(Link::has_lost_its_process);
                (is_lost && !system::has_ended(pid)).then(|| (inode, driver.path.clone()))
            }
            DriverFile::Probed { .. } | DriverFile::Refused { .. } => None,
        });
        let (inode, path) = lost?;
        // They would run too where others put a probe.
        drop(self.take(inode));
        Some(path).filter(|path| libraries::inode(path) == Some(inode))
    }

    fn evict(&mut self, inode: Inode) {
        detach_aside(self.take(inode));
    }

    /// Takes the place of a file away, and returns its probes.
    fn take(&mut self, inode: Inode) -> Vec<Link> {
        self.mappings.retain(|_, known| *known != inode);
        self.prober.forget(inode);
        match self.places.evict(inode) {
            Some(DriverFile::Probed { links, .. }) => links,
            Some(DriverFile::Refused { .. }) | None => Vec::new(),
        }
    }

    /// Returns how many processes have ended whose driver is looked at.
    pub(super) fn ended_meanwhile(&self) -> u64 {
        self.awaiting.iter().filter(|pid| system::has_ended(**pid)).count() as u64
    }

    /// Returns the processes that ended before the driver they used was probed.
    pub(super) fn too_late(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.too_late)
    }

    pub(super) fn probed(&self) -> impl Iterator<Item = &Driver> {
        self.places.iter().filter_map(|(_, file)| match file {
            DriverFile::Probed { driver, .. } => Some(driver),
            DriverFile::Refused { .. } => None,
        })
    }

    pub(super) fn refused(&self) -> impl Iterator<Item = (&Path, &BpfError)> {
        self.places.iter().filter_map(|(_, file)| match file {
            DriverFile::Refused { path, error } => Some((&**path, error)),
            DriverFile::Probed { .. } => None,
        })
    }

    /// Returns what of drivers is not observed, and why, and whose probes are slow.
    pub(super) fn notices(&self) -> Vec<String> {
        let stepped = |driver: &&Driver| driver.recognised.stepped_launches > 0;
        let slow = self.probed().filter(stepped).take(MOST_SLOW).map(|driver| {
            format!(
                "launches through `{}` take 10 to 20 µs longer each, since the kernel steps over their first \
                 instruction",
                driver.path.display()
            )
        });
        self.unobserved.notices().into_iter().chain(slow).collect()
    }

    /// Takes all probes, to remove them.
    pub(super) fn take_links(&mut self) -> Vec<Link> {
        let inodes: Vec<Inode> = self.places.iter().map(|(inode, _)| inode).collect();
        let files = inodes.into_iter().filter_map(|inode| self.places.evict(inode));
        let links = files.map(|file| match file {
            DriverFile::Probed { links, .. } => links,
            DriverFile::Refused { .. } => Vec::new(),
        });
        links.flatten().collect()
    }
}

fn by_account(pids: impl Iterator<Item = u32>) -> BTreeMap<Account, Vec<u32>> {
    let mut processes: BTreeMap<Account, Vec<u32>> = BTreeMap::new();
    for pid in pids {
        processes.entry(Account::from_pid(pid)).or_default().push(pid);
    }
    processes
}

/// Removes probes. The kernel waits for all processors meanwhile.
fn detach_aside(links: Vec<Link>) {
    // Without room for a thread, it happens here.
    let _ = thread::Builder::new()
        .name("detach".to_owned())
        .spawn(move || drop(links));
}
