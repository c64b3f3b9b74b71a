//! What happened in each audited call, from events and the spans of the calls.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::SeenEvents;
use gpubench_contract::CallAudit;
use gpubench_device::harness::kernel_names;
use gpubench_measure::verdict::WindowSpan;
use gpubench_observe::{
    Copy, CopyDirection, Event, EventKind, Execution, FunctionHandle, MemoryHandle, Origin, StreamHandle, SystemCall,
    Timestamp,
};

/// What happened in one call.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// Its totals. Their launches, streams and kernels are still zero.
    pub(super) totals: CallAudit,
    /// Submissions to the GPU that its calls of the driver explain at most, besides launches.
    pub(super) explained: u64,
    pub(super) streams: BTreeSet<StreamHandle>,
    /// Launches by mangled name; `None` for kernels whose name the driver did not tell.
    pub(super) kernels: BTreeMap<Option<Arc<str>>, u64>,
    /// System calls in the timed region, by name. `None` if the region has no host code.
    pub(super) system_calls: Option<BTreeMap<Cow<'static, str>, u64>>,
}

/// Returns what happened in the span of each call, by its worker and the processes that it started.
/// The first call, which may set things up, is left out if there are more. `None` without spans, or
/// if no call of a driver was seen in these processes.
pub(super) fn calls(seen: &SeenEvents, spans: &[WindowSpan]) -> Option<Vec<Call>> {
    let processes = Processes::of(&seen.events, spans);
    let mut spans = Spans::of(spans);
    let is_seen = add_events(&mut spans, &processes, &seen.events);
    add_system_calls(&mut spans, &processes, &seen.system_calls);
    let left_out = usize::from(spans.0.len() > 1);
    let calls: Vec<Call> = spans.0.into_iter().skip(left_out).map(|(_, call)| call).collect();
    (is_seen && !calls.is_empty()).then_some(calls)
}

/// Adds what processes asked of the driver to the calls in whose spans they did. Returns whether
/// they asked for anything, within a span or not.
fn add_events(spans: &mut Spans, processes: &Processes, events: &[Event]) -> bool {
    let mut kernels = Kernels::default();
    let mut sizes: HashMap<(u32, MemoryHandle), u64> = HashMap::new();
    let mut launches: Vec<(usize, usize, StreamHandle)> = Vec::new();
    let mut is_seen = false;
    for event in events {
        let pid = event.process.pid;
        let Some(worker) = processes.worker_of(pid) else {
            continue;
        };
        is_seen |= !matches!(event.kind, EventKind::Started(_) | EventKind::Exited { .. });
        kernels.follow(pid, &event.kind);
        let freed = match &event.kind {
            EventKind::Allocate(allocation) => {
                sizes.insert((pid, allocation.handle()), allocation.bytes);
                0
            }
            EventKind::Free(handle) => sizes.remove(&(pid, *handle)).unwrap_or(0),
            _ => 0,
        };
        let Some(position) = spans.position(worker, event.at) else {
            continue;
        };
        match &event.kind {
            EventKind::Launch(launch) if launch.execution == Execution::Runs => {
                launches.push((position, kernels.of(pid, launch.function), launch.stream));
            }
            kind => spans.0[position].1.add(kind, freed),
        }
    }
    // Names may come after launches.
    let own: BTreeSet<&str> = kernel_names().collect();
    for (position, kernel, stream) in launches {
        let name = kernels.name(kernel);
        if name.as_ref().is_some_and(|name| own.contains(&**name)) {
            continue;
        }
        let call = &mut spans.0[position].1;
        call.streams.insert(stream);
        *call.kernels.entry(name).or_default() += 1;
    }
    is_seen
}

/// Adds system calls to the calls in whose timed regions they began.
fn add_system_calls(spans: &mut Spans, processes: &Processes, system_calls: &[SystemCall]) {
    for call in system_calls {
        let position = processes
            .worker_of(call.process)
            .and_then(|worker| spans.position(worker, call.at));
        let Some((span, within)) = position.and_then(|position| spans.0.get_mut(position)) else {
            continue;
        };
        let is_timed = |(from, until): (u64, u64)| (from..until).contains(&call.at.0);
        if let Some(calls) = within
            .system_calls
            .as_mut()
            .filter(|_| span.timed_ns.is_some_and(is_timed))
        {
            *calls.entry(call.name()).or_default() += 1;
        }
    }
}

impl Call {
    /// Returns the number of launches, without those of the tool.
    pub(super) fn launches(&self) -> u64 {
        self.kernels.values().sum()
    }

    fn of(span: &WindowSpan) -> Call {
        Call {
            system_calls: span.timed_ns.map(|_| BTreeMap::new()),
            ..Call::default()
        }
    }

    /// Adds an event. `freed` is the size of the memory that it frees.
    fn add(&mut self, kind: &EventKind, freed: u64) {
        match kind {
            EventKind::GraphLaunch { stream, .. } => {
                self.explained += 1;
                self.totals.graph_launches += 1.0;
                self.streams.insert(*stream);
            }
            EventKind::Copy(copy) if copy.execution == Execution::Runs => {
                self.explained += submissions_of(copy);
                self.totals.copies += 1.0;
                self.totals.copied_bytes += copy.bytes as f64;
                self.streams.insert(copy.stream);
            }
            EventKind::Set(set) if set.execution == Execution::Runs => {
                self.explained += 1;
                self.totals.fills += 1.0;
                self.streams.insert(set.stream);
            }
            EventKind::RecordEvent { .. } => self.explained += 1,
            EventKind::Allocate(allocation) => {
                self.totals.allocations += 1.0;
                self.totals.bytes_left += allocation.bytes as f64;
            }
            EventKind::Free(handle) if handle.value != 0 => {
                self.totals.frees += 1.0;
                self.totals.bytes_left -= freed as f64;
            }
            EventKind::ModuleLoad { .. } => self.totals.modules_loaded += 1.0,
            EventKind::Failed { .. } => self.totals.failed_calls += 1.0,
            _ => {}
        }
    }
}

/// Bytes of pageable memory that a submission copies at most, on an H200 with driver 580.
const COPIED_AT_ONCE: u64 = 1 << 20;

/// Returns how often a copy submits work at most. Whether memory of the host is pageable is not
/// seen.
fn submissions_of(copy: &Copy) -> u64 {
    match copy.direction {
        CopyDirection::DeviceToDevice | CopyDirection::PeerToPeer => 1,
        CopyDirection::HostToDevice
        | CopyDirection::DeviceToHost
        | CopyDirection::HostToHost
        | CopyDirection::ByAddress => 1 + copy.bytes / COPIED_AT_ONCE,
    }
}

/// The spans of calls, in the order of time. Calls are audited one after another.
struct Spans(Vec<(WindowSpan, Call)>);

impl Spans {
    fn of(spans: &[WindowSpan]) -> Spans {
        let mut spans: Vec<_> = spans.iter().map(|span| (*span, Call::of(span))).collect();
        spans.sort_by_key(|(span, _)| span.began_ns);
        Spans(spans)
    }

    /// Returns the position of the span in which a worker was at a point in time.
    fn position(&self, worker: u32, at: Timestamp) -> Option<usize> {
        let after = self.0.partition_point(|(span, _)| span.began_ns <= at.0);
        let position = after.checked_sub(1)?;
        let (span, _) = &self.0[position];
        (span.process == worker && at.0 <= span.ended_ns).then_some(position)
    }
}

/// The workers of the spans, and the processes that they started.
struct Processes(HashMap<u32, u32>);

impl Processes {
    fn of(events: &[Event], spans: &[WindowSpan]) -> Processes {
        let mut workers: HashMap<u32, u32> = spans.iter().map(|span| (span.process, span.process)).collect();
        for event in events {
            if let EventKind::Started(start) = &event.kind
                && let Origin::Fork { parent } = start.origin
                && let Some(worker) = workers.get(&parent.pid).copied()
            {
                workers.insert(event.process.pid, worker);
            }
        }
        Processes(workers)
    }

    fn worker_of(&self, pid: u32) -> Option<u32> {
        self.0.get(&pid).copied()
    }
}

/// The kernels of handles. A name may come after launches, and a handle may get another kernel.
#[derive(Debug, Default)]
struct Kernels {
    known: Vec<Kernel>,
    of_handles: HashMap<(u32, FunctionHandle), usize>,
}

#[derive(Clone, Debug)]
enum Kernel {
    Unnamed,
    Named(Arc<str>),
    /// The kernel at another position.
    SameAs(usize),
}

impl Kernels {
    /// Learns what an event tells about handles.
    fn follow(&mut self, pid: u32, kind: &EventKind) {
        match kind {
            EventKind::Name { function, name, .. } => {
                let position = self.of(pid, *function);
                match &self.known[position] {
                    Kernel::Unnamed => self.known[position] = Kernel::Named(Arc::clone(name)),
                    Kernel::Named(known) if known == name => {}
                    _ => self.put((pid, *function), Kernel::Named(Arc::clone(name))),
                }
            }
            EventKind::Alias { function, of } => {
                let before = self.of(pid, *function);
                let same = self.of(pid, *of);
                match &self.known[before] {
                    _ if before == same => {}
                    Kernel::Unnamed => self.known[before] = Kernel::SameAs(same),
                    _ => {
                        self.of_handles.insert((pid, *function), same);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the position of a handle's kernel, never of one that is the same as another.
    fn of(&mut self, pid: u32, function: FunctionHandle) -> usize {
        match self.of_handles.get(&(pid, function)) {
            Some(position) => self.original(*position),
            None => {
                self.put((pid, function), Kernel::Unnamed);
                self.known.len() - 1
            }
        }
    }

    fn put(&mut self, handle: (u32, FunctionHandle), kernel: Kernel) {
        self.of_handles.insert(handle, self.known.len());
        self.known.push(kernel);
    }

    fn original(&self, mut position: usize) -> usize {
        while let Kernel::SameAs(other) = &self.known[position] {
            position = *other;
        }
        position
    }

    fn name(&self, position: usize) -> Option<Arc<str>> {
        match &self.known[self.original(position)] {
            Kernel::Named(name) => Some(Arc::clone(name)),
            _ => None,
        }
    }
}
