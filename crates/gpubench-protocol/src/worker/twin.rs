//! The twin of a call: one plain kernel of the tool that reads the call's inputs and writes its
//! outputs. A control window runs it instead of the call, so that the referee's clock sees the same
//! time beyond the claim. The same kernel brings tensors to the caches.

use std::num::NonZeroU32;

use gpubench::catalog::{Recording, Role};
use gpubench::plan::Step;
use gpubench_contract::{CacheTreatment, Launching, Mode};

use super::WorkerError;
use super::buffers::{Buffers, NamedBuffer};
use super::graphs::CallGraphs;
use crate::window::{MadeCalls, WindowCalls};
use gpubench_device::harness::{AccessKind, BufferAccess, Harness};
use gpubench_device::{DeviceError, Driver, Stream};

/// The twins that a control window runs instead of the calls.
pub(super) struct Twin {
    calls: Vec<TwinOfCall>,
    /// The same in graphs, for a mode that times one.
    graphs: Option<CallGraphs>,
}

struct TwinOfCall {
    buffers: Vec<BufferAccess>,
    launches: NonZeroU32,
}

impl Twin {
    /// Returns the twins of calls with `launches` launches together. They touch the case's tensors,
    /// but not its scratch.
    ///
    /// # Errors
    /// If a graph cannot be made.
    pub(super) fn new(
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
        buffers: &Buffers,
        calls: WindowCalls,
        launches: NonZeroU32,
    ) -> Result<Twin, WorkerError> {
        let touched: Vec<BufferAccess> = buffers.0.iter().filter_map(as_the_call).collect();
        let of_call = touched.len().div_ceil(calls.count.get() as usize).max(1);
        let launches = NonZeroU32::new(launches.get() / calls.count).unwrap_or(NonZeroU32::MIN);
        let of_calls = touched.chunks(of_call).map(|buffers| TwinOfCall {
            buffers: buffers.to_vec(),
            launches,
        });
        let mut twin = Twin {
            calls: of_calls.collect(),
            graphs: None,
        };
        if calls.mode.launching() == Launching::InGraph {
            let queue = |driver: &mut dyn Driver, made| twin.queue_one_by_one(made, driver, harness, stream);
            twin.graphs = Some(CallGraphs::capture(driver, stream, queue)?);
        }
        Ok(twin)
    }

    /// Queues the twins of the calls that a window makes.
    pub(super) fn queue(
        &self,
        made: MadeCalls,
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        match &self.graphs {
            Some(graphs) => graphs.queue(made, driver, stream),
            None => self.queue_one_by_one(made, driver, harness, stream),
        }
    }

    fn queue_one_by_one(
        &self,
        made: MadeCalls,
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        let made = match made {
            MadeCalls::All => &self.calls[..],
            MadeCalls::First => self.calls.get(..1).unwrap_or_default(),
        };
        let mut calls = made.iter();
        calls.try_for_each(|call| harness.twin(driver, stream, &call.buffers, call.launches))
    }

    /// Frees the graphs.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        if let Some(graphs) = self.graphs {
            graphs.release(driver);
        }
    }
}

/// Returns a tensor with the access that a call must have to it. `None` for scratch.
fn as_the_call(buffer: &NamedBuffer) -> Option<BufferAccess> {
    let access = match buffer.role {
        Role::Input | Role::Constant => AccessKind::Reads,
        Role::Output => AccessKind::Writes,
        Role::InOut => AccessKind::ReadsAndWrites,
        Role::Scratch => return None,
    };
    Some(BufferAccess {
        address: buffer.address(),
        bytes: buffer.layout.len,
        access,
    })
}

/// Reads every buffer of the calls, so that the caches hold them, or do nothing.
pub(super) struct Warming(Vec<BufferAccess>);

impl Warming {
    /// Returns the reads that a mode wants before the calls of a window.
    pub(super) fn new(mode: Mode, buffers: &Buffers) -> Warming {
        let all = buffers.0.iter().map(|buffer| BufferAccess {
            address: buffer.address(),
            bytes: buffer.layout.len,
            access: AccessKind::Reads,
        });
        Warming(match mode.cache() {
            CacheTreatment::Touched => all.collect(),
            CacheTreatment::Flushed | CacheTreatment::Left => Vec::new(),
        })
    }

    /// Queues the reads.
    pub(super) fn queue(&self, driver: &mut dyn Driver, harness: &Harness, stream: Stream) -> Result<(), DeviceError> {
        harness.twin(driver, stream, &self.0, NonZeroU32::MIN)
    }
}

/// Returns the number of launches of a call. It is unknown for host code.
pub(super) fn launches(recording: &Recording) -> NonZeroU32 {
    let steps = recording.plan.steps.iter();
    let launches = steps.filter(|step| matches!(step, Step::Launch(_))).count();
    u32::try_from(launches)
        .ok()
        .and_then(NonZeroU32::new)
        .unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use gpubench::catalog::{Reference, Work};
    use gpubench::plan::{BufferId, Plan, Span};

    use super::*;
    use crate::wire::BufferLayout;
    use gpubench_device::cpu::CpuDriver;
    use gpubench_device::cpu::executor::ScheduleSeed;
    use gpubench_device::faulty::FaultyDriver;

    /// Two calls with an input, an output, an in-out tensor and a scratch tensor each.
    fn buffers(driver: &mut dyn Driver) -> Buffers {
        let layout = BufferLayout::alone(driver.facts(), 4_096).unwrap();
        let roles = [Role::Input, Role::Output, Role::InOut, Role::Scratch].repeat(2);
        let buffers = roles.into_iter().map(|role| NamedBuffer {
            name: format!("{role:?}"),
            role,
            mapping: driver.alloc(layout.allocation).unwrap(),
            layout,
        });
        Buffers(buffers.collect())
    }

    #[test]
    fn a_twin_touches_the_tensors_of_the_calls_that_are_made_as_often_as_they_launch() {
        let names = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&names);
        let cpu = CpuDriver::new(None, ScheduleSeed::Natural).unwrap();
        let mut driver = FaultyDriver::watched(cpu, move |_, call| log.lock().unwrap().push(call.name.clone()));
        let harness = Harness::load(&mut driver).unwrap();
        let stream = driver.stream().unwrap();
        let buffers = buffers(&mut driver);
        let calls = WindowCalls {
            mode: Mode::Hot,
            count: NonZeroU32::new(2).unwrap(),
        };
        let launches = NonZeroU32::new(6).unwrap();
        let twin = Twin::new(&mut driver, &harness, stream, &buffers, calls, launches).unwrap();
        let touched = twin.calls.iter().map(|call| call.buffers.len());
        assert_eq!(touched.collect::<Vec<_>>(), [3, 3], "all but the scratch");
        for (made, expected) in [(MadeCalls::First, 3), (MadeCalls::All, 6)] {
            names.lock().unwrap().clear();
            twin.queue(made, &mut driver, &harness, stream).unwrap();
            let queued = names.lock().unwrap().iter().filter(|name| *name == "gb_twin").count();
            assert_eq!(queued, expected, "{made:?}");
        }
        driver.synchronize(stream).unwrap();
    }

    #[test]
    fn only_hot_modes_bring_the_buffers_to_the_caches() {
        let mut driver = CpuDriver::new(None, ScheduleSeed::Natural).unwrap();
        let buffers = buffers(&mut driver);
        for (mode, touched) in [
            (Mode::Cold, 0),
            (Mode::Warm, 0),
            (Mode::Hot, buffers.0.len()),
            (Mode::Graph, 0),
            (Mode::HotGraph, buffers.0.len()),
        ] {
            assert_eq!(Warming::new(mode, &buffers).0.len(), touched, "{mode:?}");
        }
    }

    #[test]
    fn steps_that_launch_nothing_are_no_launches() {
        let target = Span {
            buffer: BufferId::Tensor(0),
            offset: 0,
            len: 4,
        };
        let recording = Recording {
            tensors: Vec::new(),
            work: Work::default(),
            plan: Plan {
                steps: vec![Step::Memset { target, value: 0 }; 3],
                ..Plan::default()
            },
            execution: Default::default(),
            call: None,
            reference: Reference::Author,
        };
        assert_eq!(launches(&recording), NonZeroU32::MIN);
    }

    #[test]
    fn a_twin_accesses_each_tensor_as_the_call_may_and_no_scratch() {
        let access = |role| {
            let buffer = NamedBuffer {
                name: String::new(),
                role,
                mapping: gpubench_device::DevicePtr(0x1000),
                layout: BufferLayout {
                    allocation: 4096,
                    offset: 16,
                    len: 8,
                    front: 16,
                    back: 4072,
                },
            };
            let touched = as_the_call(&buffer);
            assert!(
                touched
                    .as_ref()
                    .is_none_or(|touched| (touched.address.0, touched.bytes) == (0x1010, 8))
            );
            touched.map(|touched| touched.access)
        };
        assert!(matches!(access(Role::Input), Some(AccessKind::Reads)));
        assert!(matches!(access(Role::Constant), Some(AccessKind::Reads)));
        assert!(matches!(access(Role::Output), Some(AccessKind::Writes)));
        assert!(matches!(access(Role::InOut), Some(AccessKind::ReadsAndWrites)));
        assert!(access(Role::Scratch).is_none());
    }
}
