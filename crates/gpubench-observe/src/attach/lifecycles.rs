//! Processes without the calls that they make: what can be seen without rights.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Child;

use gpubench_bpf::HeldChild;
use gpubench_bpf::perf::{Lifecycle, Record, Records, Watched};
use gpubench_diagnostic::Failure;

use super::libraries::is_driver;
use super::{Descendants, ObserveError, Target};
use crate::system;
use crate::{Event, EventKind, FunctionTotal, Origin, ProcessId, ProcessStart, Source, Timestamp};

/// Begins and ends of processes, from records of the kernel that need no eBPF. Where
/// `perf_event_paranoid` is at most 2, they need no rights for processes of the same user either.
///
/// Of a process that runs already, children of its other threads are not seen. Of the whole system,
/// which needs `CAP_PERFMON`, processes are reported once they map the driver.
#[derive(Debug)]
pub struct Lifecycles {
    /// Of the whole system, or of each process.
    records: Vec<Records>,
    /// Whether a process is reported although it does not use the driver.
    reports_all: bool,
    /// The processes that are observed, where others are left out.
    only: Option<BTreeSet<u32>>,
    order: Order,
    running: BTreeMap<u32, ProcessId>,
    child: Option<Child>,
    events: Vec<Event>,
    lost: u64,
}

impl Lifecycles {
    /// Begins to observe. A command runs when this returns.
    ///
    /// # Errors
    ///
    /// If the kernel refuses, or there is no such process or program.
    pub fn attach(target: Target, descendants: Descendants) -> Result<Lifecycles, ObserveError> {
        let begin = |watched: &[Watched]| {
            let records = watched.iter().map(|watched| Records::open(*watched));
            let pids = watched.iter().map(|watched| match watched {
                Watched::Process(pid) => Some(*pid),
                Watched::System => None,
            });
            Ok::<_, ObserveError>(Lifecycles {
                records: records.collect::<Result<_, _>>()?,
                reports_all: !watched.contains(&Watched::System),
                only: match descendants {
                    Descendants::Followed => None,
                    Descendants::LeftOut => pids.collect(),
                },
                order: Order::default(),
                running: BTreeMap::new(),
                child: None,
                events: Vec::new(),
                lost: 0,
            })
        };
        match target {
            Target::Command(command) => {
                let program = command.get_program().to_string_lossy().into_owned();
                let held = HeldChild::start(command)?;
                let mut lifecycles = begin(&[Watched::Process(held.pid())])?;
                let released = held.release();
                lifecycles.child = Some(released.map_err(|source| ObserveError::Start { program, source })?);
                Ok(lifecycles)
            }
            Target::Processes(pids) => {
                if let Some(missing) = pids.iter().find(|pid| !system::exists(**pid)) {
                    return Err(ObserveError::NoProcess(*missing));
                }
                let watched: Vec<Watched> = pids.iter().map(|pid| Watched::Process(*pid)).collect();
                let mut lifecycles = begin(&watched)?;
                for pid in pids {
                    let start = system::describe(pid, Origin::Before);
                    lifecycles.start(Timestamp::now(), pid, start);
                }
                Ok(lifecycles)
            }
            Target::System => begin(&[Watched::System]),
        }
    }

    /// Returns the command that was started, if one was.
    pub fn child(&mut self) -> Option<&mut Child> {
        self.child.as_mut()
    }

    fn follow(&mut self, record: Record) {
        let Record { at, pid, what } = record;
        let at = Timestamp(at);
        let is_of_another = self.only.as_ref().is_some_and(|only| !only.contains(&pid));
        match what {
            Lifecycle::Lost { records } => self.lost += records,
            _ if is_of_another => {}
            Lifecycle::Forked { parent } => {
                if let Some(parent) = self.running.get(&parent).copied() {
                    let start = system::describe(pid, Origin::Fork { parent });
                    self.start(at, pid, start);
                }
            }
            Lifecycle::Exec { command } => {
                let before = self.end(at, pid);
                if self.reports_all {
                    let start = describe_as(pid, &command, Origin::Exec { before });
                    self.start(at, pid, start);
                }
            }
            Lifecycle::Mapped { name, .. } => {
                if is_driver(&name) && !self.running.contains_key(&pid) {
                    let start = system::describe(pid, Origin::Exec { before: None });
                    self.start(at, pid, start);
                }
            }
            Lifecycle::Exited => {
                self.end(at, pid);
            }
        }
    }

    fn start(&mut self, at: Timestamp, pid: u32, start: ProcessStart) {
        let process = ProcessId { pid, started: at };
        self.end(at, pid);
        self.running.insert(pid, process);
        self.report(at, process, EventKind::Started(start));
    }

    fn end(&mut self, at: Timestamp, pid: u32) -> Option<ProcessId> {
        let ended = self.running.remove(&pid)?;
        self.report(at, ended, EventKind::Exited { status: None });
        Some(ended)
    }

    fn report(&mut self, at: Timestamp, process: ProcessId, kind: EventKind) {
        self.events.push(Event {
            at,
            process,
            thread: process.pid,
            kind,
        });
    }
}

/// Returns what the system tells of a process, if it still runs the program that it executed.
fn describe_as(pid: u32, command: &str, origin: Origin) -> ProcessStart {
    let found = system::describe(pid, origin);
    let name = found.executable.as_ref().and_then(|executable| executable.file_name());
    if name.is_some_and(|name| name.as_bytes().starts_with(command.as_bytes())) {
        found
    } else {
        ProcessStart {
            origin,
            executable: Some(PathBuf::from(command)),
            command: Vec::new(),
            owner: found.owner,
        }
    }
}

/// Puts the records of several processors in the order of time.
///
/// The rings are read one after the other. A fork on one processor can be recorded after its ring
/// was read, and the exec of the child on another before that ring is read. A record therefore
/// waits until all rings were read once more.
#[derive(Debug, Default)]
struct Order {
    waiting: Vec<Record>,
    /// When the rings were last begun to be read.
    last_read: Timestamp,
}

impl Order {
    /// Returns the records of before the last read, in the order of time. `records` were read
    /// after `now`.
    fn settled(&mut self, records: Vec<Record>, now: Timestamp) -> Vec<Record> {
        self.waiting.extend(records);
        self.waiting.sort_by_key(|record| record.at);
        let Timestamp(settled) = std::mem::replace(&mut self.last_read, now);
        let settled = self.waiting.partition_point(|record| record.at < settled);
        self.waiting.drain(..settled).collect()
    }
}

impl Source for Lifecycles {
    fn poll(&mut self, sink: &mut dyn FnMut(Event)) -> Result<usize, Failure> {
        // The second read settles what was there before the first.
        for _ in 0..2 {
            let now = Timestamp::now();
            let records = self.records.iter_mut().flat_map(Records::read).collect();
            for record in self.order.settled(records, now) {
                self.follow(record);
            }
        }
        let count = self.events.len();
        self.events.drain(..).for_each(sink);
        Ok(count)
    }

    fn totals(&self) -> Vec<FunctionTotal> {
        Vec::new()
    }

    fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(at: u64, what: Lifecycle) -> Record {
        Record { at, pid: 7, what }
    }

    #[test]
    fn a_fork_that_is_read_after_the_exec_of_its_child_comes_before_it() {
        let fork = record(11, Lifecycle::Forked { parent: 1 });
        let command = "app".to_owned();
        let exec = record(12, Lifecycle::Exec { command });
        let exit = record(13, Lifecycle::Exited);
        let mut order = Order::default();
        assert_eq!(order.settled(vec![exec.clone()], Timestamp(10)), []);
        assert_eq!(order.settled(vec![fork.clone(), exit.clone()], Timestamp(20)), []);
        assert_eq!(order.settled(Vec::new(), Timestamp(30)), [fork, exec, exit]);
    }
}
