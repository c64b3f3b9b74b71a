//! What the windows of each mode queue, on the CPU device.

use std::sync::{Arc, Mutex};

use gpubench::plan::{Argument, BufferId, KernelRef, Launch, Plan, Span, Step};
use gpubench_contract::Mode;

use super::*;
use gpubench_device::ModuleImage;
use gpubench_device::cpu::CpuDriver;
use gpubench_device::cpu::executor::ScheduleSeed;
use gpubench_device::faulty::FaultyDriver;

/// Number of calls in a window, and of steps in a call.
const CALLS: usize = 3;
const STEPS: usize = 2;

/// Bytes that a step sets.
const BYTES: u64 = 8;

/// The calls of a mode, of two steps each, which set memory of their own.
struct Window {
    driver: FaultyDriver<CpuDriver>,
    stream: Stream,
    memory: DevicePtr,
    call: Call,
    seen: Arc<Mutex<Vec<String>>>,
}

/// What a window did.
#[derive(Debug, PartialEq)]
struct Done {
    /// The steps and graphs that were queued, and the events between them.
    queued: Vec<String>,
    /// The steps that ran, in any order.
    steps: Vec<usize>,
}

impl Window {
    fn of(mode: Mode, calls: usize) -> Window {
        Window::of_steps(mode, calls, calls * STEPS)
    }

    /// The steps are those of all calls.
    fn of_steps(mode: Mode, calls: usize, steps: usize) -> Window {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let cpu = CpuDriver::new(None, ScheduleSeed::Natural).unwrap();
        let mut driver = FaultyDriver::watched(cpu, move |_, call| log.lock().unwrap().push(call.name.clone()));
        let stream = driver.stream().unwrap();
        let memory = driver.alloc(BYTES * (CALLS * STEPS) as u64).unwrap();
        let steps = (0..steps).map(|step| Step::Memset {
            target: Span {
                buffer: BufferId::Tensor(0),
                offset: BYTES * step as u64,
                len: BYTES,
            },
            value: 1,
        });
        let plan = Plan {
            steps: steps.collect(),
            ..Plan::default()
        };
        let space = AddressSpace {
            tensors: &[Some(memory)],
            scratch: &[],
            modules: &[],
        };
        let work = Work::Sealed(ReadyPlan::bind(&mut driver, &plan, &space).unwrap());
        let calls = WindowCalls {
            mode,
            count: NonZeroU32::new(calls as u32).unwrap(),
        };
        let call = Call::new(&mut driver, stream, work, calls).unwrap();
        Window {
            driver,
            stream,
            memory,
            call,
            seen,
        }
    }

    fn run(&mut self, kind: WindowKind) -> Done {
        let mut bytes = vec![0; BYTES as usize * CALLS * STEPS];
        self.driver.write(self.memory, &bytes).unwrap();
        self.seen.lock().unwrap().clear();
        self.call.queue(kind, &mut self.driver, self.stream).unwrap();
        let queued = std::mem::take(&mut *self.seen.lock().unwrap());
        self.driver.synchronize(self.stream).unwrap();
        self.driver.read(self.memory, &mut bytes).unwrap();
        let steps = bytes.chunks(BYTES as usize).enumerate();
        let steps = steps.filter(|(_, bytes)| bytes.iter().all(|byte| *byte == 1));
        Done {
            queued,
            steps: steps.map(|(step, _)| step).collect(),
        }
    }
}

fn done(queued: &[&str], steps: std::ops::Range<usize>) -> Done {
    Done {
        queued: queued.iter().map(|call| (*call).to_owned()).collect(),
        steps: steps.collect(),
    }
}

#[test]
fn timed_calls_are_queued_as_the_mode_says_and_early_checks_never_as_a_graph() {
    use WindowKind::{EarlyCheck, Single, Timed};
    let (one_by_one, all) = (vec!["set"; CALLS * STEPS], 0..CALLS * STEPS);
    let (first_alone, first) = (vec!["set"; STEPS], 0..STEPS);
    let in_graph = vec!["launch_graph"];
    for (mode, timed, single) in [
        (Mode::Hot, &one_by_one, &first_alone),
        (Mode::Graph, &in_graph, &in_graph),
        (Mode::HotGraph, &in_graph, &in_graph),
    ] {
        let mut window = Window::of(mode, CALLS);
        for (kind, queued, steps) in [
            (Timed, timed, all.clone()),
            (Single, single, first.clone()),
            (EarlyCheck, &one_by_one, all.clone()),
            (Timed, timed, all.clone()),
        ] {
            assert_eq!(window.run(kind), done(queued, steps), "{mode:?} {kind:?}");
        }
    }
}

/// A driver may refuse an empty graph.
#[test]
fn calls_without_steps_are_in_no_graph() {
    for mode in [Mode::Graph, Mode::HotGraph] {
        let mut window = Window::of_steps(mode, CALLS, 0);
        for kind in [WindowKind::Timed, WindowKind::Single] {
            assert_eq!(window.run(kind), done(&[], 0..0), "{mode:?} {kind:?}");
        }
    }
}

#[test]
fn parts_are_timed_one_by_one_and_only_of_a_call_that_is_alone() {
    let of_each = ["record", "set", "record"].repeat(STEPS);
    for mode in [Mode::Cold, Mode::Warm] {
        let parts = Window::of(mode, 1).run(WindowKind::Parts);
        assert_eq!(parts, done(&of_each, 0..STEPS), "{mode:?}");
    }
    for mode in [Mode::Hot, Mode::Graph] {
        let parts = Window::of(mode, CALLS).run(WindowKind::Parts);
        assert_eq!(parts, done(&["set"; CALLS * STEPS], 0..CALLS * STEPS), "{mode:?}");
    }
}

#[test]
fn only_a_window_of_parts_claims_times_of_parts() {
    let mut window = Window::of(Mode::Cold, 1);
    window.run(WindowKind::Parts);
    for (kind, parts) in [
        (WindowKind::Timed, 0),
        (WindowKind::EarlyCheck, 0),
        (WindowKind::Parts, STEPS),
    ] {
        let claim = window
            .call
            .read_parts(kind, &mut window.driver, Claim::empty(1))
            .unwrap();
        assert_eq!(claim.parts, parts as u64, "{kind:?}");
    }
}

#[test]
fn a_window_without_a_graph_is_repeated_one_call_after_the_other() {
    let mut window = Window::of(Mode::Cold, 1);
    let few = NonZeroU32::new(2).unwrap();
    assert!(
        window
            .call
            .bundle(few, &mut window.driver, window.stream)
            .unwrap()
            .is_none()
    );
}

/// A counter that refuses every call, and notes of how many launches.
#[derive(Default)]
struct Refusing(Vec<usize>);

impl Counter for Refusing {
    fn description(&self) -> String {
        "refuses".to_owned()
    }

    fn start(&mut self, ranges: usize) -> Result<(), DeviceError> {
        self.0.push(ranges);
        Err(DeviceError::Unsupported("count".to_owned()))
    }

    fn begin(&mut self, _: &str) -> Result<(), DeviceError> {
        unreachable!("it has not started")
    }

    fn end(&mut self) -> Result<(), DeviceError> {
        unreachable!("it has not started")
    }

    fn stop(&mut self) -> Result<Option<Vec<Count>>, DeviceError> {
        unreachable!("it has not started")
    }
}

#[test]
fn a_counter_knows_how_many_launches_a_plan_has() {
    let mut driver = CpuDriver::new(None, ScheduleSeed::Natural).unwrap();
    let stream = driver.stream().unwrap();
    let module = driver.load(ModuleImage::Harness).unwrap();
    let function = driver.function(module, "gb_stamp").unwrap();
    let sizes = driver.parameter_sizes(function).unwrap();
    let launch = Launch {
        kernel: KernelRef {
            source: 0,
            name: "gb_stamp".to_owned(),
        },
        grid: [1; 3],
        block: [1; 3],
        cluster: [1; 3],
        dynamic_shared: 0,
        cooperation: Default::default(),
        dependence: Default::default(),
        arguments: sizes
            .iter()
            .map(|size| Argument::Value(vec![0; *size as usize]))
            .collect(),
        types: Vec::new(),
        place: String::new(),
    };
    for (launches, of_instructions, of_a_call) in [(0, 0, 1), (1, 1, 1), (3, 3, 3)] {
        let plan = Plan {
            steps: vec![Step::Launch(launch.clone()); launches],
            ..Plan::default()
        };
        let space = AddressSpace {
            tensors: &[],
            scratch: &[],
            modules: &[(0, module)],
        };
        let work = Work::Sealed(ReadyPlan::bind(&mut driver, &plan, &space).unwrap());
        let calls = WindowCalls::one(Mode::Cold);
        let call = Call::new(&mut driver, stream, work, calls).unwrap();
        let mut counter = Refusing::default();
        for metric in [MetricKind::Instructions, MetricKind::Hardware, MetricKind::Memory] {
            call.count(metric, &mut driver, stream, &mut counter).unwrap_err();
        }
        assert_eq!(counter.0, [of_instructions, of_a_call, of_a_call]);
    }
}
