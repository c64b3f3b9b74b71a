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

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::Script;
    use crate::{LaunchKind, MemoryKind, Set, StreamHandle, Waiting};

    fn observed(script: Script) -> Vec<ObservedWork> {
        observed_calls(&script.events)
            .into_iter()
            .map(|call| call.work)
            .collect()
    }

    fn names(script: Script) -> Vec<Option<String>> {
        let works = observed(script).into_iter();
        works
            .filter_map(|work| match work {
                ObservedWork::Launch { kernel, .. } => Some(kernel.map(|kernel| kernel.name)),
                _ => None,
            })
            .collect()
    }

    fn alias(function: u64, of: u64) -> EventKind {
        EventKind::Alias {
            function: FunctionHandle(function),
            of: FunctionHandle(of),
        }
    }

    #[test]
    fn each_event_is_the_work_that_it_is() {
        let stream = StreamHandle(3);
        let copy = |direction, bytes, execution| {
            EventKind::Copy(Copy {
                direction,
                bytes,
                destination: 0,
                source: 0,
                stream,
                waiting: Waiting::Queues,
                execution,
                duration: Default::default(),
            })
        };
        let set = |execution| {
            EventKind::Set(Set {
                bytes: 8,
                stream,
                execution,
            })
        };
        let copied = |bytes, submissions| ObservedWork::Copy {
            bytes,
            submissions,
            stream: 3,
        };
        use CopyDirection::{ByAddress, DeviceToDevice, HostToDevice, PeerToPeer};
        use Execution::{Captured, Runs};
        let large = 3 * COPIED_AT_ONCE;
        for (event, work) in [
            (copy(HostToDevice, 100, Runs), copied(100, 1)),
            (copy(HostToDevice, large, Runs), copied(large, 4)),
            (copy(ByAddress, large, Runs), copied(large, 4)),
            (copy(DeviceToDevice, large, Runs), copied(large, 1)),
            (copy(PeerToPeer, large, Runs), copied(large, 1)),
            (copy(HostToDevice, 100, Captured), ObservedWork::Other),
            (set(Runs), ObservedWork::Fill { stream: 3 }),
            (set(Captured), ObservedWork::Other),
            (EventKind::RecordEvent { stream }, ObservedWork::RecordEvent),
            (
                EventKind::ModuleLoad {
                    module: crate::ModuleHandle(1),
                },
                ObservedWork::LoadModule,
            ),
            (EventKind::Exited { status: None }, ObservedWork::Lived),
            (EventKind::StreamCreate { stream }, ObservedWork::Other),
            (
                EventKind::GraphLaunch {
                    graph: crate::GraphHandle(1),
                    stream,
                },
                ObservedWork::GraphLaunch { stream: 3 },
            ),
        ] {
            let shown = format!("{event:?}");
            assert_eq!(observed(Script::unseen(7, 1).push(event)), [work], "{shown}");
        }
        let parent = Script::new(7, 1, "app");
        assert_eq!(observed(parent.fork(8)), [ObservedWork::Forked { parent: 7 }]);
        assert_eq!(
            observed(parent.fail("cuInit", 1)),
            [ObservedWork::Lived, ObservedWork::Failed]
        );
    }

    #[test]
    fn a_free_has_the_bytes_of_its_allocation_and_one_of_nothing_is_none() {
        let script = Script::unseen(7, 1).allocate(0x10, 64).free(0x10).free(0x10).free(0);
        let script = script.allocate_as(MemoryKind::Physical, 0x20, 5).free(0x20);
        let bytes = |bytes| ObservedWork::Free { bytes };
        let works = observed(script);
        assert_eq!(works[1..4], [bytes(64), bytes(0), ObservedWork::Other]);
        assert_eq!(works[5], bytes(0), "another handle has the same value");
        let call = &observed_calls(&Script::unseen(7, 1).allocate(0x10, 64).events)[0];
        assert_eq!((call.at_ns, call.process), (1_001_000, 7));
    }

    #[test]
    fn a_launch_has_the_name_that_its_handle_had_or_got() {
        let named = |name: &str| Some(name.to_owned());
        let late = Script::unseen(7, 1).launch(1).name(1, "late");
        assert_eq!(names(late), [named("late")]);
        let twice = Script::unseen(7, 1).name(1, "one").launch(1).name(1, "two").launch(1);
        assert_eq!(names(twice.clone()), [named("one"), named("two")]);
        assert_eq!(names(twice.name(1, "two").launch(1)).len(), 3);
        let same = Script::unseen(7, 1)
            .name(1, "one")
            .launch(1)
            .push(alias(2, 1))
            .launch(2);
        assert_eq!(names(same), [named("one"), named("one")]);
        let early = Script::unseen(7, 1)
            .launch(2)
            .push(alias(2, 1))
            .launch(2)
            .name(1, "one");
        assert_eq!(names(early), [named("one"), named("one")]);
        let moved = Script::unseen(7, 1)
            .name(2, "two")
            .launch(2)
            .name(1, "one")
            .push(alias(2, 1))
            .launch(2);
        assert_eq!(names(moved), [named("two"), named("one")]);
        let captured = Script::unseen(7, 1).launch_as(1, LaunchKind::Plain, Execution::Captured);
        assert_eq!(observed(captured), [ObservedWork::Other]);
        assert_eq!(names(Script::unseen(7, 1).launch(1)), [None]);
        let other = Script::unseen(8, 1).launch(1);
        let events = [Script::unseen(7, 1).name(1, "one").events, other.events].concat();
        let works = observed_calls(&events);
        assert!(
            matches!(&works[1].work, ObservedWork::Launch { kernel: None, .. }),
            "handles are those of a process"
        );
    }
}
