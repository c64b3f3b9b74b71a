//! Windows of a referee whose worker is a thread of the test.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gpubench::catalog::{DType, Fill, Recording, Reference, Role, Tensor, Tolerance, Work};
use gpubench::plan::Plan;
use gpubench_contract::Mode;

use super::RefereeError;
use super::buffers::Buffer;
use super::case::{OpenCase, Referee};
use crate::replay::FlushBuffer;
use crate::window::{Gate, KeyPurpose, Seeds, WindowCalls, WindowId, WindowKind, WindowOwner};
use crate::wire::{
    BufferLayout, CaseWorkers, Channel, NOWHERE, OtherAnswer, PageAddresses, Replay, SharedPage, SourceModule,
    WindowEnd, WindowFacts, WindowOrder,
};
use gpubench_device::cpu::CpuDriver;
use gpubench_device::cpu::executor::ScheduleSeed;
use gpubench_device::faulty::FaultyDriver;
use gpubench_device::harness::{Coverage, Harness};
use gpubench_device::memfd::MemfdTable;
use gpubench_device::{Access, DeviceError, DevicePtr, Driver, Memory, Stream};

mod call_time;
mod calls;
mod contents;
mod findings;
mod mismatches;
mod new_memory;
mod own_kernels;

const ELEMENTS: usize = 1000;

/// The number before a case's first window.
const BEGINNING: WindowId = WindowId { case: 0, window: 0 };

/// A worker without baseline and control worker.
const ALONE: CaseWorkers = CaseWorkers {
    arms: 1,
    has_control: false,
    reserved: 0,
};

/// A worker and a control worker.
const WITH_CONTROL: CaseWorkers = CaseWorkers {
    has_control: true,
    ..ALONE
};

pub(super) fn cpu() -> CpuDriver {
    CpuDriver::new(NonZeroUsize::new(2), ScheduleSeed::default()).expect("a C++ compiler when this was built")
}

pub(super) fn referee(mut driver: Box<dyn Driver>) -> Result<Referee, RefereeError> {
    let harness = Harness::load(&mut *driver)?;
    let stream = driver.stream()?;
    let flush = FlushBuffer::new(&mut *driver, &harness, stream, 1 << 16, gpubench_contract::Flush::Read)?;
    Ok(Referee {
        kernels_run_in: driver.facts().kernels_run_in,
        modules: BTreeMap::new(),
        driver,
        harness,
        stream,
        seeds: Seeds::new([5; 32]),
        flush,
        differences_of_window: Vec::new(),
    })
}

/// Opens a case whose sides have the same scratch.
fn open_case(
    referee: &mut Referee,
    opening: WindowId,
    calls: WindowCalls,
    workers: CaseWorkers,
    recording: Recording,
    modules: &[SourceModule],
) -> Result<OpenCase, RefereeError> {
    let scratch = vec![recording.plan.scratch.clone(); usize::from(workers.arms)];
    OpenCase::open(referee, opening, calls, workers, recording, &scratch, modules)
}

/// Returns descriptors of the pages, then of what workers map.
fn worker_descriptors(case: &OpenCase, referee: &mut Referee) -> Result<Vec<OwnedFd>, RefereeError> {
    let mut descriptors = case.page_descriptors()?;
    descriptors.extend(case.shared_descriptors(&mut *referee.driver)?);
    Ok(descriptors)
}

impl OpenCase {
    /// Returns the buffers of the first side.
    fn buffers(&self) -> &[Buffer] {
        self.buffers_of(WindowOwner::default()).unwrap()
    }
}

/// Opens a case with windows of one cold call and a single worker.
fn opened(referee: &mut Referee, recording: Recording) -> OpenCase {
    let calls = WindowCalls::one(Mode::Cold);
    open_case(referee, BEGINNING, calls, ALONE, recording, &[]).unwrap()
}

/// A case that copies one input to one output.
fn recording() -> Recording {
    let tensor = |name: &str, role, fill| Tensor {
        name: name.to_owned(),
        dtype: DType::F32,
        shape: vec![ELEMENTS as u64],
        role,
        fill,
        tolerance: Tolerance::Exact,
        record: None,
    };
    Recording {
        tensors: vec![
            tensor("x", Role::Input, Fill::Uniform { low: 0.0, high: 1.0 }),
            tensor("y", Role::Output, Fill::Poison),
        ],
        work: Work::default(),
        plan: Plan::default(),
        execution: Default::default(),
        call: None,
        reference: Reference::Author,
    }
}

/// Another process's view of the buffers, in this process.
struct Peer {
    driver: CpuDriver,
    harness: Harness,
    stream: Stream,
    page: SharedPage,
    on_device: PageAddresses,
    memories: Vec<Memory>,
    x: DevicePtr,
    y: DevicePtr,
}

impl Peer {
    fn new(layouts: &[BufferLayout], descriptors: Vec<OwnedFd>) -> Peer {
        let mut driver = cpu();
        let harness = Harness::load(&mut driver).unwrap();
        let mut descriptors = descriptors.into_iter();
        let page = SharedPage::open(descriptors.next().unwrap()).unwrap();
        let on_device = driver.register(page.on_host().base(), page.bytes()).unwrap();
        let mut memories = Vec::new();
        let addresses: Vec<DevicePtr> = layouts
            .iter()
            .zip(descriptors)
            .zip([Access::Read, Access::ReadWrite])
            .map(|((layout, descriptor), access)| {
                let memory = driver.import(descriptor, layout.allocation).unwrap();
                memories.push(memory);
                driver.map(memory, access).unwrap().offset(layout.offset)
            })
            .collect();
        let stream = driver.stream().unwrap();
        Peer {
            driver,
            harness,
            stream,
            on_device: page.mapped_at(on_device.0),
            page,
            memories,
            x: addresses[0],
            y: addresses[1],
        }
    }

    /// Queues a window as a worker does, with `work` as its call.
    fn arm(&mut self, window: u32, work: impl FnOnce(&mut CpuDriver, Stream, DevicePtr, DevicePtr)) {
        let (driver, stream, bytes) = (&mut self.driver, self.stream, 4 * ELEMENTS as u64);
        let on_device = self.on_device.in_window(window);
        driver.wait_value(stream, DevicePtr(on_device.go()), window).unwrap();
        work(driver, stream, self.x, self.y);
        let (keys, digest) = (on_device.keys(), on_device.digest(0));
        self.harness
            .digest(driver, stream, self.y, bytes, keys, Coverage::Sample, digest)
            .unwrap();
        driver.write_value(stream, DevicePtr(on_device.done()), window).unwrap();
    }
}

/// Acts as the author: copies the input to the answer.
struct Author {
    memory: MemfdTable,
    x: DevicePtr,
    y: DevicePtr,
}

impl Author {
    fn new(layouts: &[BufferLayout], descriptors: Vec<OwnedFd>) -> Author {
        let mut memory = MemfdTable::default();
        let mut map = |layout: &BufferLayout, descriptor, access| {
            let allocation = memory.import(descriptor, layout.allocation).unwrap();
            memory.map(allocation, access).unwrap().offset(layout.offset)
        };
        let [x, y] = <[OwnedFd; 2]>::try_from(descriptors).unwrap();
        let (x, y) = (
            map(&layouts[0], x, Access::Read),
            map(&layouts[1], y, Access::ReadWrite),
        );
        Author { memory, x, y }
    }

    fn answer(&mut self) {
        debug_assert!(format!("{:?}", self.memory).contains("shared"));
        let mut driver = cpu();
        let mut contents = vec![0; 4 * ELEMENTS];
        driver.read(self.x, &mut contents).unwrap();
        driver.write(self.y, &contents).unwrap();
    }
}

struct Stage {
    referee: Referee,
    case: OpenCase,
    peer: Peer,
    control: Peer,
    author: Author,
    broker: (Channel, Channel),
}

impl Stage {
    fn set() -> Stage {
        Stage::from_recording(recording())
    }

    fn from_recording(recording: Recording) -> Stage {
        Stage::beginning_behind(0, recording)
    }

    /// Returns a referee with an open case whose window numbers begin after `opening`.
    fn beginning_behind(opening: u32, recording: Recording) -> Stage {
        let mut referee = referee(Box::new(cpu())).unwrap();
        let opening = WindowId {
            window: opening,
            ..BEGINNING
        };
        let case = open_case(
            &mut referee,
            opening,
            WindowCalls::one(Mode::Cold),
            WITH_CONTROL,
            recording,
            &[],
        )
        .unwrap();
        let layouts = case.layouts();
        let mut descriptors = worker_descriptors(&case, &mut referee).unwrap();
        let control_page = descriptors.remove(1);
        let peer = Peer::new(&layouts, descriptors);
        let mut control_descriptors = worker_descriptors(&case, &mut referee).unwrap();
        control_descriptors[0] = control_page;
        control_descriptors.remove(1);
        let control = Peer::new(&layouts, control_descriptors);
        let author = Author::new(&layouts, case.author_descriptors(&mut *referee.driver).unwrap());
        let mut stage = Stage {
            referee,
            case,
            peer,
            control,
            author,
            broker: Channel::pair().unwrap(),
        };
        stage.referee.generate(&stage.case, 0).unwrap();
        stage
    }

    fn window(&mut self, window: u32, work: impl FnOnce(&mut CpuDriver, Stream, DevicePtr, DevicePtr)) -> WindowFacts {
        self.referee.generate(&self.case, window).unwrap();
        self.author.answer();
        self.peer.arm(window, work);
        self.referee
            .release(&self.case, &order(window), &self.broker.0)
            .unwrap()
    }

    fn honest(&mut self, window: u32) -> WindowFacts {
        self.window(window, |driver, stream, x, y| {
            driver.copy(stream, y, x, 4 * ELEMENTS as u64).unwrap()
        })
    }
}

impl Stage {
    fn control_window(&mut self, before: usize) -> WindowFacts {
        let window = WindowKind::control_window(before);
        self.control.arm(window, |_, _, _, _| ());
        let order = WindowOrder {
            kind: WindowKind::Control,
            owner: WindowOwner::CONTROL,
            ..order(window)
        };
        self.referee.release(&self.case, &order, &self.broker.0).unwrap()
    }
}

fn order(window: u32) -> WindowOrder {
    WindowOrder {
        window,
        kind: WindowKind::Timed,
        patience_ns: 20_000_000_000,
        owner: WindowOwner::default(),
        side: WindowOwner::default(),
        repeats: NonZeroU32::MIN,
        gate: Gate::Stream,
    }
}

#[test]
fn an_honest_window_matches_with_its_digest_and_intact_redzones() {
    let mut stage = Stage::set();
    let mut digests = std::collections::HashSet::new();
    for window in 1..=3 {
        let facts = stage.honest(window);
        assert!(digests.insert(facts.input_digest), "windows share inputs");
        let [output] = facts.outputs() else {
            panic!("one output")
        };
        assert_eq!(facts.end, WindowEnd::Checked);
        assert_eq!((output.elements, output.matched), (ELEMENTS as u64, ELEMENTS as u64));
        assert_eq!(output.digest_claimed, output.digest_expected);
        assert_ne!(output.digest_claimed, 0);
        assert_eq!((output.late_bytes, facts.redzone_buffer), (0, NOWHERE));
        assert!(facts.s1_ns < facts.s2_ns);
    }
}

#[test]
fn a_control_window_has_its_own_page_and_does_not_affect_calls() {
    let mut stage = Stage::set();
    stage.honest(1);
    for before in 0..2 {
        let facts = stage.control_window(before);
        let [output] = facts.outputs() else {
            panic!("one output")
        };
        assert_eq!(facts.end, WindowEnd::Checked);
        assert_eq!(output.digest_claimed, output.digest_expected);
        assert_ne!(output.digest_claimed, 0);
        assert!(facts.s0_ns < facts.s1_ns && facts.s1_ns < facts.s2_ns && facts.s2_ns <= facts.s3_ns);
    }
    assert_eq!(
        stage.peer.page.in_window(1).go.load(Ordering::Acquire),
        1,
        "the worker under test sees none of it"
    );
    let answer = stage.honest(2);
    assert_eq!(answer.outputs()[0].matched, ELEMENTS as u64);
    let stale = stage.window(3, |_, _, _, _| ());
    assert_eq!(
        stale.outputs()[0].unwritten,
        ELEMENTS as u64,
        "what a control window left is poisoned over"
    );
}

#[test]
fn a_control_window_without_a_control_worker_is_rejected() {
    let mut referee = referee(Box::new(cpu())).unwrap();
    let case = opened(&mut referee, recording());
    let order = WindowOrder {
        kind: WindowKind::Control,
        owner: WindowOwner::CONTROL,
        ..order(WindowKind::control_window(0))
    };
    let (broker, _theirs) = Channel::pair().unwrap();
    assert!(matches!(
        referee.release(&case, &order, &broker),
        Err(RefereeError::Order(_))
    ));
}

#[test]
fn an_unwritten_output_holds_this_windows_poison() {
    let mut stage = Stage::set();
    stage.honest(1);
    let facts = stage.window(2, |_, _, _, _| ());
    let [output] = facts.outputs() else {
        panic!("one output")
    };
    assert_eq!((output.matched, output.unwritten), (0, ELEMENTS as u64));
    assert_eq!(output.first_wrong, 0);
    let [found] = &stage.referee.differences_of_window[..] else {
        panic!("one wrong output")
    };
    assert_eq!((found.tensor, found.wrong), (output.tensor, ELEMENTS as u64));
    stage.honest(3);
    assert!(stage.referee.differences_of_window.is_empty());
}

#[test]
fn the_answers_to_the_first_and_to_the_previous_call_are_recognised() {
    recognises_answers_to_earlier_calls(0);
}

#[test]
fn the_answers_to_the_first_and_to_the_previous_call_of_a_second_measurement_are_recognised() {
    recognises_answers_to_earlier_calls(409);
}

fn recognises_answers_to_earlier_calls(opening: u32) {
    let mut stage = Stage::beginning_behind(opening, recording());
    let mut kept = Vec::new();
    for call in 1..=2 {
        stage.honest(opening + call);
        let mut answer = vec![0; 4 * ELEMENTS];
        stage.peer.driver.read(stage.peer.y, &mut answer).unwrap();
        kept.push(answer);
    }
    for (call, answer, replay) in [(3, &kept[1], Replay::Previous), (4, &kept[0], Replay::First)] {
        let private = stage.peer.driver.alloc(4 * ELEMENTS as u64).unwrap();
        stage.peer.driver.write(private, answer).unwrap();
        let facts = stage.window(opening + call, |driver, stream, _, y| {
            driver.copy(stream, y, private, 4 * ELEMENTS as u64).unwrap();
        });
        assert_eq!(facts.outputs()[0].replay(), replay);
    }
}

#[test]
fn a_tolerance_that_accepts_the_previous_answer_is_found() {
    let old_answers = |opening, tolerance| {
        let mut recording = recording();
        recording.tensors[1].tolerance = tolerance;
        let mut stage = Stage::beginning_behind(opening, recording);
        [1, 2, 3].map(|call| stage.honest(opening + call).outputs()[0].old_answer())
    };
    let [none, fails, passes] = [OtherAnswer::NotAsked, OtherAnswer::Fails, OtherAnswer::Passes];
    for opening in [0, 409] {
        assert_eq!(old_answers(opening, Tolerance::Exact), [none, fails, fails]);
        assert_eq!(
            old_answers(opening, Tolerance::Close { rtol: 0.0, atol: 1.0 }),
            [none, passes, passes]
        );
    }
}

#[test]
fn a_tolerance_that_accepts_zeros_is_found() {
    let zeros = |tolerance| {
        let mut recording = recording();
        recording.tensors[1].tolerance = tolerance;
        let mut stage = Stage::beginning_behind(0, recording);
        [1, 2, 3].map(|call| stage.honest(call).outputs()[0].zeros())
    };
    let [none, fails, passes] = [OtherAnswer::NotAsked, OtherAnswer::Fails, OtherAnswer::Passes];
    assert_eq!(zeros(Tolerance::Exact), [none, fails, fails]);
    assert_eq!(zeros(Tolerance::Close { rtol: 0.0, atol: 1e3 }), [none, passes, passes]);
}

#[test]
fn a_second_measurement_shares_no_input_or_decoy_with_the_first() {
    let mut seen = std::collections::HashSet::new();
    for opening in [0, 4] {
        let mut stage = Stage::beginning_behind(opening, recording());
        let before_the_first = stage.case.buffers()[0].pristine.as_ref().unwrap().current;
        let mut inputs = vec![0; 4 * ELEMENTS];
        stage.referee.driver.synchronize(stage.referee.stream).unwrap();
        stage.referee.driver.read(before_the_first, &mut inputs).unwrap();
        assert!(seen.insert(inputs), "decoys of the windows after {opening}");
        for window in opening + 1..=opening + 3 {
            stage.honest(window);
            let mut inputs = vec![0; 4 * ELEMENTS];
            stage.peer.driver.read(stage.peer.x, &mut inputs).unwrap();
            assert!(seen.insert(inputs), "window {window}");
        }
    }
}

#[test]
fn a_write_after_the_snapshot_is_late() {
    let mut stage = Stage::set();
    stage.honest(1);
    stage.peer.driver.write(stage.peer.y.offset(8), &[1, 2, 3, 4]).unwrap();
    let Referee {
        driver,
        harness,
        stream,
        ..
    } = &mut stage.referee;
    let mut batch = harness.begin(&mut **driver, *stream, 1).unwrap();
    let [check] = <[_; 1]>::try_from(
        stage
            .referee
            .queue_late_write_checks(stage.case.buffers(), &mut batch)
            .unwrap(),
    )
    .unwrap();
    let Referee { driver, harness, .. } = &mut stage.referee;
    let found = harness.collect(&mut **driver, batch).unwrap();
    assert!((1..=4).contains(&found.get(check).unwrap().wrong()));
}

#[test]
fn a_redzone_write_is_found_with_its_place() {
    let mut stage = Stage::set();
    for (window, offset) in [(1, -8_i64), (2, 4 * ELEMENTS as i64)] {
        let facts = stage.window(window, |driver, stream, x, y| {
            driver.copy(stream, y, x, 4 * ELEMENTS as u64).unwrap();
            // Eight bytes: noise equals all of them once in 2^64 windows.
            driver
                .set(stream, DevicePtr(y.0.wrapping_add_signed(offset)), 7, 8)
                .unwrap();
        });
        assert_eq!(
            (facts.redzone_buffer, facts.redzone_offset.clamp(offset, offset + 7)),
            (1, facts.redzone_offset)
        );
        assert!((1..=8).contains(&facts.redzone_bytes));
    }
}

#[test]
fn inputs_hold_decoys_until_the_true_lines_are_put_back() {
    let mut stage = Stage::set();
    stage.referee.generate(&stage.case, 1).unwrap();
    let place = WindowId { case: 0, window: 1 };
    let contents = |stage: &mut Stage| {
        stage.referee.driver.synchronize(stage.referee.stream).unwrap();
        let mut contents = vec![0; 4 * ELEMENTS];
        stage.peer.driver.read(stage.peer.x, &mut contents).unwrap();
        contents
    };
    stage.referee.restore(stage.case.buffers(), usize::MAX, place).unwrap();
    let with_decoys = contents(&mut stage);
    let mut batch = stage
        .referee
        .harness
        .begin(&mut *stage.referee.driver, stage.referee.stream, 1)
        .unwrap();
    let _ = stage.referee.reveal(stage.case.buffers(), place, &mut batch).unwrap();
    let revealed = contents(&mut stage);
    let lines = with_decoys.chunks(128).zip(revealed.chunks(128));
    assert_eq!(lines.filter(|(decoy, line)| decoy != line).count(), 8);
    let master = stage.case.buffers()[0].pristine.as_ref().unwrap().current;
    let mut true_contents = vec![0; 4 * ELEMENTS];
    stage.referee.driver.read(master, &mut true_contents).unwrap();
    assert_eq!(revealed, true_contents);
}

#[test]
fn a_window_without_done_differs_from_an_aborted_one() {
    let mut stage = Stage::set();
    stage.referee.generate(&stage.case, 1).unwrap();
    let hasty = WindowOrder {
        patience_ns: 1,
        ..order(1)
    };
    let facts = stage.referee.release(&stage.case, &hasty, &stage.broker.0).unwrap();
    assert_eq!(facts.end, WindowEnd::NotDone);
    stage.broker.1.send(crate::wire::to_referee::ABORT, &[], &[]).unwrap();
    let facts = stage.referee.release(&stage.case, &order(2), &stage.broker.0).unwrap();
    assert_eq!(facts.end, WindowEnd::Aborted);
}

#[test]
fn a_window_aborted_during_its_checks_counts() {
    let driver = FaultyDriver::watched(cpu(), |driver, call| {
        if call.name == "gb_check" {
            let pause = || {
                std::thread::sleep(Duration::from_millis(50));
                Ok(())
            };
            driver.host_call(call.stream.unwrap(), Box::new(pause)).unwrap();
        }
    });
    let mut referee = referee(Box::new(driver)).unwrap();
    let case = opened(&mut referee, recording());
    referee.generate(&case, 1).unwrap();
    case.page_of(WindowOwner::default())
        .unwrap()
        .words
        .in_window(1)
        .done
        .store(1, Ordering::Release);
    let (ours, theirs) = Channel::pair().unwrap();
    theirs.send(crate::wire::to_referee::ABORT, &[], &[]).unwrap();
    assert_eq!(
        referee.release(&case, &order(1), &ours).unwrap().end,
        WindowEnd::Checked
    );
    assert!(!ours.is_readable().unwrap(), "the abort was not received");
}

/// A worker can write to its page at the same addresses as the referee.
#[test]
fn a_worker_that_keeps_overwriting_done_cannot_block_the_referee() {
    let mut stage = Stage::set();
    stage.referee.generate(&stage.case, 1).unwrap();
    let hasty = WindowOrder {
        patience_ns: 1,
        ..order(1)
    };
    let Stage {
        referee,
        case,
        peer,
        broker,
        ..
    } = &mut stage;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                peer.page.in_window(1).done.store(0, Ordering::Release);
            }
        });
        let facts = referee.release(case, &hasty, &broker.0);
        over.store(true, Ordering::Relaxed);
        assert_eq!(facts.unwrap().end, WindowEnd::NotDone);
    });
}

#[test]
fn done_of_another_window_does_not_end_this_one() {
    let mut stage = Stage::set();
    stage.referee.generate(&stage.case, 1).unwrap();
    stage.peer.page.in_window(1).done.store(9, Ordering::Release);
    let facts = stage.referee.release(&stage.case, &order(1), &stage.broker.0).unwrap();
    assert_eq!(facts.end, WindowEnd::NotDone);
}

#[test]
fn the_flush_has_its_own_memory() {
    let mut stage = Stage::set();
    let FlushBuffer { buffer, bytes, .. } = stage.referee.flush;
    let mut contents = vec![0; bytes as usize];
    stage.referee.driver.read(buffer, &mut contents).unwrap();
    let pages: std::collections::HashSet<&[u8]> = contents.chunks(4096).collect();
    assert_eq!(
        pages.len(),
        contents.len() / 4096,
        "equal pages may be one physical page"
    );
}

#[test]
fn only_a_cold_call_has_a_flush() {
    for (mode, flushed) in [(Mode::Cold, true), (Mode::Warm, false)] {
        let mut referee = referee(Box::new(cpu())).unwrap();
        referee.flush.kind = gpubench_contract::Flush::Write;
        let case = open_case(&mut referee, BEGINNING, WindowCalls::one(mode), ALONE, recording(), &[]).unwrap();
        let flush_buffer = |referee: &mut Referee| {
            let mut contents = vec![0; referee.flush.bytes as usize];
            referee.driver.read(referee.flush.buffer, &mut contents).unwrap();
            contents
        };
        let before = flush_buffer(&mut referee);
        referee.generate(&case, 1).unwrap();
        end_at_once(&mut referee, &case, &order(1)).unwrap();
        assert_eq!(flush_buffer(&mut referee) != before, flushed, "{mode}");
    }
}

/// Runs a window of each worker up to its facts. Both workers are idle.
fn two_windows(driver: Box<dyn Driver>) -> Result<[WindowFacts; 2], RefereeError> {
    let mut referee = referee(driver)?;
    let case = open_case(
        &mut referee,
        BEGINNING,
        WindowCalls::one(Mode::Cold),
        WITH_CONTROL,
        recording(),
        &[],
    )?;
    worker_descriptors(&case, &mut referee)?;
    case.author_descriptors(&mut *referee.driver)?;
    referee.generate(&case, 0)?;
    referee.generate(&case, 1)?;
    let facts = end_at_once(&mut referee, &case, &order(1))?;
    let control_order = WindowOrder {
        kind: WindowKind::Control,
        owner: WindowOwner::CONTROL,
        ..order(WindowKind::control_window(0))
    };
    let control_facts = end_at_once(&mut referee, &case, &control_order)?;
    case.close(&mut *referee.driver);
    Ok([facts, control_facts])
}

/// Runs a window whose worker writes *done* as soon as it sees *go*.
fn end_at_once(referee: &mut Referee, case: &OpenCase, order: &WindowOrder) -> Result<WindowFacts, RefereeError> {
    let page = case.page_of(order.owner)?.words.in_window(order.window);
    let (ours, _theirs) = Channel::pair()?;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while page.go.load(Ordering::Acquire) == 0 && !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_micros(100));
            }
            page.done.store(order.window, Ordering::Release);
        });
        let facts = referee.release(case, order, &ours);
        over.store(true, Ordering::Relaxed);
        facts
    })
}

#[test]
fn any_failing_driver_call_ends_the_window_in_an_error() {
    let mut failures = 0;
    for successes in 0.. {
        let driver = FaultyDriver::failing_after(cpu(), successes);
        match two_windows(Box::new(driver)) {
            Err(RefereeError::Device(DeviceError::Unsupported(what))) => {
                assert!(what.contains("a test made it fail"), "{what}");
                failures += 1;
            }
            Err(other) => panic!("call {successes}: {other}"),
            Ok([facts, control_facts]) => {
                // No driver call failed any more.
                assert_eq!(facts.outputs()[0].unwritten, ELEMENTS as u64);
                assert_ne!(control_facts.outputs()[0].digest_expected, 0);
                break;
            }
        }
    }
    assert!(failures > 50, "only {failures} calls failed");
}
