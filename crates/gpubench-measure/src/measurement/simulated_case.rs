//! A case whose referee and workers a test simulates. They answer every order at once.

use std::fs::File;
use std::num::{NonZeroU32, NonZeroUsize};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::thread::spawn;
use std::time::Duration;

use bytemuck::Zeroable;
use gpubench::catalog::{DType, Execution, Fill, Recording, Reference, Role, Tensor, Tolerance, Work};
use gpubench::plan::Plan;

use super::arm::{Arm, Context};
use super::case::{CaseLibrary, Entrant, ReadyCase, Standing, TurnCase};
use super::control_lease::ControlLease;
use super::pool::WorkerPool;
use super::protocol::{EvidenceUse, Protocol};
use super::rest::Rests;
use super::run_mode::RunMode;
use super::sequence::Sequencer;
use crate::clients::{
    AuthorClient, Child, Interrupt, MetricRequest, OpenedCase, Output, RefereeClient, RoleName, WorkerClient,
};
use gpubench_contract::Mode;
use gpubench_device::{ClockBound, DeviceOrder, FaultCode, KernelHost};
use gpubench_protocol::window::{Allocations, CodePlacement, Gate, MadeCalls, Seeds, WindowCalls, WindowOwner};
use gpubench_protocol::wire::{
    BufferLayout, Claim, ContentsOrder, Differences, DifferencesOrder, Generate, NOWHERE, OutputFacts, Patience,
    WindowFacts, WindowOrder, from_referee, from_worker, to_referee, to_worker,
};
use gpubench_stats::{StopRule, WarmUpRule, WorkerCountRule};

/// Elements of each output.
const ELEMENTS: u64 = 4;

/// What the arms of a test borrow.
pub(super) struct Stage {
    recording: Recording,
    calls: NonZeroU32,
    seeds: Seeds,
    interrupt: Interrupt,
    clock_bound: ClockBound,
}

impl Stage {
    /// Returns what a case with one output and `calls` calls in a window needs. No clock bounds its
    /// claims, so it has no control windows.
    pub(super) fn of(calls: u32) -> Stage {
        let y = Tensor {
            name: "y".to_owned(),
            dtype: DType::F32,
            shape: vec![ELEMENTS],
            role: Role::Output,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
            record: None,
        };
        Stage {
            recording: Recording {
                tensors: vec![y; calls as usize],
                work: Work::default(),
                plan: Plan::default(),
                execution: Execution::Sealed,
                call: None,
                // The referee then prepares windows without the author.
                reference: Reference::Plan(Plan::default()),
            },
            calls: NonZeroU32::new(calls).unwrap(),
            seeds: Seeds::new([1; 32]),
            interrupt: Interrupt::default(),
            clock_bound: ClockBound::Absent("it is simulated".into()),
        }
    }

    /// Changes the recording of the case.
    pub(super) fn with(mut self, change: impl FnOnce(&mut Recording)) -> Stage {
        change(&mut self.recording);
        self
    }

    /// Adds an input to a case with one call in a window.
    pub(super) fn with_input(self) -> Stage {
        self.with(|recording| {
            let x = Tensor {
                name: "x".to_owned(),
                role: Role::Input,
                ..recording.tensors[0].clone()
            };
            recording.tensors.push(x);
        })
    }

    pub(super) fn protocol(&self) -> Protocol<'_> {
        Protocol {
            energy: Default::default(),
            rest: Default::default(),
            schedules: &[],
            mode: RunMode::Measure,
            metric: MetricRequest::default(),
            worker_count: WorkerCountRule::exactly(NonZeroUsize::MIN),
            warm_up: WarmUpRule {
                max_windows: 1,
                ..WarmUpRule::default()
            },
            stop: StopRule::default(),
            within: Duration::from_secs(60),
            reference_within: Duration::from_secs(60),
            kernels_run_in: KernelHost::Referee,
            device: DeviceOrder::cpu(1, 0),
            observer: None,
            submissions: None,
            evidence: EvidenceUse::Judged,
            output: Output::Captured,
            clock_bound: &self.clock_bound,
            seeds: &self.seeds,
            interrupt: &self.interrupt,
        }
    }

    pub(super) fn case(&self) -> ReadyCase<'_> {
        ReadyCase {
            number: 0,
            benchmark: 0,
            request: &[],
            recording: &self.recording,
            encoded: &[],
            modules: &[],
            own_modules: &[],
            calls: WindowCalls {
                mode: Mode::Hot,
                count: self.calls,
            },
            floor_ns: None,
            annotation: None,
            library: CaseLibrary {
                files: &[],
                search: &[],
            },
        }
    }
}

/// Returns the arm at `position` with these workers, one for each round. It is judged.
pub(super) fn arm<'a>(
    protocol: &'a Protocol<'a>,
    case: &'a ReadyCase<'a>,
    position: usize,
    workers: Vec<WorkerClient>,
) -> Arm<'a> {
    arm_of(Standing::Judged, protocol, case, position, workers)
}

/// Returns an arm of a standing.
pub(super) fn arm_of<'a>(
    standing: Standing,
    protocol: &'a Protocol<'a>,
    case: &'a ReadyCase<'a>,
    position: usize,
    workers: Vec<WorkerClient>,
) -> Arm<'a> {
    let entrant = Entrant {
        name: "the case",
        standing,
        keeper: None,
    };
    let pool = WorkerPool::simulated(case, protocol, WindowOwner::arm(position), workers);
    Arm::new(
        TurnCase { case, entrant },
        protocol,
        Gate::new(case.recording.execution),
        pool,
    )
}

/// Returns a worker that claims `claim` of every window.
pub(super) fn worker(claim: impl Fn(&WindowOrder) -> Claim + Send + 'static) -> WorkerClient {
    let (child, broker) = Child::simulated(RoleName::Worker);
    spawn(move || {
        while let Ok(frame) = broker.receive(Patience::at_most(Duration::from_secs(600))) {
            if frame.kind == to_worker::REPLACE_MEMORY {
                assert_eq!(frame.descriptors.len(), 1);
                broker.send(from_worker::MEMORY_REPLACED, &[], &[]).unwrap();
                continue;
            }
            assert_eq!(frame.kind, to_worker::ARM);
            let order: WindowOrder = frame.record().unwrap();
            broker.send_record(from_worker::ARMED, &order).unwrap();
            broker.send_record(from_worker::CLAIM, &claim(&order)).unwrap();
        }
    });
    WorkerClient::simulated(child)
}

/// Returns the claim that the calls of a window took `elapsed_ns`.
pub(super) fn claim(order: &WindowOrder, elapsed_ns: f64) -> Claim {
    Claim {
        elapsed_ns,
        ..Claim::empty(order.window)
    }
}

/// Returns a claim about a window whose call faulted.
pub(super) fn fault(order: &WindowOrder) -> Claim {
    Claim {
        fault: FaultCode::LaunchFailed,
        ..Claim::empty(order.window)
    }
}

/// Returns facts about a window of 1 s whose outputs are right, if it makes `calls` calls.
pub(super) fn right_facts(order: &WindowOrder, calls: u32) -> WindowFacts {
    let made = match order.kind.made_calls() {
        MadeCalls::All => calls,
        MadeCalls::First => 1,
    };
    let mut facts = WindowFacts {
        window: order.window,
        kind: order.kind,
        output_count: made,
        s1_ns: 1_000,
        s2_ns: 1_000_001_000,
        redzone_buffer: NOWHERE,
        ..WindowFacts::zeroed()
    };
    for (tensor, output) in facts.outputs.iter_mut().take(made as usize).enumerate() {
        *output = OutputFacts {
            tensor: tensor as u64,
            elements: ELEMENTS,
            matched: ELEMENTS,
            first_wrong: NOWHERE,
            worst: NOWHERE,
            ..OutputFacts::zeroed()
        };
    }
    facts
}

/// Runs `act` with a referee that tells `facts` of every window. Returns the released windows, in
/// order.
pub(super) fn with_referee(
    protocol: &Protocol<'_>,
    case: &ReadyCase<'_>,
    facts: impl Fn(&WindowOrder) -> WindowFacts + Send + 'static,
    act: impl FnOnce(&mut Context<'_>),
) -> Vec<WindowOrder> {
    until_closed(protocol, case, facts, |mut context| act(&mut context))
}

/// The same with a referee that finds the output of each window's only call right.
pub(super) fn with_right_referee(
    protocol: &Protocol<'_>,
    case: &ReadyCase<'_>,
    act: impl FnOnce(&mut Context<'_>),
) -> Vec<WindowOrder> {
    with_referee(protocol, case, |order| right_facts(order, 1), act)
}

/// The same as `with_referee` for an `act` that closes the case.
pub(super) fn until_closed(
    protocol: &Protocol<'_>,
    case: &ReadyCase<'_>,
    facts: impl Fn(&WindowOrder) -> WindowFacts + Send + 'static,
    act: impl FnOnce(Context<'_>),
) -> Vec<WindowOrder> {
    with_memory_for(usize::MAX, protocol, case, facts, act)
}

/// Returns the opened case, with one buffer that nobody maps.
pub(super) fn opened(case: &ReadyCase<'_>) -> OpenedCase {
    OpenedCase {
        calls: case.calls,
        allocations: Allocations::new(&case.recording.tensors, case.calls.count, [0]),
        layouts: vec![BufferLayout {
            allocation: 4096,
            offset: 0,
            len: 16,
            front: 0,
            back: 0,
        }],
        buffers: vec![no_memory()],
        pages: Vec::new().into(),
        author_descriptors: Vec::new(),
    }
}

fn no_memory() -> OwnedFd {
    File::open("/dev/null").unwrap().into()
}

/// The same as `until_closed` on a device that can place the buffers anew so often.
pub(super) fn with_memory_for(
    mut places: usize,
    protocol: &Protocol<'_>,
    case: &ReadyCase<'_>,
    facts: impl Fn(&WindowOrder) -> WindowFacts + Send + 'static,
    act: impl FnOnce(Context<'_>),
) -> Vec<WindowOrder> {
    let (child, broker) = Child::simulated(RoleName::Referee);
    let (author, _author_end) = Child::simulated(RoleName::Author);
    let (mut referee, mut author) = (RefereeClient::simulated(child), AuthorClient::simulated(author));
    let released = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&released);
    spawn(move || {
        while let Ok(frame) = broker.receive(Patience::at_most(Duration::from_secs(600))) {
            match frame.kind {
                to_referee::PREPARE_WITH_ANSWERS => broker.send_record(from_referee::PREPARED, &Generate::zeroed()),
                to_referee::RELEASE => {
                    let order: WindowOrder = frame.record().unwrap();
                    noted.lock().unwrap().push(order);
                    broker.send_record(from_referee::FACTS, &facts(&order))
                }
                to_referee::DIFFERENCES => {
                    let DifferencesOrder { tensor, field } = frame.record().unwrap();
                    let found = Differences {
                        tensor,
                        field,
                        wrong: 1,
                        ..Differences::zeroed()
                    };
                    broker.send_record(from_referee::DIFFERENCES_FOUND, &found)
                }
                to_referee::CONTENTS => {
                    let order: ContentsOrder = frame.record().unwrap();
                    let contents = vec![order.tensor as u8; order.bytes as usize];
                    broker.send(from_referee::CONTENTS_READ, &[&contents], &[])
                }
                to_referee::REPLACE_MEMORY => {
                    let memory = (places > 0).then(no_memory);
                    places = places.saturating_sub(1);
                    let descriptors: Vec<_> = memory.iter().map(AsFd::as_fd).collect();
                    broker.send(from_referee::MEMORY_REPLACED, &[], &descriptors)
                }
                to_referee::CLOSE_CASE => broker.send(from_referee::CASE_CLOSED, &[], &[]),
                _ => Ok(()),
            }
            .unwrap();
        }
    });
    act(Context {
        sequencer: Sequencer {
            referee: &mut referee,
            author: &mut author,
            placement: CodePlacement::new(case.recording, KernelHost::Referee),
            protocol,
            last_work: Default::default(),
            gate: Gate::Stream,
            rests: Rests::from_protocol(protocol),
            sets: None,
            kept: None,
        },
        control: ControlLease::absent(),
        begun: 0,
        controls: 0,
    });
    released.lock().unwrap().clone()
}
