//! Events as records, for `--audit`.

use std::collections::HashMap;
use std::sync::Arc;

use gpubench_contract::{ObservedCall, ObservedKernel, ObservedWork};

use crate::ledger::demangled;
use crate::{Copy, CopyDirection, Event, EventKind, Execution, FunctionHandle, MemoryHandle, Origin};

/// Returns what processes asked of the driver. The events of a process are in the order in which
/// its calls ended.
pub fn observed_calls(events: &[Event]) -> Vec<ObservedCall> {
    let mut kernels = Kernels::default();
    let mut sizes: HashMap<(u32, MemoryHandle), u64> = HashMap::new();
    let mut launched = Vec::with_capacity(events.len());
    for event in events {
        let pid = event.process.pid;
        kernels.follow(pid, &event.kind);
        launched.push(match &event.kind {
            EventKind::Launch(launch) => Some(kernels.position(pid, launch.function)),
            _ => None,
        });
    }
    // Names may come after launches.
    let calls = events.iter().zip(launched).map(|(event, kernel)| ObservedCall {
        at_ns: event.at.0,
        process: event.process.pid,
        work: work(event, kernel.and_then(|kernel| kernels.kernel(kernel)), &mut sizes),
    });
    calls.collect()
}

fn work(event: &Event, kernel: Option<ObservedKernel>, sizes: &mut HashMap<(u32, MemoryHandle), u64>) -> ObservedWork {
    let pid = event.process.pid;
    match &event.kind {
        EventKind::Started(start) => match start.origin {
            Origin::Fork { parent } => ObservedWork::Forked { parent: parent.pid },
            Origin::Before | Origin::Exec { .. } => ObservedWork::Lived,
        },
        EventKind::Exited { .. } => ObservedWork::Lived,
        EventKind::Launch(launch) if launch.execution == Execution::Runs => ObservedWork::Launch {
            kernel,
            stream: launch.stream.0,
        },
        EventKind::GraphLaunch { stream, .. } => ObservedWork::GraphLaunch { stream: stream.0 },
        EventKind::Copy(copy) if copy.execution == Execution::Runs => ObservedWork::Copy {
            bytes: copy.bytes,
            submissions: submissions_of(copy),
            stream: copy.stream.0,
        },
        EventKind::Set(set) if set.execution == Execution::Runs => ObservedWork::Fill { stream: set.stream.0 },
        EventKind::RecordEvent { .. } => ObservedWork::RecordEvent,
        EventKind::Allocate(allocation) => {
            sizes.insert((pid, allocation.handle()), allocation.bytes);
            ObservedWork::Allocate {
                bytes: allocation.bytes,
            }
        }
        EventKind::Free(handle) if handle.value != 0 => ObservedWork::Free {
            bytes: sizes.remove(&(pid, *handle)).unwrap_or(0),
        },
        EventKind::ModuleLoad { .. } => ObservedWork::LoadModule,
        EventKind::Failed { .. } => ObservedWork::Failed,
        _ => ObservedWork::Other,
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
                let position = self.position(pid, *function);
                match &self.known[position] {
                    Kernel::Unnamed => self.known[position] = Kernel::Named(Arc::clone(name)),
                    Kernel::Named(known) if known == name => {}
                    _ => self.put((pid, *function), Kernel::Named(Arc::clone(name))),
                }
            }
            EventKind::Alias { function, of } => {
                let before = self.position(pid, *function);
                let same = self.position(pid, *of);
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
    fn position(&mut self, pid: u32, function: FunctionHandle) -> usize {
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

    fn kernel(&self, position: usize) -> Option<ObservedKernel> {
        match &self.known[self.original(position)] {
            Kernel::Named(symbol) => Some(ObservedKernel {
                symbol: symbol.to_string(),
                name: demangled(symbol),
            }),
            _ => None,
        }
    }
}
