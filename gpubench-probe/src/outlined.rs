//! Processes whose calls are not observed.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use super::outline::nanoseconds;
use gpubench_contract::OutlinedProcess;
use gpubench_diagnostic::layout::in_one_line;
use gpubench_observe::{
    Doorbell, DoorbellError, Event, EventKind, Origin, ProcessId, ProcessStart, Timestamp, mappings_of,
};

/// Processes that ended and are kept.
const MOST_ENDED: usize = 512;
/// Arguments of a process, and the characters of each.
const ARGUMENTS: (usize, usize) = (16, 120);
/// The shortest and the longest time between two looks at a process.
const BETWEEN_LOOKS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

/// Looks at a process from outside.
pub(super) trait Look {
    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Whether the process has the driver in its memory.
    fn has_driver(&self, pid: u32) -> bool;

    /// Begins to count the submissions of a process.
    ///
    /// # Errors
    /// It has no doorbell yet, or the machine does not let it be watched.
    fn doorbell(&self, pid: u32) -> Result<Box<dyn Submissions>, DoorbellError>;
}

/// The submissions of a process since the watch began.
pub(super) trait Submissions {
    /// Returns how many there were. `None` if the kernel does not tell.
    fn count(&self) -> Option<u64>;
}

/// Looks at the processes of this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here;

impl Look for Here {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn has_driver(&self, pid: u32) -> bool {
        let maps = mappings_of(pid);
        let mut names = maps.lines().filter_map(|line| line.rsplit_once('/'));
        names.any(|(_, name)| name.starts_with("libcuda.so"))
    }

    fn doorbell(&self, pid: u32) -> Result<Box<dyn Submissions>, DoorbellError> {
        Ok(Box::new(Doorbell::of_process(pid)?))
    }
}

impl Submissions for Doorbell {
    fn count(&self) -> Option<u64> {
        self.submissions().ok()
    }
}

/// The processes of an observation: a bounded number of those that ended.
#[derive(Default)]
pub(super) struct Processes {
    running: BTreeMap<ProcessId, Process>,
    /// The last one comes last.
    ended: VecDeque<Process>,
    seen: u64,
    left_out: u64,
    /// Submissions of processes that are not kept.
    earlier: Option<u64>,
}

struct Process {
    id: ProcessId,
    start: ProcessStart,
    ended: Option<Timestamp>,
    /// When it was seen with the driver for the first time.
    driver: Option<Timestamp>,
    counting: Counting,
    next_look: Instant,
    first_look: Instant,
}

/// Whether the submissions of a process are counted.
enum Counting {
    /// No doorbell was found yet.
    NotYet,
    /// Since then.
    Since(Timestamp, Box<dyn Submissions>),
    /// They were, until its end.
    Counted(Timestamp, u64),
    /// The machine refuses.
    Never,
}

impl Processes {
    /// Follows an event. Only begins and ends of processes are any.
    pub(super) fn apply(&mut self, event: Event) {
        match event.kind {
            EventKind::Started(start) => {
                if let Origin::Exec { before: Some(before) } = start.origin {
                    self.forget_idle(before);
                }
                self.seen += 1;
                self.running.insert(event.process, Process::new(event.process, start));
            }
            EventKind::Exited { .. } => {
                if let Some(mut process) = self.running.remove(&event.process) {
                    process.end(event.at);
                    self.ended.push_back(process);
                    self.keep_at_most(MOST_ENDED);
                }
            }
            _ => {}
        }
    }

    /// Looks at each process that runs and is due.
    pub(super) fn look(&mut self, look: &mut dyn Look) {
        let now = Instant::now();
        let due = self.running.values_mut().filter(|process| process.next_look <= now);
        due.for_each(|process| process.look(look, now));
    }

    /// Returns the number of processes, a process before and after an exec as one unless it used
    /// the driver before.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns the submissions of all processes. `None` if none could be counted.
    pub(super) fn submissions(&self) -> Option<u64> {
        let counted = self.all().filter_map(Process::submissions);
        counted.chain(self.earlier).reduce(|sum, count| sum + count)
    }

    /// Returns rows for at most `most` processes, and the number of others.
    pub(super) fn rows(&self, most: usize, now: Timestamp) -> (Vec<OutlinedProcess>, u64) {
        let mut processes: Vec<&Process> = self.all().collect();
        processes.sort_by_key(|process| (process.ended.is_some(), process.is_idle()));
        let hidden = processes.len().saturating_sub(most) as u64;
        let rows = processes.into_iter().take(most).map(|process| process.row(now));
        (rows.collect(), hidden + self.left_out)
    }

    /// Returns those that run, then those that ended, the last one first.
    fn all(&self) -> impl Iterator<Item = &Process> {
        self.running.values().chain(self.ended.iter().rev())
    }

    /// Forgets the program before an exec if it did nothing but start the one after it.
    fn forget_idle(&mut self, before: ProcessId) {
        let is_meant = |process: &Process| process.id == before && process.is_idle();
        if let Some(place) = self.ended.iter().rposition(is_meant) {
            self.ended.remove(place);
            self.seen -= 1;
        }
    }

    /// Forgets processes that ended: idle ones first, and the earliest of them.
    fn keep_at_most(&mut self, most: usize) {
        while self.ended.len() > most {
            let place = self.ended.iter().position(Process::is_idle).unwrap_or(0);
            let forgotten = self.ended.remove(place);
            self.left_out += 1;
            if let Some(count) = forgotten.and_then(|process| process.submissions()) {
                *self.earlier.get_or_insert_default() += count;
            }
        }
    }
}

impl Process {
    fn new(id: ProcessId, start: ProcessStart) -> Self {
        let now = Instant::now();
        Self {
            id,
            start,
            ended: None,
            driver: None,
            counting: Counting::NotYet,
            next_look: now,
            first_look: now,
        }
    }

    fn look(&mut self, look: &mut dyn Look, now: Instant) {
        let (shortest, longest) = BETWEEN_LOOKS;
        let age = now - self.first_look;
        self.next_look = now + (age / 10).clamp(shortest, longest);
        if self.driver.is_none() && look.has_driver(self.id.pid) {
            self.driver = Some(look.now());
        }
        if let Counting::NotYet = self.counting {
            self.counting = match look.doorbell(self.id.pid) {
                Ok(doorbell) => Counting::Since(look.now(), doorbell),
                Err(DoorbellError::NoDoorbell(_)) => Counting::NotYet,
                Err(_) => Counting::Never,
            };
        }
    }

    /// Notes its end. What was seen later was not of this program, but of the one after an exec.
    fn end(&mut self, at: Timestamp) {
        self.ended = Some(at);
        self.driver = self.driver.filter(|seen| *seen <= at);
        if let Counting::Since(since, doorbell) = &self.counting {
            self.counting = match doorbell.count() {
                _ if *since > at => Counting::NotYet,
                Some(count) => Counting::Counted(*since, count),
                None => Counting::Never,
            };
        }
    }

    /// Whether nothing was seen of it that has to do with a GPU.
    fn is_idle(&self) -> bool {
        self.driver.is_none() && self.submissions().is_none()
    }

    fn submissions(&self) -> Option<u64> {
        match &self.counting {
            Counting::Since(_, doorbell) => doorbell.count(),
            Counting::Counted(_, count) => Some(*count),
            Counting::NotYet | Counting::Never => None,
        }
    }

    fn row(&self, now: Timestamp) -> OutlinedProcess {
        let until = self.ended.unwrap_or(now);
        let (arguments, letters) = ARGUMENTS;
        let name = self.start.executable.as_deref().and_then(|path| path.file_name());
        let since = match self.counting {
            Counting::Since(since, _) | Counting::Counted(since, _) => Some(since),
            Counting::NotYet | Counting::Never => None,
        };
        OutlinedProcess {
            pid: self.id.pid,
            program: name.map(|name| name.to_string_lossy().into_owned()),
            command: self
                .start
                .command
                .iter()
                .take(arguments)
                .map(|word| in_one_line(word, letters))
                .collect(),
            running: self.ended.is_none(),
            seen_ns: nanoseconds(until.since(self.id.started)),
            driver: self.driver.is_some(),
            submissions: self.submissions(),
            counted_ns: since.map(|since| nanoseconds(until.since(since))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    const fn at(milliseconds: u64) -> Timestamp {
        Timestamp(milliseconds * 1_000_000)
    }

    fn id(pid: u32) -> ProcessId {
        ProcessId { pid, started: at(0) }
    }

    fn event(process: ProcessId, milliseconds: u64, kind: EventKind) -> Event {
        Event {
            at: at(milliseconds),
            process,
            thread: process.pid,
            kind,
        }
    }

    fn started(process: ProcessId, origin: Origin) -> Event {
        let start = ProcessStart {
            origin,
            executable: Some("/bin/app".into()),
            command: vec!["app".to_owned()],
            owner: Default::default(),
        };
        event(process, 0, EventKind::Started(start))
    }

    fn exited(process: ProcessId, milliseconds: u64) -> Event {
        event(process, milliseconds, EventKind::Exited { status: None })
    }

    /// A machine where each process has the driver, and a doorbell that rang as often as told.
    struct Machine {
        now: Timestamp,
        rings: Rc<Cell<u64>>,
        refuses: bool,
    }

    struct Rings(Rc<Cell<u64>>);

    impl Submissions for Rings {
        fn count(&self) -> Option<u64> {
            Some(self.0.get())
        }
    }

    impl Look for Machine {
        fn now(&self) -> Timestamp {
            self.now
        }

        fn has_driver(&self, _pid: u32) -> bool {
            true
        }

        fn doorbell(&self, pid: u32) -> Result<Box<dyn Submissions>, DoorbellError> {
            if self.refuses {
                Err(DoorbellError::Inexact {
                    counted: 0,
                    submitted: 1,
                })
            } else if pid == 1 {
                Ok(Box::new(Rings(self.rings.clone())))
            } else {
                Err(DoorbellError::NoDoorbell(pid))
            }
        }
    }

    #[test]
    fn submissions_are_those_of_doorbells_that_were_found_and_stay_after_the_end() {
        let (mut processes, rings) = (Processes::default(), Rc::new(Cell::new(5)));
        let mut machine = Machine {
            now: at(10),
            rings: rings.clone(),
            refuses: false,
        };
        processes.apply(started(id(1), Origin::Before));
        processes.apply(started(id(2), Origin::Fork { parent: id(1) }));
        assert_eq!(processes.submissions(), None);
        processes.look(&mut machine);
        assert_eq!(processes.submissions(), Some(5));
        processes.apply(exited(id(1), 30));
        rings.set(99);
        let (rows, _) = processes.rows(10, at(40));
        let counts: Vec<_> = rows.iter().map(|row| (row.pid, row.running, row.submissions)).collect();
        assert_eq!(counts, [(2, true, None), (1, false, Some(5))]);
        assert_eq!(rows[1].seen_ns, 30_000_000);
    }

    #[test]
    fn what_a_machine_refuses_to_count_is_not_zero() {
        let mut processes = Processes::default();
        processes.apply(started(id(1), Origin::Before));
        processes.look(&mut Machine {
            now: at(0),
            rings: Rc::default(),
            refuses: true,
        });
        let (rows, _) = processes.rows(10, at(1));
        assert_eq!(
            (processes.submissions(), rows[0].submissions, rows[0].driver),
            (None, None, true)
        );
    }

    #[test]
    fn a_fork_that_only_starts_a_program_is_one_process_with_it() {
        let mut processes = Processes::default();
        processes.apply(started(id(1), Origin::Before));
        let forked = ProcessId { pid: 2, started: at(1) };
        let program = ProcessId { pid: 2, started: at(2) };
        processes.apply(started(forked, Origin::Fork { parent: id(1) }));
        processes.apply(exited(forked, 2));
        processes.apply(started(program, Origin::Exec { before: Some(forked) }));
        assert_eq!((processes.seen(), processes.rows(10, at(3)).0.len()), (2, 2));
    }

    #[test]
    fn what_is_seen_after_an_exec_is_of_the_program_after_it() {
        let mut processes = Processes::default();
        let mut machine = Machine {
            now: at(5),
            rings: Rc::new(Cell::new(7)),
            refuses: false,
        };
        let forked = ProcessId { pid: 1, started: at(1) };
        let program = ProcessId { pid: 1, started: at(2) };
        processes.apply(started(forked, Origin::Before));
        // The exec was at 2 ms, and comes only after the look.
        processes.look(&mut machine);
        processes.apply(exited(forked, 2));
        processes.apply(started(program, Origin::Exec { before: Some(forked) }));
        assert_eq!((processes.seen(), processes.submissions()), (1, None));
        processes.look(&mut machine);
        let (rows, _) = processes.rows(10, at(9));
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.running, row.driver, row.submissions))
            .collect();
        assert_eq!(told, [(true, true, Some(7))]);
    }

    #[test]
    fn of_many_processes_those_with_the_driver_stay_and_the_others_are_counted() {
        let mut processes = Processes::default();
        let mut machine = Machine {
            now: at(0),
            rings: Rc::new(Cell::new(7)),
            refuses: false,
        };
        processes.apply(started(id(1), Origin::Before));
        processes.look(&mut machine);
        processes.apply(exited(id(1), 1));
        for pid in 2..2000 {
            processes.apply(started(id(pid), Origin::Fork { parent: id(1) }));
            processes.apply(exited(id(pid), 2));
        }
        assert_eq!(processes.seen(), 1999);
        assert_eq!(processes.ended.len(), MOST_ENDED);
        let (rows, left_out) = processes.rows(3, at(3));
        let pids: Vec<u32> = rows.iter().map(|row| row.pid).collect();
        assert_eq!((pids, left_out), (vec![1, 1999, 1998], 1996));
        processes.keep_at_most(0);
        assert_eq!(processes.submissions(), Some(7));
    }
}
