//! Events from records.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::Arc;

use gpubench_bpf::{BpfError, Map};

use super::capture::Captures;
use super::contexts::{ContextCall, Contexts};
use super::counted::{CountedLaunches, LaunchKey, double};
use super::layout::{Kind, Record, field, program};
use super::map::{FIRST_SEEN, PROCESSES};
use super::plan::{Functions, KnownFunction};
use super::role::{Role, WaitsFor};
use super::{programs, work};
use crate::system;
use crate::{
    Allocation, ContextHandle, Event, EventKind, Execution, FunctionHandle, GraphHandle, HandleSpace, LaunchKind,
    MemoryHandle, MemoryKind, ModuleHandle, Origin, Owner, ProcessId, ProcessStart, Set, StreamHandle, Synchronization,
    Timestamp,
};

/// Makes events of the records of one observation, in their order.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The processes that began and have not ended, by pid.
    processes: HashMap<u32, Known>,
}

/// What is read besides records, and where events go.
#[derive(Debug)]
pub(crate) struct Decoding<'a> {
    pub(crate) functions: &'a Functions,
    /// The launches that the kernel counts.
    pub(crate) launches: &'a Map,
    pub(crate) events: &'a mut Vec<Event>,
}

#[derive(Debug)]
struct Known {
    id: ProcessId,
    start: ProcessStart,
    captures: Captures,
    contexts: Contexts,
    counted: CountedLaunches,
}

impl Known {
    /// Reports the last launches of kernels whose handles may stand for others since `until`.
    fn end_counts(&mut self, until: Timestamp, at: Timestamp, decoding: &mut Decoding<'_>) {
        for (key, new) in self.counted.end(until, decoding.launches) {
            let event = launches_of(self.id, key, new, at, decoding.functions);
            decoding.events.extend(event);
        }
    }
}

/// Later than all.
const EVER: Timestamp = Timestamp(u64::MAX);

/// A process that the observer found.
#[derive(Clone, Debug)]
pub(crate) struct Introduction {
    pub(crate) process: ProcessId,
    pub(crate) start: ProcessStart,
}

impl Decoder {
    /// Reports a process that ran before the observation.
    pub(crate) fn introduce(&mut self, found: Introduction, decoding: &mut Decoding<'_>) {
        self.begin(found.process, found.process.pid, found.start, decoding);
    }

    /// Whether a process with this pid began and has not ended.
    pub(crate) fn follows(&self, pid: u32) -> bool {
        self.processes.contains_key(&pid)
    }

    /// Returns the processes that began and have not ended.
    pub(crate) fn processes(&self) -> impl Iterator<Item = ProcessId> {
        self.processes.values().map(|known| known.id)
    }

    /// Reports the end of a process whose own report was lost.
    pub(crate) fn end_lost(&mut self, id: ProcessId, at: Timestamp, decoding: &mut Decoding<'_>) {
        if let Entry::Occupied(entry) = self.processes.entry(id.pid)
            && entry.get().id == id
        {
            entry.remove().end_counts(EVER, at, decoding);
            let end = EventKind::Exited { status: None };
            decoding.events.push(event(at, id, id.pid, end));
        }
    }

    /// Appends the events that follow from a record.
    pub(crate) fn decode(&mut self, bytes: &[u8], decoding: &mut Decoding<'_>) {
        let record = Record(bytes);
        let Some(kind) = record.kind() else {
            return;
        };
        let id = ProcessId {
            pid: record.process(),
            started: Timestamp(record.double(field::STARTED)),
        };
        match kind {
            Kind::Entered | Kind::Returned | Kind::Failed => {
                self.known(id, record, decoding);
                let functions = decoding.functions;
                if let Some(function) = functions.get(record.word(field::FUNCTION)) {
                    self.call(id, kind, function, record, decoding);
                }
            }
            Kind::Introduced => {
                let start = started_program(record, Origin::Exec { before: None });
                self.begin(id, record.thread(), start, decoding);
            }
            Kind::Forked => self.fork(id, record, decoding),
            Kind::Exec => self.exec(id, record, decoding),
            Kind::Exited => {
                let status = record.word(field::RESULT).cast_signed();
                self.end(id, record, Some(status), decoding);
            }
        }
    }

    /// Reports a process whose begin was lost, before the first that is seen of it.
    fn known(&mut self, id: ProcessId, record: Record<'_>, decoding: &mut Decoding<'_>) {
        let is_known = self.processes.get(&id.pid).is_some_and(|known| known.id == id);
        if !is_known {
            let start = system::describe(id.pid, Origin::Exec { before: None });
            self.begin(id, record.thread(), start, decoding);
        }
    }

    fn begin(&mut self, id: ProcessId, thread: u32, start: ProcessStart, decoding: &mut Decoding<'_>) {
        let known = Known {
            id,
            start: start.clone(),
            captures: Captures::default(),
            contexts: Contexts::default(),
            counted: CountedLaunches::default(),
        };
        match self.processes.entry(id.pid) {
            Entry::Occupied(entry) if entry.get().id == id => return,
            Entry::Occupied(mut entry) => {
                // The end of the old process with this pid was lost.
                let mut old = entry.insert(known);
                old.end_counts(EVER, id.started, decoding);
                let end = EventKind::Exited { status: None };
                decoding.events.push(event(id.started, old.id, old.id.pid, end));
            }
            Entry::Vacant(entry) => {
                entry.insert(known);
            }
        }
        decoding
            .events
            .push(event(id.started, id, thread, EventKind::Started(start)));
        if self.processes.len() > PROCESSES as usize {
            self.forget_gone(id.started, decoding);
        }
    }

    /// Forgets processes whose end was lost.
    fn forget_gone(&mut self, at: Timestamp, decoding: &mut Decoding<'_>) {
        let gone: Vec<_> = self.processes().filter(|id| !system::exists(id.pid)).collect();
        gone.into_iter().for_each(|id| self.end_lost(id, at, decoding));
    }

    /// Reports launches that the kernel has counted since the last call.
    pub(crate) fn count_launches(&mut self, at: Timestamp, decoding: &mut Decoding<'_>) -> Result<(), BpfError> {
        let Decoding {
            functions,
            launches,
            events,
        } = decoding;
        launches.entries(&mut |key, count| {
            let key = LaunchKey::from_bytes(key);
            if let Some(known) = self.processes.get_mut(&key.process) {
                let new = known.counted.report(key, double(count));
                events.extend(launches_of(known.id, key, new, at, functions));
            }
        })
    }

    fn end(&mut self, id: ProcessId, record: Record<'_>, status: Option<i32>, decoding: &mut Decoding<'_>) {
        if let Entry::Occupied(entry) = self.processes.entry(id.pid)
            && entry.get().id == id
        {
            let at = Timestamp(record.double(field::AT));
            entry.remove().end_counts(EVER, at, decoding);
            decoding
                .events
                .push(event(at, id, record.thread(), EventKind::Exited { status }));
        }
    }

    fn fork(&mut self, parent: ProcessId, record: Record<'_>, decoding: &mut Decoding<'_>) {
        let child = ProcessId {
            pid: record.word(field::OUT),
            started: Timestamp(record.argument(0)),
        };
        self.known(parent, record, decoding);
        // Until its exec, a child runs the parent's program.
        let start = self.processes.get(&parent.pid).map(|known| known.start.clone());
        let origin = Origin::Fork { parent };
        let start = match start {
            Some(start) => ProcessStart { origin, ..start },
            None => system::describe(child.pid, origin),
        };
        self.begin(child, child.pid, start, decoding);
    }

    fn exec(&mut self, before: ProcessId, record: Record<'_>, decoding: &mut Decoding<'_>) {
        let after = ProcessId {
            pid: before.pid,
            started: Timestamp(record.double(field::OUT)),
        };
        let own = self.processes.get(&before.pid).map(|known| known.start.clone());
        self.end(before, record, None, decoding);
        // A held child is no program yet, and a fork of this process.
        let is_held = before.started == Timestamp(FIRST_SEEN);
        let mut start = started_program(
            record,
            Origin::Exec {
                before: (!is_held).then_some(before),
            },
        );
        let (executable, owner) = match own {
            Some(own) => (own.executable, own.owner),
            None if is_held => (None, Owner::of(std::process::id())),
            None => (None, Owner::default()),
        };
        if start.executable.as_deref() == Some(Path::new("/proc/self/exe")) {
            start.executable = executable;
        }
        start.owner = start.owner.or(owner);
        self.begin(after, record.thread(), start, decoding);
    }

    fn call(
        &mut self,
        id: ProcessId,
        kind: Kind,
        function: &KnownFunction,
        record: Record<'_>,
        decoding: &mut Decoding<'_>,
    ) {
        let at = Timestamp(record.double(field::AT));
        let result = record.word(field::RESULT);
        if let Some(known) = self.processes.get_mut(&id.pid) {
            match (kind, function.role) {
                (Kind::Entered, Role::Launch(_)) => known.counted.begin(record, FunctionHandle(record.argument(0))),
                (Kind::Entered, Role::LaunchExtended) => {
                    known.counted.begin(record, FunctionHandle(record.argument(1)))
                }
                (Kind::Returned, Role::UnloadModule | Role::FindKernel) => known.end_counts(at, at, decoding),
                (Kind::Returned, Role::Context(call)) if call.may_end_one() => known.end_counts(at, at, decoding),
                _ => {}
            }
        }
        let happened = match (kind, result) {
            (Kind::Failed, _) => {
                self.forget_launch(id.pid, function.role, record, decoding.events);
                Some(failure(function, result))
            }
            (_, 0) => match function.role {
                Role::Context(call) => {
                    let ended = self.follow_context(id.pid, call, record).into_iter();
                    let ends = ended.map(|context| EventKind::ContextEnd { context });
                    decoding
                        .events
                        .extend(ends.map(|kind| event(at, id, record.thread(), kind)));
                    None
                }
                _ => self.success(id.pid, function, record),
            },
            // A query that is not answered yet is no error.
            (_, NOT_READY) => None,
            _ => {
                if function.role == Role::EndCapture {
                    self.end_capture(id.pid, stream(record, 0, function));
                }
                Some(failure(function, result))
            }
        };
        let at = match happened {
            // Only then does the program know the address.
            Some(EventKind::Allocate(_)) => Timestamp(at.0.saturating_add(record.double(field::DURATION))),
            _ => at,
        };
        decoding
            .events
            .extend(happened.map(|kind| event(at, id, record.thread(), kind)));
    }

    /// Takes back the launch that failed.
    fn forget_launch(&mut self, pid: u32, role: Role, record: Record<'_>, events: &mut Vec<Event>) {
        // Only launches of kernels are counted, and tell which kernel it was.
        let handle = match role {
            Role::Launch(_) | Role::LaunchExtended => FunctionHandle(record.argument(0)),
            Role::LaunchGrid { .. } | Role::GraphLaunch | Role::HostFunction => FunctionHandle(0),
            _ => return,
        };
        if !forget_launch(record.thread(), handle, events)
            && let Some(known) = self.processes.get_mut(&pid)
        {
            known.counted.failed(handle);
        }
    }

    /// Returns what a call did that did not fail.
    fn success(&mut self, pid: u32, function: &KnownFunction, record: Record<'_>) -> Option<EventKind> {
        let out = record.double(field::OUT);
        let of = |number: usize| stream(record, number, function);
        Some(match function.role {
            Role::Launch(_) | Role::LaunchExtended | Role::LaunchGrid { .. } => self.launch(pid, function, record)?,
            Role::GraphLaunch => EventKind::GraphLaunch {
                graph: GraphHandle(record.argument(0)),
                stream: of(1),
            },
            Role::HostFunction => EventKind::HostFunction { stream: of(0) },
            Role::Allocate(kind, amount) => self.allocation(record, kind, out, work::bytes(record, amount)),
            Role::Register => self.allocation(record, MemoryKind::Registered, record.argument(0), record.argument(1)),
            Role::AllocateArray(dimensions) => {
                self.allocation(record, MemoryKind::Array, out, work::array_bytes(record, dimensions))
            }
            Role::AllocateInStream(kind, number) => match self.execution(pid, of(number)) {
                Execution::Runs => self.allocation(record, kind, out, record.argument(1)),
                Execution::Captured => EventKind::AllocateInGraph { address: out },
            },
            Role::Free(space) => free(space, record.argument(0)),
            Role::FreeInStream => match self.execution(pid, of(1)) {
                Execution::Runs => free(HandleSpace::Address, record.argument(0)),
                // Launches of the graph free it.
                Execution::Captured => return None,
            },
            Role::Map => EventKind::Map {
                address: record.argument(0),
                memory: record.argument(3),
            },
            Role::Unmap => EventKind::Unmap {
                address: record.argument(0),
                bytes: record.argument(1),
            },
            Role::RetainHandle => EventKind::ShareHandle {
                handle: out,
                address: Some(record.argument(1)),
            },
            Role::ImportHandle => EventKind::ShareHandle {
                handle: out,
                address: None,
            },
            Role::Copy(arguments) => self.copy(pid, function, work::copy(record, arguments)),
            Role::CopyStructure { dimensions, stream } => {
                self.copy(pid, function, work::copy_structure(record, dimensions, stream))
            }
            Role::Set { amount, stream: number } => {
                let stream = number.map_or_else(|| work::stream(0, function.is_per_thread), of);
                EventKind::Set(Set {
                    bytes: work::bytes(record, amount),
                    stream,
                    execution: self.execution(pid, stream),
                })
            }
            Role::FindKernel => EventKind::Name {
                function: FunctionHandle(out),
                name: name(record)?,
                module: Some(ModuleHandle(record.argument(1))),
            },
            Role::NameOfKernel => EventKind::Name {
                function: FunctionHandle(record.argument(1)),
                name: name(record)?,
                module: None,
            },
            Role::Alias => EventKind::Alias {
                function: FunctionHandle(out),
                of: FunctionHandle(record.argument(1)),
            },
            Role::LoadModule => EventKind::ModuleLoad {
                module: ModuleHandle(out),
            },
            Role::UnloadModule => EventKind::ModuleUnload {
                module: ModuleHandle(record.argument(0)),
            },
            Role::CreateStream => EventKind::StreamCreate {
                stream: StreamHandle(out),
            },
            Role::DestroyStream => EventKind::StreamDestroy {
                stream: StreamHandle(record.argument(0)),
            },
            Role::Synchronize(what) => EventKind::Synchronize {
                what: match what {
                    WaitsFor::Context => Synchronization::Context,
                    WaitsFor::Stream => Synchronization::Stream(of(0)),
                    WaitsFor::Event => Synchronization::Event,
                },
                duration: work::duration(record),
            },
            Role::BeginCapture | Role::EndCapture | Role::RecordEvent | Role::WaitForEvent => {
                self.follow_capture(pid, function, record);
                if function.role != Role::RecordEvent || self.execution(pid, of(1)) == Execution::Captured {
                    return None;
                }
                EventKind::RecordEvent { stream: of(1) }
            }
            Role::Context(_) | Role::Other => return None,
        })
    }

    fn launch(&self, pid: u32, function: &KnownFunction, record: Record<'_>) -> Option<EventKind> {
        let mut launch = match function.role {
            Role::Launch(kind) => work::launch(record, kind),
            Role::LaunchExtended => work::launch_extended(record),
            Role::LaunchGrid { stream } => work::launch_grid(record, stream),
            _ => return None,
        };
        launch.stream = work::stream(launch.stream.0, function.is_per_thread);
        launch.execution = self.execution(pid, launch.stream);
        Some(EventKind::Launch(launch))
    }

    fn copy(&self, pid: u32, function: &KnownFunction, mut copy: crate::Copy) -> EventKind {
        copy.stream = work::stream(copy.stream.0, function.is_per_thread);
        copy.execution = self.execution(pid, copy.stream);
        EventKind::Copy(copy)
    }

    fn allocation(&self, record: Record<'_>, kind: MemoryKind, value: u64, bytes: u64) -> EventKind {
        let known = self.processes.get(&record.process());
        let context = known.map(|known| known.contexts.current(record.thread()));
        EventKind::Allocate(Allocation {
            kind,
            value,
            bytes,
            context: context.unwrap_or_default(),
            duration: work::duration(record),
        })
    }

    /// Returns the contexts that end with the call.
    fn follow_context(&mut self, pid: u32, call: ContextCall, record: Record<'_>) -> Vec<ContextHandle> {
        let Some(Known { contexts, .. }) = self.processes.get_mut(&pid) else {
            return Vec::new();
        };
        let (thread, out) = (record.thread(), ContextHandle(record.double(field::OUT)));
        let (context, device) = (ContextHandle(record.argument(0)), record.small_argument(0));
        match call {
            ContextCall::Create => contexts.create(thread, out),
            ContextCall::Use => contexts.choose(thread, context),
            ContextCall::Push => contexts.push(thread, context),
            ContextCall::Pop => contexts.pop(thread),
            ContextCall::Retain => contexts.retain(record.small_argument(1), out),
            ContextCall::Destroy => return contexts.end(context),
            ContextCall::Release => return contexts.release(device),
            ContextCall::Reset => return contexts.reset(device),
        }
        Vec::new()
    }

    fn follow_capture(&mut self, pid: u32, function: &KnownFunction, record: Record<'_>) {
        let Some(known) = self.processes.get_mut(&pid) else {
            return;
        };
        let of = |number| stream(record, number, function);
        match function.role {
            Role::BeginCapture => known.captures.begin(of(0)),
            Role::EndCapture => known.captures.end(of(0)),
            Role::RecordEvent => known.captures.record(record.argument(0), of(1)),
            Role::WaitForEvent => known.captures.wait(of(0), record.argument(1)),
            _ => {}
        }
    }

    fn end_capture(&mut self, pid: u32, stream: StreamHandle) {
        if let Some(known) = self.processes.get_mut(&pid) {
            known.captures.end(stream);
        }
    }

    fn execution(&self, pid: u32, stream: StreamHandle) -> Execution {
        self.processes
            .get(&pid)
            .map_or(Execution::Runs, |known| known.captures.execution(stream))
    }
}

const NOT_READY: u32 = 600;

fn event(at: Timestamp, process: ProcessId, thread: u32, kind: EventKind) -> Event {
    Event {
        at,
        process,
        thread,
        kind,
    }
}

fn stream(record: Record<'_>, number: usize, function: &KnownFunction) -> StreamHandle {
    work::stream(record.argument(number), function.is_per_thread)
}

fn free(space: HandleSpace, value: u64) -> EventKind {
    EventKind::Free(MemoryHandle { space, value })
}

fn failure(function: &KnownFunction, code: u32) -> EventKind {
    EventKind::Failed {
        call: function.call.clone(),
        code,
    }
}

/// Returns the event of launches that the kernel counted, unless they are none.
fn launches_of(process: ProcessId, key: LaunchKey, count: u64, at: Timestamp, functions: &Functions) -> Option<Event> {
    let kind = match functions.get(key.function)?.role {
        Role::Launch(kind) => kind,
        _ => LaunchKind::Extended,
    };
    let launches = EventKind::Launches {
        function: key.handle,
        kind,
        count,
    };
    (count > 0).then(|| event(at, process, process.pid, launches))
}

/// Takes back the launch that a thread began last, and returns whether it is among the events. A
/// batch of records nearly always has a launch and its failure. Where it does not, both are
/// reported.
fn forget_launch(thread: u32, handle: FunctionHandle, events: &mut Vec<Event>) -> bool {
    let last = events.iter().rposition(|event| event.thread == thread);
    let is_it = |at: &usize| match &events[*at].kind {
        EventKind::Launch(launch) => handle.0 == 0 || launch.function == handle,
        EventKind::GraphLaunch { .. } | EventKind::HostFunction { .. } => handle.0 == 0,
        _ => false,
    };
    let found = last.filter(is_it);
    found.inspect(|at| drop(events.remove(*at))).is_some()
}

/// Returns the name in a record, if there is one.
fn name(record: Record<'_>) -> Option<Arc<str>> {
    let bytes = record.text(field::REST, programs::NAME_BYTES as usize);
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into())
}

/// Returns the program that a record tells of, with what the system still knows of it.
fn started_program(record: Record<'_>, origin: Origin) -> ProcessStart {
    let path = record.text(program::PATH, program::PATH_BYTES as usize);
    let length = record.double(program::LENGTH);
    let arguments = record.bytes(program::ARGUMENTS, length.min(program::ARGUMENT_BYTES as u64) as usize);
    let recorded = system::Recorded {
        path,
        arguments,
        is_cut: length > program::ARGUMENT_BYTES as u64,
        user: record.word(field::RESULT),
    };
    recorded.complete(record.process(), origin)
}
