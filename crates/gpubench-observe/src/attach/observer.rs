//! The observer of a machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::ScopedJoinHandle;

use gpubench_bpf::elf::{Function, Library};
use gpubench_bpf::{Abilities, Ability, AttachType, BpfError, HeldChild, KernelTypes, Link, Map, Update};
use gpubench_diagnostic::Failure;

use super::counts::Counts;
use super::libraries::{self, Driver, Inode};
use super::mapped::{Mapped, MappedDrivers};
use super::{ObserveError, Target};
use crate::cuda::{
    Coverage, Decoder, Decoding, FIRST_SEEN, Functions, Introduction, Maps, PROCESSES_LOST, Plan, Programs, Recognised,
    Recording, Scope, counter, is_observed, process_value,
};
use crate::system::{self, Stat};
use crate::{Event, EventKind, FunctionTotal, Launches, Origin, ProcessId, Source};

/// Observes processes through probes on the functions of their driver.
///
/// All probes are gone when this is dropped, and when its process ends, however it ends. Poll it at
/// least each 50 ms: what the kernel has no room for is lost and counted. The events of a process
/// come in the order in which their calls end.
#[derive(Debug)]
pub struct Observer {
    maps: Maps,
    programs: Programs,
    functions: Functions,
    decoder: Decoder,
    /// In the order in which they were attached.
    links: Vec<Link>,
    attachment: Attachment,
    scope: Scope,
    counts: Counts,
    drivers: BTreeMap<Inode, Driver>,
    /// Files that are named like a driver and cannot be probed.
    unreadable: BTreeMap<Inode, (PathBuf, BpfError)>,
    mapped: Option<MappedDrivers>,
    /// Processes that ended before the driver they used was probed.
    too_late: BTreeSet<u32>,
    missed: u64,
    child: Option<Child>,
    /// Events that wait for the next poll.
    events: Vec<Event>,
}

/// Different files that are probed. The links to one take three descriptors.
const MOST_FILES: usize = 128;

/// How probes are attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// All probes of a library at once.
    AtOnce,
    /// One by one, and to the functions with a meaning for the observer alone: for Linux before
    /// 6.6. Each takes 0.1 s to detach.
    OneByOne,
}

impl Observer {
    /// Begins to observe, with launches one by one. A command runs when this returns.
    ///
    /// # Errors
    ///
    /// If the machine does not allow it, or there is no such process or program.
    pub fn attach(target: Target) -> Result<Observer, ObserveError> {
        Observer::begin_with(target, Launches::Each)
    }

    /// Begins to observe, with counted launches. A command runs when this returns.
    ///
    /// # Errors
    ///
    /// As [`Observer::attach`].
    pub fn attach_counting(target: Target) -> Result<Observer, ObserveError> {
        Observer::begin_with(target, Launches::Counted)
    }

    fn begin_with(target: Target, launches: Launches) -> Result<Observer, ObserveError> {
        let attachment = match Abilities::to_probe().map_err(ObserveError::NotAllowed)? {
            Ability::Probes => Attachment::AtOnce,
            _ => Attachment::OneByOne,
        };
        Observer::attach_with(target, attachment, launches)
    }

    /// Begins to observe with a given way to attach probes.
    ///
    /// # Errors
    ///
    /// As [`Observer::attach`].
    pub fn attach_with(target: Target, attachment: Attachment, launches: Launches) -> Result<Observer, ObserveError> {
        let pids = system::pids().ok_or(ObserveError::OwnProcessIds)?;
        let search = match &target {
            Target::Command(command) => library_path(command),
            Target::Process(_) | Target::System => own_library_path(),
        };
        let installed = libraries::installed(search.as_deref());
        let scope = match target {
            Target::Command(_) | Target::Process(_) => Scope::Listed,
            Target::System => Scope::Everything,
        };
        let recording = Recording { scope, launches, pids };
        let observer = Observer::begin(recording, attachment, &installed)?;
        match target {
            Target::Command(command) => observer.run(command),
            Target::Process(pid) => observer.follow(pid),
            Target::System => observer.follow_all(),
        }
    }

    /// Returns an observer that follows processes, none yet, and probes the installed drivers.
    fn begin(
        recording: Recording,
        attachment: Attachment,
        installed: &BTreeSet<PathBuf>,
    ) -> Result<Observer, ObserveError> {
        let attach = match attachment {
            Attachment::AtOnce => AttachType::UprobeMulti,
            Attachment::OneByOne => AttachType::Plain,
        };
        // Each of the three takes about 10 ms.
        let (maps, types, drivers) = std::thread::scope(|threads| {
            let types = threads.spawn(KernelTypes::load);
            let drivers = threads.spawn(|| installed.iter().filter_map(|file| DriverFile::read(file)).collect());
            (Maps::create(), joined(types), joined::<Vec<DriverFile>>(drivers))
        });
        let maps = maps?;
        let programs = Programs::load(&maps, &types?, recording, attach)?;
        let links = programs.follow_processes()?;
        let mut observer = Observer {
            maps,
            programs,
            functions: Functions::default(),
            decoder: Decoder::default(),
            links,
            attachment,
            scope: recording.scope,
            counts: Counts::of(recording.launches),
            drivers: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            // Without it, drivers that are mapped later in unusual places are not seen.
            mapped: MappedDrivers::watch().ok(),
            too_late: BTreeSet::new(),
            missed: 0,
            child: None,
            events: Vec::new(),
        };
        for driver in drivers {
            observer.probe(driver)?;
        }
        Ok(observer)
    }

    fn run(mut self, command: Command) -> Result<Observer, ObserveError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let held = HeldChild::start(command)?;
        self.list(held.pid(), FIRST_SEEN)?;
        let released = held.release();
        self.child = Some(released.map_err(|source| ObserveError::Start { program, source })?);
        Ok(self)
    }

    fn follow(mut self, root: u32) -> Result<Observer, ObserveError> {
        if !system::exists(root) {
            return Err(ObserveError::NoProcess(root));
        }
        let mut listed = BTreeSet::new();
        // A process that is not listed yet may fork meanwhile. Once a round finds none, all are.
        loop {
            let found = system::with_descendants(root);
            let new: Vec<u32> = found.difference(&listed).copied().collect();
            if new.is_empty() {
                break;
            }
            for pid in new {
                listed.insert(pid);
                self.find(pid)?;
            }
        }
        for file in listed.iter().flat_map(|pid| libraries::mapped_by(*pid)) {
            self.probe_file(&file)?;
        }
        Ok(self)
    }

    fn follow_all(mut self) -> Result<Observer, ObserveError> {
        for pid in system::all() {
            let mapped = libraries::mapped_by(pid);
            if !mapped.is_empty() {
                self.find(pid)?;
            }
            for file in mapped {
                self.probe_file(&file)?;
            }
        }
        Ok(self)
    }

    /// Lists a process that runs already, unless it ends meanwhile.
    fn find(&mut self, pid: u32) -> Result<(), BpfError> {
        let Some(before) = Stat::of(pid) else {
            return Ok(());
        };
        let started = system::now();
        if !self.list(pid, started.0)? {
            return Ok(());
        }
        if Stat::of(pid).is_none_or(|after| !after.is_same_process(before)) {
            self.maps.processes.delete(&pid.to_ne_bytes())?;
            return Ok(());
        }
        let found = Introduction {
            process: ProcessId { pid, started },
            start: system::describe(pid, Origin::Before),
        };
        let mut decoding = Decoding {
            functions: &self.functions,
            launches: &self.maps.launches,
            events: &mut self.events,
        };
        self.decoder.introduce(found, &mut decoding);
        Ok(())
    }

    /// Tells the kernel to observe a process. Returns whether it did not already.
    fn list(&self, pid: u32, started: u64) -> Result<bool, BpfError> {
        let value = process_value(started);
        self.maps.processes.update(&pid.to_ne_bytes(), &value, Update::Absent)
    }

    /// Probes a file of the driver that is not probed yet.
    fn probe_file(&mut self, file: &Path) -> Result<(), BpfError> {
        match self.knows(file) {
            true => Ok(()),
            false => DriverFile::read(file).map_or(Ok(()), |driver| self.probe(driver)),
        }
    }

    /// Whether a file was looked at. There is none that cannot be found.
    fn knows(&self, file: &Path) -> bool {
        let is_known = |inode: Inode| self.drivers.contains_key(&inode) || self.unreadable.contains_key(&inode);
        libraries::inode(file).is_some_and(is_known)
    }

    /// Probes a driver. A file that is none, or that cannot be probed, is remembered: it does not
    /// end the observation of the others.
    ///
    /// # Errors
    ///
    /// If this process may probe none.
    fn probe(&mut self, driver: DriverFile) -> Result<(), BpfError> {
        let DriverFile { path, inode, functions } = driver;
        if self.drivers.contains_key(&inode) {
            return Ok(());
        }
        match functions.and_then(|library| self.probe_functions(&path, &library.functions)) {
            Ok(recognised) => {
                self.drivers.insert(inode, Driver { path, recognised });
            }
            Err(error @ BpfError::Refused { .. }) if error.is_denied() => return Err(error),
            Err(error) => {
                self.unreadable.insert(inode, (path, error));
            }
        }
        Ok(())
    }

    fn probe_functions(&mut self, path: &Path, library: &[Function]) -> Result<Recognised, BpfError> {
        let coverage = match self.attachment {
            Attachment::AtOnce => Coverage::All,
            Attachment::OneByOne => Coverage::Roles,
        };
        let plan = Plan::of(library, &mut self.functions, coverage);
        for (place, points) in plan.places() {
            let program = self.programs.at(place);
            match self.attachment {
                Attachment::AtOnce => {
                    let link = Link::uprobe_multi(program, path, &points, place.moment())?;
                    self.links.push(link);
                }
                Attachment::OneByOne => {
                    for point in points {
                        let link = Link::uprobe(program, path, point, place.moment())?;
                        self.links.push(link);
                    }
                }
            }
        }
        Ok(Recognised::of(library))
    }

    /// Probes drivers that processes have mapped since the last poll.
    fn probe_mapped(&mut self) {
        let mapped = self.mapped.as_mut().map(MappedDrivers::next).unwrap_or_default();
        for Mapped { pid, file, number } in mapped {
            let files = self.drivers.keys().chain(self.unreadable.keys());
            let is_known = files.map(|(_, known)| *known).any(|known| known == number);
            if self.knows(&file) {
                continue;
            }
            let is_full = self.drivers.len() + self.unreadable.len() >= MOST_FILES;
            // One file that cannot be probed does not end the observation of the others.
            if !is_full
                && let Err(error) = self.probe_file(&file)
                && let Some(inode) = libraries::inode(&file)
            {
                self.unreadable.insert(inode, (file, error));
            }
            // The path of a process that ends leads nowhere, also to a driver that is probed.
            if !is_known && (is_full || !system::exists(pid)) {
                self.too_late.insert(pid);
            }
        }
    }

    /// Counts the observed processes that used a driver which was never probed while they ran.
    fn count_missed(&mut self, events: &[Event]) {
        let began = |pid: u32| {
            let is_begin = |event: &Event| event.process.pid == pid && matches!(event.kind, EventKind::Started(_));
            events.iter().any(is_begin)
        };
        let too_late = std::mem::take(&mut self.too_late);
        let is_observed = |pid: &u32| match self.scope {
            Scope::Listed => self.decoder.follows(*pid) || began(*pid),
            Scope::Everything => true,
        };
        let missed = too_late.into_iter().filter(is_observed);
        self.missed += missed.count() as u64;
    }

    /// Returns the files whose functions are probed. More may be found while the observation goes
    /// on.
    pub fn drivers(&self) -> impl Iterator<Item = &Driver> {
        self.drivers.values()
    }

    /// Returns the files that are named like a driver and cannot be probed, with the reason.
    pub fn refused(&self) -> impl Iterator<Item = (&Path, &BpfError)> {
        self.unreadable.values().map(|(path, error)| (&**path, error))
    }

    /// Returns the map of the followed processes, by pid.
    pub(crate) fn processes(&self) -> &Map {
        &self.maps.processes
    }

    /// Returns the command that was started, if one was.
    pub fn child(&mut self) -> Option<&mut Child> {
        self.child.as_mut()
    }
}

impl Source for Observer {
    fn poll(&mut self, sink: &mut dyn FnMut(Event)) -> Result<usize, Failure> {
        self.probe_mapped();
        let mut events = std::mem::take(&mut self.events);
        let mut decoding = Decoding {
            functions: &self.functions,
            launches: &self.maps.launches,
            events: &mut events,
        };
        let decoder = &mut self.decoder;
        self.maps
            .ring
            .drain(&mut |record| decoder.decode(record, &mut decoding));
        if self.counts.are_due() {
            self.counts.take(|now| decoder.count_launches(now, &mut decoding))?;
        }
        self.count_missed(&events);
        let count = events.len();
        events.drain(..).for_each(sink);
        self.events = events;
        Ok(count)
    }

    fn totals(&self) -> Vec<FunctionTotal> {
        let mut totals: BTreeMap<_, FunctionTotal> = BTreeMap::new();
        for (number, function) in self.functions.iter() {
            let counts = self.counts(number);
            let total = totals.entry(&function.call).or_insert_with(|| FunctionTotal {
                call: function.call.clone(),
                entries: 0,
                returns: 0,
                errors: 0,
                dropped: 0,
            });
            total.entries += counts[0];
            total.returns += counts[1];
            total.errors += counts[2];
            total.dropped += counts[3];
        }
        totals.into_values().filter(|total| total.entries > 0).collect()
    }

    fn lost(&self) -> u64 {
        let numbers = self.functions.iter().map(|(number, _)| number);
        numbers
            .chain([PROCESSES_LOST])
            .map(|number| self.counts(number)[3])
            .sum::<u64>()
            + self.missed
    }
}

impl Observer {
    /// Returns entries, returns, errors and dropped events of a function.
    fn counts(&self, number: u32) -> [u64; counter::BYTES / 8] {
        let value = self.maps.counters.lookup(&number.to_ne_bytes());
        let value = value.ok().flatten().unwrap_or_default();
        let mut counts = [0; counter::BYTES / 8];
        for (count, bytes) in counts.iter_mut().zip(value.chunks_exact(8)) {
            *count = bytes.iter().rev().fold(0, |count, byte| count << 8 | u64::from(*byte));
        }
        counts
    }
}

impl Drop for Observer {
    /// Removes the probes. The kernel waits for all processors at each removal, but at several at
    /// once only once.
    fn drop(&mut self) {
        std::thread::scope(|threads| {
            for link in self.links.drain(..) {
                threads.spawn(move || drop(link));
            }
        });
    }
}

/// A file of the driver, read.
#[derive(Debug)]
struct DriverFile {
    path: PathBuf,
    inode: Inode,
    functions: Result<Library, BpfError>,
}

impl DriverFile {
    /// Reads a file, unless there is none.
    fn read(path: &Path) -> Option<DriverFile> {
        Some(DriverFile {
            path: path.to_owned(),
            inode: libraries::inode(path)?,
            functions: Library::read(path, is_observed),
        })
    }
}

/// Returns what a thread returned, or panics as it did.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Returns the `LD_LIBRARY_PATH` that a command will have.
fn library_path(command: &Command) -> Option<std::ffi::OsString> {
    let set = command.get_envs().find(|(name, _)| *name == LIBRARY_PATH);
    match set {
        Some((_, value)) => value.map(ToOwned::to_owned),
        None => own_library_path(),
    }
}

const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

fn own_library_path() -> Option<std::ffi::OsString> {
    std::env::var_os(LIBRARY_PATH)
}
