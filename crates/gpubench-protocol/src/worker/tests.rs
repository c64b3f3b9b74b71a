//! A worker in a thread of the test, and what it does for each order of the broker.

use std::num::NonZeroU32;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use gpubench::catalog::{DType, Execution, Fill, Recording, Reference, Role, Tensor, Tolerance, Work};
use gpubench::codec;
use gpubench::plan::{BufferId, ConstantValue, Plan, Span, Step};
use gpubench_contract::{MetricKind, Mode};

use super::{WorkerError, serve};
use crate::window::{Allocations, Gate, WindowCalls, WindowKind, WindowOwner};
use crate::wire::{
    BufferLayout, Channel, Claim, Frame, Observer, Patience, Problem, SandboxReport, SandboxState, SharedPage,
    WindowOrder, WorkerSetup, decode_counts, from_worker, read_head, to_worker,
};
use gpubench_device::cpu::CpuDriver;
use gpubench_device::cpu::executor::ScheduleSeed;
use gpubench_device::{Access, CounterHold, DeviceOrder, DevicePtr, Driver, FaultCode, Memory};

const BYTES: u64 = 4096;

/// A call that copies `x` to `y`, copies `s` to its scratch and fills the first half of `s`.
pub(super) fn recording() -> Recording {
    let tensor = |name: &str, role| Tensor {
        name: name.to_owned(),
        dtype: DType::U8,
        shape: vec![BYTES],
        role,
        fill: Fill::Poison,
        tolerance: Tolerance::Exact,
        record: None,
    };
    let all = |buffer| Span {
        buffer,
        offset: 0,
        len: BYTES,
    };
    let [x, s, y] = [0, 1, 2].map(|position| all(BufferId::Tensor(position)));
    let half = Span { len: BYTES / 2, ..s };
    let scratch = all(BufferId::Scratch(0));
    Recording {
        tensors: vec![
            tensor("x", Role::Input),
            tensor("s", Role::InOut),
            tensor("y", Role::Output),
        ],
        work: Work::default(),
        plan: Plan {
            steps: vec![
                Step::Copy { source: x, target: y },
                Step::Copy {
                    source: s,
                    target: scratch,
                },
                Step::Memset { target: half, value: 7 },
            ],
            scratch: vec![BYTES],
            constants: Vec::new(),
        },
        execution: Execution::Sealed,
        call: None,
        reference: Reference::Author,
    }
}

/// A set-up of one cold call on the CPU device.
pub(super) fn setup(buffers: usize) -> WorkerSetup {
    WorkerSetup {
        buffers: buffers as u32,
        module_bytes: 0,
        annotation_bytes: 0,
        benchmark: 0,
        library_files: 0,
        request_bytes: 0,
        guarded: [0; 2],
        calls: WindowCalls::one(Mode::Cold),
        metric: MetricKind::Time,
        metric_bytes: 0,
        observer: Observer::None,
        hold: CounterHold::UntilDropped,
        sides: 1,
        reserved: 0,
        device: DeviceOrder::cpu(1, 0),
    }
}

/// The broker, with the memory and the page that the worker maps.
struct Broker {
    driver: CpuDriver,
    channel: Channel,
    worker: JoinHandle<Result<(), WorkerError>>,
    page: SharedPage,
    memories: Vec<Memory>,
    addresses: Vec<DevicePtr>,
    layouts: Vec<BufferLayout>,
}

impl Broker {
    /// Starts a worker for some sides of the recording.
    fn with_sides(sides: usize) -> Broker {
        let mut driver = CpuDriver::new(None, ScheduleSeed::Natural).expect("a C++ compiler when this was built");
        let recording = recording();
        let scratch = std::iter::repeat_n(recording.plan.scratch.len(), sides);
        let allocations = Allocations::new(&recording.tensors, NonZeroU32::MIN, scratch);
        let layout = BufferLayout::alone(driver.facts(), BYTES).expect("it is short");
        let (mut memories, mut addresses) = (Vec::new(), Vec::new());
        for _ in 0..allocations.number() {
            let memory = driver.create(layout.allocation).expect("memory");
            memories.push(memory);
            addresses.push(
                driver
                    .map(memory, Access::ReadWrite)
                    .expect("memory")
                    .offset(layout.offset),
            );
        }
        let (channel, other) = Channel::pair().expect("a connection");
        Broker {
            driver,
            channel,
            worker: std::thread::spawn(move || serve(&other)),
            page: SharedPage::create(1).expect("a page"),
            layouts: vec![layout; memories.len()],
            memories,
            addresses,
        }
    }

    fn fill(&mut self, buffer: usize, value: u8) {
        self.driver
            .write(self.addresses[buffer], &[value; BYTES as usize])
            .expect("memory");
    }

    fn contents(&mut self, buffer: usize) -> Vec<u8> {
        let mut bytes = vec![0; BYTES as usize];
        self.driver.read(self.addresses[buffer], &mut bytes).expect("memory");
        bytes
    }

    fn next(&self) -> Frame {
        let patience = Patience::at_most(Duration::from_secs(100));
        self.channel.receive(patience).expect("an answer")
    }

    fn order(&mut self, kind: u32, setup: &WorkerSetup, recording: &Recording) {
        let recording = codec::encode(recording);
        let memories: Vec<_> = self
            .memories
            .iter()
            .map(|memory| self.driver.export(*memory).expect("a descriptor"))
            .collect();
        let descriptors: Vec<_> = std::iter::once(self.page.as_fd())
            .chain(memories.iter().map(AsFd::as_fd))
            .collect();
        let parts = [
            bytemuck::bytes_of(setup),
            bytemuck::cast_slice(&self.layouts),
            &recording,
        ];
        self.channel.send(kind, &parts, &descriptors).expect("it is sent");
    }

    /// Sets the worker up, and waits until it is ready.
    fn set_up(&mut self, kind: u32, setup: &WorkerSetup, recording: &Recording) {
        self.order(kind, setup, recording);
        let sandbox = self.next();
        let report: SandboxReport = sandbox.record().expect("a report");
        assert_eq!(
            (sandbox.kind, report.state),
            (from_worker::SANDBOX, SandboxState::Closed)
        );
        let ready = self.next();
        assert_eq!(ready.kind, from_worker::READY, "{}", text_of(&ready));
        let overhead_ns: f64 = ready.record().expect("a time");
        assert!(overhead_ns >= 0.0 && overhead_ns.is_finite());
    }

    /// Makes new memory for all buffers, at the same addresses, and returns what the worker answers
    /// when it gets all but `missing` of it.
    fn replace_memory(&mut self, missing: usize) -> Frame {
        for (memory, layout) in self.memories.iter_mut().zip(&self.layouts) {
            let new = self.driver.create(layout.allocation).expect("memory");
            self.driver.remap(*memory, new).expect("memory");
            self.driver.release(*memory);
            *memory = new;
        }
        let given = &self.memories[missing..];
        let exported: Vec<_> = given
            .iter()
            .map(|memory| self.driver.export(*memory).expect("a descriptor"))
            .collect();
        let descriptors: Vec<_> = exported.iter().map(AsFd::as_fd).collect();
        self.channel
            .send(to_worker::REPLACE_MEMORY, &[], &descriptors)
            .expect("it is sent");
        self.next()
    }

    /// Runs a window, and returns its claim and its counts.
    fn window(&mut self, order: WindowOrder) -> (Claim, Vec<u8>) {
        let page = self.page.in_window(0);
        page.keys.iter().for_each(|key| key.store(0x5eed, Ordering::Relaxed));
        page.digests
            .iter()
            .for_each(|digest| digest.store(0, Ordering::Relaxed));
        self.channel.send_record(to_worker::ARM, &order).expect("it is sent");
        let armed = self.next();
        assert_eq!(armed.kind, from_worker::ARMED, "{}", text_of(&armed));
        assert_eq!(armed.record::<WindowOrder>().expect("an order"), order);
        let go = self.page.on_host().in_window(order.window).go();
        self.driver.store_value(go, order.window);
        let frame = self.next();
        assert_eq!(frame.kind, from_worker::CLAIM, "{}", text_of(&frame));
        let (claim, counts) = read_head::<Claim>(&frame.payload).expect("a claim");
        assert_eq!((claim.window, claim.fault), (order.window, FaultCode::None));
        assert_eq!(self.page.in_window(0).done.load(Ordering::Acquire), order.window);
        (claim, counts.to_vec())
    }

    fn digests(&self) -> [u64; 3] {
        [0, 1, 2].map(|output| self.page.in_window(0).digests[output].load(Ordering::Acquire))
    }

    /// Closes the connection, and returns how the worker ended.
    fn end(self) -> Result<(), WorkerError> {
        drop(self.channel);
        self.worker.join().expect("it does not panic")
    }

    /// Expects that the worker refuses, and returns the kind of its answer and its text.
    fn refusal(self) -> (u32, String) {
        let answers = std::iter::repeat_with(|| self.next());
        let mut answers = answers.filter(|answer| ![from_worker::SANDBOX, from_worker::ARMED].contains(&answer.kind));
        let refusal = answers.next().expect("an answer");
        self.worker.join().expect("it does not panic").expect("it has told why");
        (refusal.kind, text_of(&refusal))
    }
}

fn text_of(frame: &Frame) -> String {
    let problem = frame.record::<Problem>();
    problem.map_or(format!("kind {}", frame.kind), |problem| problem.text.printable())
}

fn order(window: u32, kind: WindowKind) -> WindowOrder {
    WindowOrder::about(window, kind)
}

const X: usize = 0;
const S: usize = 1;
const Y: usize = 2;
const SCRATCH: usize = 3;

#[test]
fn a_window_makes_its_call_and_digests_each_output() {
    let mut broker = Broker::with_sides(1);
    broker.set_up(to_worker::SETUP, &setup(4), &recording());
    for (window, kind, parts) in [
        (1, WindowKind::Timed, 0),
        (2, WindowKind::EarlyCheck, 0),
        (3, WindowKind::Parts, 3),
    ] {
        for (buffer, value) in [(X, 1), (S, 2), (Y, 3), (SCRATCH, 4)] {
            broker.fill(buffer, value);
        }
        let (claim, counts) = broker.window(order(window, kind));
        assert_eq!((claim.part_times().len(), counts.len()), (parts, 0), "{kind:?}");
        assert!(claim.host_ns > 0.0, "{kind:?}");
        assert_eq!(claim.elapsed_ns > 0.0, kind == WindowKind::Timed, "{kind:?}");
        assert!(broker.contents(Y).iter().all(|byte| *byte == 1), "{kind:?}");
        assert!(broker.contents(SCRATCH).iter().all(|byte| *byte == 2), "{kind:?}");
        let (first, second) = (vec![7; BYTES as usize / 2], vec![2; BYTES as usize / 2]);
        assert_eq!(broker.contents(S), [first, second].concat(), "{kind:?}");
        let [of_s, of_y, none] = broker.digests();
        assert!(of_s != 0 && of_y != 0 && of_s != of_y && none == 0, "{kind:?}");
        assert_eq!(broker.page.in_window(0).returned.load(Ordering::Relaxed), 0);
    }
    broker.end().expect("a closed connection is the end");
}

#[test]
fn a_call_that_the_host_holds_back_says_when_it_has_returned() {
    let mut broker = Broker::with_sides(1);
    broker.set_up(to_worker::SETUP, &setup(4), &recording());
    broker.fill(X, 9);
    for (window, kind) in [
        (1, WindowKind::Timed),
        (2, WindowKind::Parts),
        (3, WindowKind::EarlyCheck),
    ] {
        let gate = Gate::Host;
        let (claim, _) = broker.window(WindowOrder {
            gate,
            ..order(window, kind)
        });
        assert_eq!(broker.page.in_window(0).returned.load(Ordering::Acquire), window);
        assert!(claim.host_ns > 0.0 && claim.elapsed_ns == 0.0);
        assert_eq!(claim.work.traced, 0, "the CPU device has no tracer");
        assert!(broker.contents(Y).iter().all(|byte| *byte == 9));
    }
    broker.end().expect("a closed connection is the end");
}

#[test]
fn under_a_sanitizer_the_call_has_copies_of_its_own_and_its_outputs_are_published() {
    let mut broker = Broker::with_sides(1);
    let observed = WorkerSetup {
        observer: Observer::Sanitizer,
        ..setup(4)
    };
    broker.set_up(to_worker::SETUP, &observed, &recording());
    for window in [1, 2] {
        let value = 10 * window as u8;
        for (buffer, value) in [(X, value), (S, value + 1), (Y, 3), (SCRATCH, 4)] {
            broker.fill(buffer, value);
        }
        broker.window(order(window, WindowKind::Timed));
        assert!(broker.contents(Y).iter().all(|byte| *byte == value));
        let s = broker.contents(S);
        assert!(s[..BYTES as usize / 2].iter().all(|byte| *byte == 7));
        assert!(s[BYTES as usize / 2..].iter().all(|byte| *byte == value + 1));
        assert!(
            broker.contents(SCRATCH).iter().all(|byte| *byte == 4),
            "its scratch is a copy, too"
        );
    }
    broker.end().expect("a closed connection is the end");
}

#[test]
fn the_memory_of_a_call_is_that_of_its_tensors_and_its_scratch() {
    let mut broker = Broker::with_sides(1);
    let counted = WorkerSetup {
        metric: MetricKind::Memory,
        ..setup(4)
    };
    broker.set_up(to_worker::SETUP, &counted, &recording());
    let (claim, counts) = broker.window(order(1, WindowKind::Timed));
    assert_eq!(claim.count, 4.0 * BYTES as f64);
    let counts = decode_counts(&counts).expect("counts");
    let found: Vec<_> = counts.iter().map(|count| (count.of.as_str(), count.value)).collect();
    assert_eq!(found, [("tensors", 3.0 * BYTES as f64), ("scratch", BYTES as f64)]);
    let (claim, counts) = broker.window(order(2, WindowKind::EarlyCheck));
    assert_eq!((claim.count, counts.len()), (0.0, 0), "only timed windows are counted");
    broker.end().expect("a closed connection is the end");
}

#[test]
fn a_control_worker_digests_the_outputs_of_the_side_of_its_window_and_makes_no_call() {
    let mut broker = Broker::with_sides(2);
    let control = WorkerSetup {
        sides: 2,
        metric: MetricKind::Memory,
        ..setup(broker.memories.len())
    };
    let mut with_constant = recording();
    with_constant.plan.constants.push(ConstantValue {
        source: 0,
        symbol: "c".to_owned(),
        bytes: vec![1],
    });
    // It has neither scratch nor modules.
    let scratch = broker.memories.len() - 2;
    broker.memories.truncate(scratch);
    broker.layouts.truncate(scratch);
    let control = WorkerSetup {
        buffers: scratch as u32,
        ..control
    };
    broker.set_up(to_worker::SETUP_NULL, &control, &with_constant);
    // The second side has the outputs after those of the first.
    for (buffer, value) in [(X, 1), (S, 2), (Y, 3), (3, 4), (4, 5)] {
        broker.fill(buffer, value);
    }
    let mut digests = Vec::new();
    for (window, side) in [(1, 0), (2, 1), (3, 0)] {
        let side = WindowOwner::arm(side);
        broker.window(WindowOrder {
            side,
            ..order(window, WindowKind::Empty)
        });
        digests.push(broker.digests());
    }
    assert_eq!(digests[0], digests[2]);
    assert!(digests[0][0] != digests[1][0] && digests[0][1] != digests[1][1]);
    assert!(broker.contents(Y).iter().all(|byte| *byte == 3), "nothing was called");

    let side = WindowOwner::arm(2);
    let refused = WindowOrder {
        side,
        ..order(4, WindowKind::Empty)
    };
    broker
        .channel
        .send_record(to_worker::ARM, &refused)
        .expect("it is sent");
    let (kind, text) = broker.refusal();
    assert_eq!(kind, from_worker::PLAN_REFUSED, "{text}");
}

#[test]
fn a_worker_that_rests_or_hands_back_can_be_set_up_again_for_the_same_device() {
    let mut broker = Broker::with_sides(1);
    for (window, order_kind, answer) in [
        (1, to_worker::HAND_BACK, from_worker::HANDED_BACK),
        (2, to_worker::REST, from_worker::RESTS),
        (3, to_worker::HAND_BACK, from_worker::HANDED_BACK),
    ] {
        broker.set_up(to_worker::SETUP, &setup(4), &recording());
        broker.fill(X, window as u8);
        broker.window(order(window, WindowKind::Timed));
        broker.channel.send(order_kind, &[], &[]).expect("it is sent");
        let answered = broker.next();
        assert_eq!(answered.kind, answer, "{}", text_of(&answered));
        assert!(broker.contents(Y).iter().all(|byte| *byte == window as u8));
    }
    let other = WorkerSetup {
        device: DeviceOrder::cpu(2, 0),
        ..setup(4)
    };
    broker.order(to_worker::SETUP, &other, &recording());
    let (kind, text) = broker.refusal();
    assert_eq!(
        (kind, text.as_str()),
        (
            from_worker::FAILED,
            "invalid order from the broker: it names another device"
        )
    );
}

#[test]
fn calls_work_in_new_memory_at_the_same_addresses() {
    let mut broker = Broker::with_sides(1);
    broker.set_up(to_worker::SETUP, &setup(4), &recording());
    for window in 1..=4 {
        assert!(broker.contents(Y).iter().all(|byte| *byte == 0), "{window}");
        broker.fill(X, window as u8);
        broker.window(order(window, WindowKind::Timed));
        assert!(broker.contents(Y).iter().all(|byte| *byte == window as u8));
        let answer = broker.replace_memory(0);
        assert_eq!(answer.kind, from_worker::MEMORY_REPLACED, "{}", text_of(&answer));
    }
    broker.end().expect("a closed connection is the end");
}

#[test]
fn a_worker_that_gets_too_little_new_memory_refuses_it() {
    let mut broker = Broker::with_sides(1);
    broker.set_up(to_worker::SETUP, &setup(4), &recording());
    let answer = broker.replace_memory(1);
    assert_eq!(answer.kind, from_worker::FAILED);
    assert!(
        text_of(&answer).ends_with("it has other buffers than the set-up"),
        "{}",
        text_of(&answer)
    );
}

#[test]
fn host_code_gets_no_worker_that_had_another_case() {
    let mut broker = Broker::with_sides(1);
    broker.set_up(to_worker::SETUP, &setup(4), &recording());
    broker.channel.send(to_worker::REST, &[], &[]).expect("it is sent");
    assert_eq!(broker.next().kind, from_worker::RESTS);
    let hosted = Recording {
        execution: Execution::Hosted,
        ..recording()
    };
    broker.order(to_worker::SETUP, &setup(4), &hosted);
    let (kind, text) = broker.refusal();
    assert_eq!(
        (kind, text.as_str()),
        (
            from_worker::FAILED,
            "invalid order from the broker: host code needs a fresh worker"
        )
    );
}

#[test]
fn orders_that_cannot_be_carried_out_are_refused_with_their_reason() {
    let too_few = Recording {
        tensors: recording().tensors[..2].to_vec(),
        ..recording()
    };
    let mut unknown_module = recording();
    unknown_module.plan.constants.push(ConstantValue {
        source: 0,
        symbol: "c".to_owned(),
        bytes: vec![1],
    });
    for (order, recording, kind, told) in [
        (
            to_worker::SETUP,
            too_few,
            from_worker::FAILED,
            "it has other buffers than its recording",
        ),
        (
            to_worker::SETUP,
            unknown_module,
            from_worker::PLAN_REFUSED,
            "a module is missing",
        ),
        (99, recording(), from_worker::FAILED, "it is not expected now"),
    ] {
        let mut broker = Broker::with_sides(1);
        broker.order(order, &setup(4), &recording);
        let (found, text) = broker.refusal();
        assert!(found == kind && text.ends_with(told), "{found}: {text}");
    }
    for order in [to_worker::HAND_BACK, to_worker::REST, to_worker::REPLACE_MEMORY] {
        let broker = Broker::with_sides(1);
        broker.channel.send(order, &[], &[]).expect("it is sent");
        let ended = broker.worker.join().expect("it does not panic");
        assert!(
            matches!(ended, Err(WorkerError::Order("it came before a set-up"))),
            "{ended:?}"
        );
    }
}
