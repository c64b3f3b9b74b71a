//! The observer of a machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::ScopedJoinHandle;

use gpubench_bpf::{Abilities, Ability, AttachType, BpfError, HeldChild, KernelTypes, Link, Map, Update, Within};
use gpubench_diagnostic::Failure;

use super::counts::Counts;
use super::drivers::Drivers;
use super::libraries::{self, Driver};
use super::lost_ends::LostEnds;
use super::prober::Prober;
use super::{Descendants, ObserveError, Target};
use crate::cuda::{
    Decoder, Decoding, FIRST_SEEN, Introduction, Maps, PROCESSES_LOST, Programs, Recording, Scope, counter,
    process_value,
};
use crate::system::{self, Stat};
use crate::{Event, EventKind, FunctionTotal, Launches, Origin, ProcessId, Source, Timestamp, Users};

/// Observes processes through probes on the functions of their driver.
///
/// All probes are gone when this is dropped, and when its process ends, however it ends. Poll it at
/// least each 50 ms: what the kernel has no room for is lost and counted. The events of a process
/// come in the order in which their calls end.
#[derive(Debug)]
pub struct Observer {
    maps: Maps,
    decoder: Decoder,
    /// What follows processes. In the order in which they were attached.
    links: Vec<Link>,
    scope: Scope,
    counts: Counts,
    drivers: Drivers,
    /// Processes that ended before the driver they used was probed.
    missed: u64,
    lost_ends: LostEnds,
    child: Option<Child>,
    /// Events that wait for the next poll.
    events: Vec<Event>,
}

/// What is observed, once it is there.
enum Subject {
    Command { held: HeldChild, program: String },
    Processes(Vec<u32>),
    System,
}

impl Subject {
    /// Starts a command, which waits. Checks that processes exist.
    fn hold(target: Target) -> Result<Subject, ObserveError> {
        match target {
            Target::Command(command) => {
                let program = command.get_program().to_string_lossy().into_owned();
                let held = HeldChild::start(command)?;
                Ok(Subject::Command { held, program })
            }
            Target::Processes(pids) => match pids.iter().find(|pid| !system::exists(**pid)) {
                Some(missing) => Err(ObserveError::NoProcess(*missing)),
                None => Ok(Subject::Processes(pids)),
            },
            Target::System => Ok(Subject::System),
        }
    }

    /// Returns the process if it is one. Probes in one process take several links for several.
    fn only_pid(&self) -> Option<u32> {
        match self {
            Subject::Command { held, .. } => Some(held.pid()),
            Subject::Processes(pids) => <[u32; 1]>::try_from(&**pids).ok().map(|[pid]| pid),
            Subject::System => None,
        }
    }
}

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
        Observer::attach_for(target, Descendants::Followed, Launches::Each, Users::All)
    }

    /// Begins to observe the calls of these users. A command runs when this returns.
    ///
    /// # Errors
    ///
    /// As [`Observer::attach`].
    pub fn attach_for(
        target: Target,
        descendants: Descendants,
        launches: Launches,
        users: Users,
    ) -> Result<Observer, ObserveError> {
        let attachment = match Abilities::to_probe().map_err(ObserveError::NotAllowed)? {
            Ability::Probes => Attachment::AtOnce,
            _ => Attachment::OneByOne,
        };
        Observer::attach_as(target, descendants, attachment, launches, users)
    }

    /// Begins to observe with a given way to attach probes.
    ///
    /// # Errors
    ///
    /// As [`Observer::attach`].
    pub fn attach_with(target: Target, attachment: Attachment, launches: Launches) -> Result<Observer, ObserveError> {
        Observer::attach_as(target, Descendants::Followed, attachment, launches, Users::All)
    }

    fn attach_as(
        target: Target,
        descendants: Descendants,
        attachment: Attachment,
        launches: Launches,
        users: Users,
    ) -> Result<Observer, ObserveError> {
        let pids = system::pids().ok_or(ObserveError::OwnProcessIds)?;
        let search = match &target {
            Target::Command(command) => library_path(command),
            Target::Processes(_) | Target::System => own_library_path(),
        };
        let installed = libraries::installed(search.as_deref());
        let subject = Subject::hold(target)?;
        let scope = match (&subject, descendants) {
            (Subject::System, _) => Scope::Everything,
            (_, Descendants::Followed) => Scope::Listed,
            (_, Descendants::LeftOut) => Scope::Alone,
        };
        let within = match (scope, attachment, subject.only_pid()) {
            (Scope::Alone, Attachment::AtOnce, Some(pid)) => Within::process(pid),
            _ => Within::AllProcesses,
        };
        let recording = Recording {
            scope,
            launches,
            pids,
            users,
        };
        let observer = Observer::begin(recording, attachment, within, &installed)?;
        match subject {
            Subject::Command { held, program } => observer.run(held, program),
            Subject::Processes(pids) => observer.follow(&pids),
            Subject::System => observer.follow_all(),
        }
    }

    /// Returns an observer that follows processes, none yet, and probes the installed drivers.
    fn begin(
        recording: Recording,
        attachment: Attachment,
        within: Within,
        installed: &BTreeSet<PathBuf>,
    ) -> Result<Observer, ObserveError> {
        let attach = match attachment {
            Attachment::AtOnce => AttachType::UprobeMulti,
            Attachment::OneByOne => AttachType::Plain,
        };
        // Each of the two takes about 10 ms.
        let (maps, types) = std::thread::scope(|threads| {
            let types = threads.spawn(KernelTypes::load);
            (Maps::create(), joined(types))
        });
        let maps = maps?;
        let programs = Programs::load(&maps, &types?, recording, attach)?;
        let links = programs.follow_processes(recording.scope)?;
        let mut observer = Observer {
            maps,
            decoder: Decoder::default(),
            links,
            scope: recording.scope,
            counts: Counts::new(recording.launches),
            drivers: Drivers::new(Prober::new(programs, attachment, within), recording.scope),
            missed: 0,
            lost_ends: LostEnds::new(),
            child: None,
            events: Vec::new(),
        };
        for driver in installed {
            observer.drivers.probe_installed(driver)?;
        }
        Ok(observer)
    }

    fn run(mut self, held: HeldChild, program: String) -> Result<Observer, ObserveError> {
        self.list(held.pid(), FIRST_SEEN)?;
        let released = held.release();
        self.child = Some(released.map_err(|source| ObserveError::Start { program, source })?);
        Ok(self)
    }

    fn follow(mut self, roots: &[u32]) -> Result<Observer, ObserveError> {
        let mut listed = BTreeSet::new();
        // A process that is not listed yet may fork meanwhile. Once a round finds none, all are.
        loop {
            let found = match self.scope {
                Scope::Alone => roots.iter().copied().collect(),
                Scope::Listed | Scope::Everything => system::with_descendants(roots),
            };
            let new: Vec<u32> = found.difference(&listed).copied().collect();
            if new.is_empty() {
                break;
            }
            for pid in new {
                listed.insert(pid);
                self.find(pid)?;
            }
        }
        self.drivers.find_users(Some(&listed));
        self.drivers.probe_found();
        Ok(self)
    }

    fn follow_all(mut self) -> Result<Observer, ObserveError> {
        for pid in self.drivers.find_users(None) {
            self.find(pid)?;
        }
        self.drivers.probe_found();
        Ok(self)
    }

    /// Lists a process that runs already, unless it ends meanwhile.
    fn find(&mut self, pid: u32) -> Result<(), BpfError> {
        let Some(before) = Stat::from_pid(pid) else {
            return Ok(());
        };
        let started = Timestamp::now();
        if !self.list(pid, started.0)? {
            return Ok(());
        }
        if Stat::from_pid(pid).is_none_or(|after| !after.is_same_process(before)) {
            self.maps.processes.delete(&pid.to_ne_bytes())?;
            return Ok(());
        }
        let found = Introduction {
            process: ProcessId { pid, started },
            start: system::describe(pid, Origin::Before),
        };
        let mut decoding = Decoding {
            functions: &self.drivers.functions(),
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

    /// Probes drivers that observed processes have mapped since the last poll, and counts processes
    /// for which that was too late.
    fn probe_mapped(&mut self, events: &[Event]) {
        let began = |pid: u32| {
            let is_begin = |event: &Event| event.process.pid == pid && matches!(event.kind, EventKind::Started(_));
            events.iter().any(is_begin)
        };
        let (scope, decoder, processes) = (self.scope, &self.decoder, &self.maps.processes);
        self.drivers.poll(|pid| match scope {
            Scope::Everything => true,
            Scope::Listed | Scope::Alone => {
                let is_listed = || processes.lookup(&pid.to_ne_bytes()).is_ok_and(|entry| entry.is_some());
                decoder.follows(pid) || began(pid) || is_listed()
            }
        });
        self.missed += self.drivers.too_late().len() as u64;
    }

    /// Returns the files that are named like a driver and cannot be probed, with the reason.
    pub fn refused(&self) -> impl Iterator<Item = (&Path, &BpfError)> {
        self.drivers.refused()
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
        let mut events = std::mem::take(&mut self.events);
        let functions = self.drivers.functions();
        let mut decoding = Decoding {
            functions: &functions,
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
        if self.lost_ends.are_due() {
            let lost = dropped(&self.maps, PROCESSES_LOST);
            let followed = self.decoder.processes();
            for process in self.lost_ends.look(lost, followed, system::has_ended) {
                self.decoder.end_lost(process, Timestamp::now(), &mut decoding);
            }
        }
        drop(functions);
        self.probe_mapped(&events);
        let count = events.len();
        events.drain(..).for_each(sink);
        self.events = events;
        Ok(count)
    }

    fn totals(&self) -> Vec<FunctionTotal> {
        let functions = self.drivers.functions();
        let mut totals: BTreeMap<_, FunctionTotal> = BTreeMap::new();
        for (number, function) in functions.iter() {
            let counts = counts(&self.maps, number);
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
        let functions = self.drivers.functions();
        let numbers = functions.iter().map(|(number, _)| number);
        numbers
            .chain([PROCESSES_LOST])
            .map(|number| dropped(&self.maps, number))
            .sum::<u64>()
            + self.missed
            + self.drivers.ended_meanwhile()
    }

    fn drivers(&self) -> Vec<Driver> {
        self.drivers.probed().cloned().collect()
    }

    fn notices(&self) -> Vec<String> {
        self.drivers.notices()
    }
}

/// Returns how many records of a function, or of processes, had no room.
fn dropped(maps: &Maps, number: u32) -> u64 {
    counts(maps, number)[3]
}

/// Returns entries, returns, errors and dropped events of a function.
fn counts(maps: &Maps, number: u32) -> [u64; counter::BYTES / 8] {
    let value = maps.counters.lookup(&number.to_ne_bytes());
    let value = value.ok().flatten().unwrap_or_default();
    let mut counts = [0; counter::BYTES / 8];
    for (count, bytes) in counts.iter_mut().zip(value.chunks_exact(8)) {
        *count = bytes.iter().rev().fold(0, |count, byte| count << 8 | u64::from(*byte));
    }
    counts
}

impl Drop for Observer {
    /// Removes the probes. The kernel waits for all processors at each removal, but at several at
    /// once only once.
    fn drop(&mut self) {
        std::thread::scope(|threads| {
            for link in self.links.drain(..).chain(self.drivers.take_links()) {
                threads.spawn(move || drop(link));
            }
        });
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
