//! Events from records.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::capture::Captures;
use super::layout::{Kind, Record, field, program};
use super::map::{FIRST_SEEN, PROCESSES};
use super::plan::{Functions, KnownFunction};
use super::role::{Role, WaitsFor};
use super::{programs, work};
use crate::system;
use crate::{
    Allocation, Event, EventKind, Execution, FunctionHandle, GraphHandle, HandleSpace, MemoryHandle, MemoryKind,
    ModuleHandle, Origin, ProcessId, ProcessStart, Set, StreamHandle, Synchronization, Timestamp,
};

/// Makes events of the records of one observation, in their order.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The processes that began and have not ended, by pid.
    processes: HashMap<u32, Known>,
}

#[derive(Debug)]
struct Known {
    id: ProcessId,
    start: ProcessStart,
    captures: Captures,
}

/// A process that the observer found.
#[derive(Clone, Debug)]
pub(crate) struct Introduction {
    pub(crate) process: ProcessId,
    pub(crate) start: ProcessStart,
}

impl Decoder {
    /// Reports a process that ran before the observation.
    pub(crate) fn introduce(&mut self, found: Introduction, events: &mut Vec<Event>) {
        self.begin(found.process, found.process.pid, found.start, events);
    }

    /// Appends the events that follow from a record.
    pub(crate) fn decode(&mut self, bytes: &[u8], functions: &Functions, events: &mut Vec<Event>) {
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
                self.known(id, record, events);
                if let Some(function) = functions.get(record.word(field::FUNCTION)) {
                    self.call(id, kind, function, record, events);
                }
            }
            Kind::Introduced => {
                let start = started_program(record, Origin::Exec { before: None });
                self.begin(id, record.thread(), start, events);
            }
            Kind::Forked => self.fork(id, record, events),
            Kind::Exec => self.exec(id, record, events),
            Kind::Exited => {
                let status = record.word(field::RESULT).cast_signed();
                self.end(id, record, Some(status), events);
            }
        }
    }

    /// Reports a process whose begin was lost, before the first that is seen of it.
    fn known(&mut self, id: ProcessId, record: Record<'_>, events: &mut Vec<Event>) {
        let is_known = self.processes.get(&id.pid).is_some_and(|known| known.id == id);
        if !is_known {
            let start = system::describe(id.pid, Origin::Exec { before: None });
            self.begin(id, record.thread(), start, events);
        }
    }

    fn begin(&mut self, id: ProcessId, thread: u32, start: ProcessStart, events: &mut Vec<Event>) {
        let known = Known {
            id,
            start: start.clone(),
            captures: Captures::default(),
        };
        match self.processes.entry(id.pid) {
            Entry::Occupied(entry) if entry.get().id == id => return,
            Entry::Occupied(mut entry) => {
                // The end of the old process with this pid was lost.
                let old = entry.insert(known).id;
                events.push(event(id.started, old, old.pid, EventKind::Exited { status: None }));
            }
            Entry::Vacant(entry) => {
                entry.insert(known);
            }
        }
        events.push(event(id.started, id, thread, EventKind::Started(start)));
        if self.processes.len() > PROCESSES as usize {
            self.processes.retain(|pid, _| system::exists(*pid));
        }
    }

    fn end(&mut self, id: ProcessId, record: Record<'_>, status: Option<i32>, events: &mut Vec<Event>) {
        if let Entry::Occupied(entry) = self.processes.entry(id.pid)
            && entry.get().id == id
        {
            entry.remove();
            let at = Timestamp(record.double(field::AT));
            events.push(event(at, id, record.thread(), EventKind::Exited { status }));
        }
    }

    fn fork(&mut self, parent: ProcessId, record: Record<'_>, events: &mut Vec<Event>) {
        let child = ProcessId {
            pid: record.word(field::OUT),
            started: Timestamp(record.argument(0)),
        };
        self.known(parent, record, events);
        // Until its exec, a child runs the parent's program.
        let start = self.processes.get(&parent.pid).map(|known| known.start.clone());
        let origin = Origin::Fork { parent };
        let start = match start {
            Some(start) => ProcessStart { origin, ..start },
            None => system::describe(child.pid, origin),
        };
        self.begin(child, child.pid, start, events);
    }

    fn exec(&mut self, before: ProcessId, record: Record<'_>, events: &mut Vec<Event>) {
        let after = ProcessId {
            pid: before.pid,
            started: Timestamp(record.double(field::OUT)),
        };
        self.end(before, record, None, events);
        // A held child is no program yet.
        let before = (before.started != Timestamp(FIRST_SEEN)).then_some(before);
        let start = started_program(record, Origin::Exec { before });
        self.begin(after, record.thread(), start, events);
    }

    fn call(
        &mut self,
        id: ProcessId,
        kind: Kind,
        function: &KnownFunction,
        record: Record<'_>,
        events: &mut Vec<Event>,
    ) {
        let at = Timestamp(record.double(field::AT));
        let result = record.word(field::RESULT);
        let happened = match (kind, result) {
            (Kind::Failed, _) => {
                forget_launch(record.thread(), function.role, events);
                Some(failure(function, result))
            }
            (_, 0) => self.success(id.pid, function, record),
            // A query that is not answered yet is no error.
            (_, NOT_READY) => None,
            _ => {
                if function.role == Role::EndCapture {
                    self.end_capture(id.pid, stream(record, 0, function));
                }
                Some(failure(function, result))
            }
        };
        events.extend(happened.map(|kind| event(at, id, record.thread(), kind)));
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
            Role::Allocate(kind, amount) => allocation(kind, out, work::bytes(record, amount)),
            Role::Register => allocation(MemoryKind::Registered, record.argument(0), record.argument(1)),
            Role::AllocateArray(dimensions) => {
                allocation(MemoryKind::Array, out, work::array_bytes(record, dimensions))
            }
            Role::Free(space) => free(space, record.argument(0)),
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
                return None;
            }
            Role::Other => return None,
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

fn allocation(kind: MemoryKind, value: u64, bytes: u64) -> EventKind {
    EventKind::Allocate(Allocation { kind, value, bytes })
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

/// Takes back the launch that a thread began last: it failed. A batch of records nearly always has
/// both. Where it does not, both are reported.
fn forget_launch(thread: u32, role: Role, events: &mut Vec<Event>) {
    let launches = matches!(
        role,
        Role::Launch(_) | Role::LaunchExtended | Role::LaunchGrid { .. } | Role::GraphLaunch | Role::HostFunction
    );
    let last = events
        .iter()
        .rposition(|event| event.thread == thread)
        .filter(|_| launches);
    let is_launch = |at: &usize| {
        let kind = &events[*at].kind;
        matches!(
            kind,
            EventKind::Launch(_) | EventKind::GraphLaunch { .. } | EventKind::HostFunction { .. }
        )
    };
    if let Some(at) = last.filter(is_launch) {
        events.remove(at);
    }
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
    };
    recorded.complete(record.process(), origin)
}
