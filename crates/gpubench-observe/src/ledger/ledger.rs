//! The state that follows from events.

use std::collections::{HashMap, HashSet, VecDeque};

use super::activity::Activity;
use super::errors::{ErrorKey, ErrorTable};
use super::kernels::{KernelKey, KernelNames, LaunchCount};
use super::limits::{Budgets, Limits};
use super::live_memory::{Allocated, Freed};
use super::process::{Process, program_of};
use super::programs::{ProgramKey, Programs};
use crate::{
    Allocation, ContextHandle, Copy, CopyDirection, Event, EventKind, Execution, FunctionHandle, Launch, LaunchKind,
    MemoryHandle, Owner, OwnerLabel, ProcessId, ProcessStart, Timestamp,
};

/// What is known of all processes.
#[derive(Clone, Debug)]
pub struct Ledger {
    limits: Limits,
    labels: Vec<OwnerLabel>,
    budgets: Budgets,
    live: HashMap<ProcessId, Process>,
    /// The live process of each pid.
    of_pids: HashMap<u32, ProcessId>,
    ended: EndedProcesses,
    /// The processes beyond the limit.
    others: Process,
    books: Books,
    now: Timestamp,
    events: u64,
    started: u64,
    used_the_driver: u64,
    /// How many events there must be before the next search for what nothing has any more.
    next_search: u64,
}

/// The tables of all processes together.
#[derive(Clone, Debug)]
struct Books {
    all: Activity,
    programs: Programs,
    names: KernelNames,
    kernels: HashMap<KernelKey, LaunchCount>,
    /// Launches of kernels whose names were given up.
    forgotten: LaunchCount,
    errors: ErrorTable,
}

/// The processes that ended.
#[derive(Clone, Debug, Default)]
pub struct EndedProcesses {
    latest: VecDeque<Process>,
    earlier: u64,
    earlier_activity: Activity,
}

impl EndedProcesses {
    /// Returns the latest ones that did something, the oldest first.
    pub fn latest(&self) -> impl Iterator<Item = &Process> {
        self.latest.iter()
    }

    /// Returns how many ended before these.
    pub fn earlier(&self) -> u64 {
        self.earlier
    }

    /// Returns what those before these did together.
    pub fn earlier_activity(&self) -> &Activity {
        &self.earlier_activity
    }
}

impl Ledger {
    /// Returns an empty ledger.
    pub fn new(limits: Limits) -> Self {
        let nobody = ProcessId {
            pid: 0,
            started: Timestamp(0),
        };
        let mut others = Process::new(nobody, None, Timestamp(0));
        others.program_key = Some(ProgramKey::OTHER);
        Self {
            budgets: Budgets::new(&limits),
            live: HashMap::new(),
            of_pids: HashMap::new(),
            ended: EndedProcesses::default(),
            others,
            books: Books::new(&limits),
            limits,
            labels: Vec::new(),
            now: Timestamp(0),
            events: 0,
            started: 0,
            used_the_driver: 0,
            next_search: 0,
        }
    }

    /// Also tells programs apart by whose they are.
    #[must_use]
    pub fn telling_apart(self, labels: Vec<OwnerLabel>) -> Self {
        Self { labels, ..self }
    }

    /// Returns what programs are also told apart by.
    pub fn labels(&self) -> &[OwnerLabel] {
        &self.labels
    }

    /// Returns how much is kept.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Adds an event.
    pub fn apply(&mut self, event: Event) {
        let Event {
            at,
            process: id,
            thread,
            kind,
        } = event;
        self.events += 1;
        self.now = self.now.max(at);
        match kind {
            EventKind::Started(start) => self.start(id, at, Some(start)),
            EventKind::Exited { status } => self.end(id, at, status),
            kind => {
                if !self.live.contains_key(&id) && self.live.len() < self.limits.processes {
                    self.start(id, at, None);
                }
                if let EventKind::Launch(Launch { function, .. }) | EventKind::Launches { function, .. } = kind {
                    self.inherit(id, function);
                }
                self.make_room_for(&kind);
                let mut nothing = Budgets::NONE;
                let (process, budgets) = match self.live.get_mut(&id) {
                    Some(process) => (process, &mut self.budgets),
                    None => (&mut self.others, &mut nothing),
                };
                let was_idle = process.is_idle();
                let program = *process.program_key.get_or_insert_with(|| {
                    let start = process.start.as_ref();
                    self.books.enter(start, &self.labels, at, self.limits.programs)
                });
                let mut entry = Entry {
                    process,
                    program,
                    budgets,
                    books: &mut self.books,
                    limits: &self.limits,
                };
                entry.add(kind, at, thread);
                if was_idle && !entry.process.is_idle() {
                    self.used_the_driver += 1;
                }
            }
        }
    }

    /// Returns the processes that run and did something.
    pub fn live(&self) -> impl Iterator<Item = &Process> {
        self.live.values().filter(|process| !process.is_idle())
    }

    /// Returns the number of processes that run, those that did nothing included.
    pub fn live_count(&self) -> usize {
        self.live.len()
    }

    /// Returns the process that runs with this pid.
    pub fn live_with_pid(&self, pid: u32) -> Option<&Process> {
        self.live.get(self.of_pids.get(&pid)?)
    }

    /// Returns the processes that ended.
    pub fn ended(&self) -> &EndedProcesses {
        &self.ended
    }

    /// Returns the processes beyond the limit, as one. Its memory is not followed.
    pub fn others(&self) -> &Process {
        &self.others
    }

    /// Returns the sums of all processes.
    pub fn all(&self) -> &Activity {
        &self.books.all
    }

    /// Returns the sums by program.
    pub fn programs(&self) -> &Programs {
        &self.books.programs
    }

    /// Returns the row of a process in the table of programs. `None` if it did nothing yet.
    pub fn program_of(&self, process: &Process) -> Option<ProgramKey> {
        process.program_key
    }

    /// Returns the errors of all processes.
    pub fn errors(&self) -> &ErrorTable {
        &self.books.errors
    }

    /// Returns the kernels of all processes with their launches. Launches that still wait for a
    /// name are absent: see [`unnamed`](Self::unnamed).
    pub fn kernels(&self) -> impl Iterator<Item = (KernelKey, LaunchCount)> {
        let mut other = self.books.kernels.get(&KernelKey::Other).copied().unwrap_or_default();
        other.merge(self.books.forgotten);
        let own = self.books.kernels.iter().map(|(key, count)| (*key, *count));
        let own = own.filter(|(key, _)| *key != KernelKey::Other);
        own.chain((!other.is_zero()).then_some((KernelKey::Other, other)))
    }

    /// Returns the launches of kernels whose names were given up. They are among the others.
    pub fn forgotten(&self) -> LaunchCount {
        self.books.forgotten
    }

    /// Returns the launches that still wait for a name.
    pub fn unnamed(&self) -> LaunchCount {
        let mut unnamed = self.others.functions.waiting();
        for process in self.live.values() {
            unnamed.merge(process.functions.waiting());
        }
        unnamed
    }

    /// Returns the names of kernels.
    pub fn names(&self) -> &KernelNames {
        &self.books.names
    }

    /// Returns the time of the latest event.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the number of events.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Returns the number of processes that were seen.
    pub fn started(&self) -> u64 {
        self.started
    }

    /// Returns the number of processes that did something. Those beyond the limit are one.
    pub fn used_the_driver(&self) -> u64 {
        self.used_the_driver
    }

    fn start(&mut self, id: ProcessId, at: Timestamp, start: Option<ProcessStart>) {
        // An event came before the beginning.
        if let Some(process) = self.live.get_mut(&id) {
            if let Some(start) = start {
                if let Some(before) = process.program_key.take() {
                    self.books.programs.leave(before, at);
                    let program = self.books.enter(Some(&start), &self.labels, at, self.limits.programs);
                    process.program_key = Some(program);
                }
                process.start = Some(start);
            }
            return;
        }
        // Its end was not seen, but its pid belongs to another one now, or to the program after an
        // exec.
        if let Some(before) = self.of_pids.get(&id.pid).copied() {
            self.end(before, at, None);
        }
        self.started += 1;
        if self.live.len() >= self.limits.processes {
            return;
        }
        self.of_pids.insert(id.pid, id);
        self.live.insert(id, Process::new(id, start, at));
    }

    /// Gives up what no process has any more if there is no room for this name, or for another
    /// kernel of a program.
    fn make_room_for(&mut self, kind: &EventKind) {
        /// A search looks at all handles, so one that found little is not repeated at once.
        const EVENTS_BETWEEN_SEARCHES: u64 = 1 << 16;
        let needs_name =
            matches!(kind, EventKind::Name { name, .. } if !self.books.names.takes(name, self.limits.names));
        let needs_row = self.books.programs.are_full();
        if !needs_name && !needs_row || self.events < self.next_search {
            return;
        }
        let live = self.live.values().chain([&self.others]);
        let used: HashSet<(ProgramKey, KernelKey)> = live
            .filter_map(|process| Some((process.program_key?, process)))
            .flat_map(|(program, process)| process.functions.kernels().map(move |kernel| (program, kernel)))
            .collect();
        let mut found_little = false;
        if needs_name {
            let kernels = self.books.forget(&used, self.limits.names);
            found_little |= kernels.len() <= self.limits.names / 8;
            let budget = &mut self.budgets.kernels;
            let processes = self.live.values_mut().chain(&mut self.ended.latest);
            // The row of the others has no kernels with names.
            processes.for_each(|process| process.forget(&kernels, budget));
        }
        if self.books.programs.are_full() {
            let rows = self.books.programs.make_room(&used);
            found_little |= rows <= self.limits.kernels_of_programs / 8;
        }
        if found_little {
            self.next_search = self.events + EVENTS_BETWEEN_SEARCHES;
        }
    }

    /// Gives a process the name of a kernel that its parent knew when it forked.
    fn inherit(&mut self, id: ProcessId, function: FunctionHandle) {
        const MOST_GENERATIONS: usize = 16;
        let parent = |process: &&Process| self.live.get(&process.parent()?);
        let own = self.live.get(&id).filter(|own| !own.functions.has(function));
        let mut ancestors = std::iter::successors(own, parent).take(MOST_GENERATIONS);
        let name = ancestors.find_map(|ancestor| ancestor.functions.kernel_of(function));
        if let (Some(kernel), Some(own)) = (name, self.live.get_mut(&id)) {
            own.functions.name(function, kernel, None, &mut self.budgets.functions);
        }
    }

    fn end(&mut self, id: ProcessId, at: Timestamp, status: Option<i32>) {
        let Some(mut process) = self.live.remove(&id) else {
            return;
        };
        self.of_pids.remove(&id.pid);
        let (left, unnamed) = process.end(at, status, self.limits.listed, &mut self.budgets);
        if let Some(program) = process.program_key {
            self.books
                .each(&mut process.activity, program, |sums| sums.left.merge(&left));
            process.launched(KernelKey::Unnamed, unnamed, &mut self.budgets.kernels);
            self.books.launched(program, KernelKey::Unnamed, unnamed);
            self.books.programs.leave(program, at);
        }
        if process.is_idle() {
            return;
        }
        self.ended.latest.push_back(process);
        if self.ended.latest.len() > self.limits.ended
            && let Some(oldest) = self.ended.latest.pop_front()
        {
            self.budgets.kernels.give(oldest.kernel_rows());
            self.ended.earlier += 1;
            self.ended.earlier_activity.merge(&oldest.activity);
        }
    }
}

impl Books {
    fn new(limits: &Limits) -> Self {
        Self {
            all: Activity::default(),
            programs: Programs::with_kernels(limits.kernels_of_programs),
            names: KernelNames::default(),
            kernels: HashMap::new(),
            forgotten: LaunchCount::default(),
            errors: ErrorTable::default(),
        }
    }

    /// Adds a process that runs to its program.
    fn enter(
        &mut self,
        start: Option<&ProcessStart>,
        labels: &[OwnerLabel],
        now: Timestamp,
        limit: usize,
    ) -> ProgramKey {
        let nobody = Owner::default();
        let owner = start.map_or(&nobody, |start| &start.owner);
        let owner = labels.iter().map(|label| label.value(owner)).collect();
        self.programs.enter(start.and_then(program_of), owner, now, limit)
    }

    /// Changes the sums of a process, of its program and of all.
    fn each(&mut self, process: &mut Activity, program: ProgramKey, change: impl Fn(&mut Activity)) {
        change(process);
        change(&mut self.all);
        change(&mut self.programs.at(program).activity);
    }

    fn launched(&mut self, program: ProgramKey, kernel: KernelKey, count: LaunchCount) {
        if !count.is_zero() {
            self.kernels.entry(kernel).or_default().merge(count);
            self.programs.launched(program, kernel, count);
        }
    }

    /// Gives up names of kernels that are not `used`, and returns these kernels.
    fn forget(&mut self, used: &HashSet<(ProgramKey, KernelKey)>, limit: usize) -> HashSet<KernelKey> {
        let used = used.iter().map(|(_, kernel)| *kernel).collect();
        let launches = |key| self.kernels.get(&key).map_or(0, |count| count.launches);
        let kernels = self.names.give_up(&used, launches, limit);
        for kernel in &kernels {
            self.forgotten.merge(self.kernels.remove(kernel).unwrap_or_default());
        }
        self.programs.forget(&kernels);
        kernels
    }
}

/// An event of a process that is being added.
struct Entry<'a> {
    process: &'a mut Process,
    program: ProgramKey,
    budgets: &'a mut Budgets,
    books: &'a mut Books,
    limits: &'a Limits,
}

impl Entry<'_> {
    fn add(&mut self, kind: EventKind, at: Timestamp, thread: u32) {
        match kind {
            EventKind::Launch(Launch {
                function,
                kind,
                execution,
                ..
            }) => {
                self.launch(function, kind, LaunchCount::new(execution, 1));
            }
            EventKind::Launches { function, kind, count } => {
                self.launch(function, kind, LaunchCount::new(Execution::Runs, count));
            }
            EventKind::GraphLaunch { .. } => self.each(|sums| sums.graph_launches += 1),
            EventKind::RecordEvent { .. } => {}
            EventKind::HostFunction { .. } => self.each(|sums| sums.host_functions += 1),
            EventKind::Allocate(allocation) => self.allocate(&allocation, at, thread),
            EventKind::Free(handle) => self.free(handle, at),
            EventKind::Map { address, memory } => {
                let budget = &mut self.budgets.allocations;
                self.process.memory.map(address, memory, budget);
            }
            EventKind::Unmap { address, bytes } => {
                let memory = &mut self.process.memory;
                let gone = memory.unmap(address, bytes, &mut self.budgets.allocations);
                gone.into_iter().for_each(|freed| self.count_freed(freed));
            }
            EventKind::ShareHandle { handle, address } => {
                let budget = &mut self.budgets.allocations;
                self.process.memory.share(handle, address, budget);
            }
            EventKind::AllocateInGraph { address } => self.process.memory.put_in_graph(address),
            EventKind::ContextEnd { context } => self.end_context(context),
            EventKind::Copy(copy) => self.copy(copy),
            EventKind::Set(set) => self.each(|sums| match set.execution {
                Execution::Runs => sums.memsets.add(set.bytes),
                Execution::Captured => sums.captured_sets += 1,
            }),
            EventKind::Name { function, name, module } => {
                let kernel = self.books.names.key_of(&name, self.limits.names);
                let functions = &mut self.process.functions;
                let waiting = functions.name(function, kernel, module, &mut self.budgets.functions);
                self.launched(kernel, waiting);
            }
            EventKind::Alias { function, of } => {
                let functions = &mut self.process.functions;
                if let Some((kernel, waiting)) = functions.alias(function, of, &mut self.budgets.functions) {
                    self.launched(kernel, waiting);
                }
            }
            EventKind::ModuleLoad { .. } => self.each(|sums| sums.modules_loaded += 1),
            EventKind::ModuleUnload { module } => {
                let functions = &mut self.process.functions;
                let unnamed = functions.unload(module, &mut self.budgets.functions);
                self.launched(KernelKey::Unnamed, unnamed);
                self.each(|sums| sums.modules_unloaded += 1);
            }
            EventKind::StreamCreate { .. } => self.each(|sums| sums.streams_created += 1),
            EventKind::StreamDestroy { .. } => self.each(|sums| sums.streams_destroyed += 1),
            EventKind::Synchronize { what, duration } => self.each(|sums| sums.wait(what, duration)),
            EventKind::Failed { call, code } => {
                let error = ErrorKey { call, code };
                self.process.failed(&error, self.limits.errors);
                self.books.errors.count(&error, self.limits.errors);
                self.books.programs.failed(self.program, &error);
                self.each(|sums| sums.failures += 1);
            }
            // The ledger itself sees to these.
            EventKind::Started(_) | EventKind::Exited { .. } => {}
        }
    }

    fn launch(&mut self, function: FunctionHandle, kind: LaunchKind, count: LaunchCount) {
        self.each(|sums| sums.launch(kind, count));
        let functions = &mut self.process.functions;
        if let Some(kernel) = functions.launch(function, count, &mut self.budgets.functions) {
            self.launched(kernel, count);
        }
    }

    fn allocate(&mut self, allocation: &Allocation, at: Timestamp, thread: u32) {
        let Allocation {
            kind, bytes, duration, ..
        } = *allocation;
        let memory = &mut self.process.memory;
        let allocated = memory.allocate(allocation, at, thread, &mut self.budgets.allocations);
        self.process.peak_bytes = self.process.peak_bytes.max(memory.bytes());
        self.each(|sums| {
            sums.allocated[kind].add(bytes);
            sums.allocation_times.add(duration);
            match allocated {
                Allocated::Live => {}
                Allocated::InPlaceOf(kind, bytes) => sums.vanished[kind].add(bytes),
                Allocated::Untracked => sums.untracked[kind].add(bytes),
            }
        });
    }

    fn free(&mut self, handle: MemoryHandle, at: Timestamp) {
        let freed = self.process.memory.free(handle, at, &mut self.budgets.allocations);
        self.count_freed(freed);
    }

    fn count_freed(&mut self, freed: Freed) {
        self.each(|sums| match freed {
            Freed::Live(kind, bytes) => sums.freed[kind].add(bytes),
            Freed::Before(kind, bytes) => {
                sums.vanished[kind].remove(bytes);
                sums.freed[kind].add(bytes);
            }
            Freed::Nothing => sums.null_frees += 1,
            Freed::Held => {}
            Freed::Unknown => sums.unknown_frees += 1,
        });
    }

    fn end_context(&mut self, context: ContextHandle) {
        let memory = &mut self.process.memory;
        let listed = self.limits.listed;
        let (left, kept) = memory.end_context(context, listed, &mut self.budgets.allocations);
        self.process.leave(kept, listed);
        self.each(|sums| sums.left.merge(&left));
    }

    fn copy(&mut self, mut copy: Copy) {
        if copy.direction == CopyDirection::ByAddress {
            copy.direction = self.direction_of(&copy);
        }
        self.each(|sums| sums.copy(&copy));
    }

    /// Returns the direction that follows from the addresses. It needs an address that the process
    /// was seen to allocate.
    fn direction_of(&self, copy: &Copy) -> CopyDirection {
        use crate::MemoryKind::{Device, Managed, Pool, StreamOrdered};
        let is_device = |address| {
            let kind = self.process.memory.kind_at(address);
            kind.map(|kind| matches!(kind, Device | StreamOrdered | Pool | Managed))
        };
        match (is_device(copy.source), is_device(copy.destination)) {
            (None, None) => CopyDirection::ByAddress,
            (Some(true), Some(true)) => CopyDirection::DeviceToDevice,
            (Some(true), _) => CopyDirection::DeviceToHost,
            (_, Some(true)) => CopyDirection::HostToDevice,
            (_, Some(false)) | (Some(false), _) => CopyDirection::HostToHost,
        }
    }

    fn launched(&mut self, kernel: KernelKey, count: LaunchCount) {
        self.process.launched(kernel, count, &mut self.budgets.kernels);
        self.books.launched(self.program, kernel, count);
    }

    fn each(&mut self, change: impl Fn(&mut Activity)) {
        self.books.each(&mut self.process.activity, self.program, change);
    }
}
