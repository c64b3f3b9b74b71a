//! Findings for a worker that writes late, or repeats another call's answer.

use super::calls::every_role;
use super::*;
use crate::referee::check::digest_keys;
use crate::referee::page::WorkerPage;
use crate::referee::parts::parts;
use crate::referee::wrong_output::EarlierAnswers;
use gpubench_device::harness::PoisonPlace;

fn worker_page(case: &OpenCase) -> &WorkerPage {
    case.page_of(WindowOwner::default()).unwrap()
}

/// Returns the facts of a case's first window. Before the first launch of `kernel`, `work` is
/// queued in the referee's stream, with the addresses of the page and the output.
fn with_something_before(
    kernel: &'static str,
    kind: WindowKind,
    something: impl FnOnce(&mut CpuDriver, Stream, PageAddresses, DevicePtr) + Send + 'static,
) -> WindowFacts {
    let (to_driver, of_case) = std::sync::mpsc::channel::<(PageAddresses, DevicePtr)>();
    let mut something = Some(something);
    let driver = FaultyDriver::watched(cpu(), move |driver, call| {
        if call.name == kernel
            && let (Some(something), Some(stream)) = (something.take(), call.stream)
        {
            let (page, output) = of_case.try_recv().unwrap();
            something(driver, stream, page, output);
        }
    });
    let mut referee = referee(Box::new(driver)).unwrap();
    let case = opened(&mut referee, recording());
    let (page, output) = (worker_page(&case).on_device, case.buffers()[1].address());
    to_driver.send((page, output)).unwrap();
    referee.generate(&case, 1).unwrap();
    let order = WindowOrder { kind, ..order(1) };
    end_at_once(&mut referee, &case, &order).unwrap()
}

const KINDS: [WindowKind; 2] = [WindowKind::Timed, WindowKind::EarlyCheck];

#[test]
fn a_digest_written_after_done_does_not_count() {
    for kind in KINDS {
        // The first check is the digest.
        let facts = with_something_before("gb_digest", kind, |driver, stream, page, _| {
            driver.set(stream, DevicePtr(page.digest(0)), 7, 8).unwrap();
        });
        assert_eq!(facts.end, WindowEnd::Checked);
        assert_eq!(facts.outputs()[0].digest_claimed, 0, "{kind:?}");
        assert_ne!(facts.outputs()[0].digest_expected, 0, "{kind:?}");
    }
}

#[test]
fn a_write_after_the_snapshot_is_late_in_every_kind_of_window() {
    for kind in KINDS {
        let facts = with_something_before("gb_check", kind, |driver, stream, _, output| {
            driver.set(stream, output, 7, 8).unwrap();
        });
        let late = facts.outputs()[0].late_bytes;
        assert!((1..=8).contains(&late), "{late} bytes in a window of kind {kind:?}");
    }
}

#[test]
fn a_window_of_every_role_has_room_for_all_its_reports() {
    for kind in KINDS {
        let mut referee = referee(Box::new(cpu())).unwrap();
        let case = opened(&mut referee, every_role());
        referee.generate(&case, 1).unwrap();
        let order = WindowOrder { kind, ..order(1) };
        let facts = end_at_once(&mut referee, &case, &order).unwrap();
        assert_eq!(facts.end, WindowEnd::Checked);
    }
}

#[test]
fn digests_of_another_window_are_cleared_before_go() {
    let mut referee = referee(Box::new(cpu())).unwrap();
    let case = opened(&mut referee, recording());
    let page = worker_page(&case).words.in_window(1);
    page.digests
        .iter()
        .for_each(|digest| digest.store(7, Ordering::Release));
    referee.generate(&case, 1).unwrap();
    let facts = end_at_once(&mut referee, &case, &order(1)).unwrap();
    assert_eq!(facts.outputs()[0].digest_claimed, 0);
}

#[test]
fn digest_keys_arrive_with_go_and_differ_in_every_window() {
    let mut stage = Stage::set();
    let mut keys = std::collections::HashSet::new();
    for window in 1..=3 {
        stage.honest(window);
        let place = WindowId { case: 0, window };
        let seeds = &stage.referee.seeds;
        let expected =
            [KeyPurpose::OutputDigest, KeyPurpose::OutputDigestOrder].map(|purpose| seeds.key(purpose, place));
        assert_eq!(digest_keys(seeds, place), expected);
        assert_eq!(
            stage
                .peer
                .page
                .in_window(window)
                .keys
                .each_ref()
                .map(|key| key.load(Ordering::Acquire)),
            expected
        );
        expected.into_iter().for_each(|key| assert!(keys.insert(key)));
    }
}

#[test]
fn input_digests_have_one_key_per_case() {
    // Windows with equal inputs have equal digests.
    let digest = |window: u32, same_inputs: bool| {
        let mut stage = Stage::set();
        stage.referee.generate(&stage.case, window).unwrap();
        if same_inputs {
            let master = stage.case.buffers()[0].pristine.as_ref().unwrap().current;
            stage.referee.driver.synchronize(stage.referee.stream).unwrap();
            stage.referee.driver.write(master, &[0; 4 * ELEMENTS]).unwrap();
        }
        stage.author.answer();
        stage.peer.arm(window, |_, _, _, _| ());
        let facts = stage.referee.release(&stage.case, &order(window), &stage.broker.0);
        facts.unwrap().input_digest
    };
    assert_eq!(digest(1, true), digest(2, true));
    assert_ne!(digest(1, false), digest(2, false));
}

#[test]
fn the_second_call_is_distinguished_from_a_repeated_first_answer() {
    let mut stage = Stage::set();
    stage.honest(1);
    let mut answer = vec![0; 4 * ELEMENTS];
    stage.peer.driver.read(stage.peer.y, &mut answer).unwrap();
    let kept = stage.peer.driver.alloc(4 * ELEMENTS as u64).unwrap();
    stage.peer.driver.write(kept, &answer).unwrap();
    let facts = stage.window(2, |driver, stream, _, y| {
        driver.copy(stream, y, kept, 4 * ELEMENTS as u64).unwrap();
    });
    assert_eq!(facts.outputs()[0].replay(), Replay::FirstAndPrevious);
}

#[test]
fn in_out_elements_whose_input_is_right_do_not_count_as_unwritten() {
    let mut referee = referee(Box::new(cpu())).unwrap();
    let case = opened(&mut referee, every_role());
    let buffer = &case.buffers()[3];
    let (pristine, answers) = (buffer.pristine.as_ref().unwrap(), buffer.answers.as_ref().unwrap());
    let halves = |first: f32, second: f32| -> Vec<u8> {
        let elements = (0..ELEMENTS).map(|index| if index < ELEMENTS / 2 { first } else { second });
        elements.flat_map(f32::to_le_bytes).collect()
    };
    let half = ELEMENTS as u64 / 2;
    // The call's input is 1.0 everywhere; the expected values are 1.0 in the first half and 2.0 in
    // the second.
    for (written, unwritten) in [(halves(1.0, 3.0), 0), (halves(1.0, 1.0), half), (halves(3.0, 1.0), 0)] {
        let driver = &mut *referee.driver;
        driver.write(pristine.current, &halves(1.0, 1.0)).unwrap();
        driver.write(answers.expected, &halves(1.0, 2.0)).unwrap();
        driver.write(answers.snapshot, &written).unwrap();
        let comparison = gpubench_device::harness::Comparison {
            got: answers.snapshot,
            expected: answers.expected,
            len: ELEMENTS as u64,
            dtype: DType::F32,
            tolerance: Tolerance::Exact,
            poison_key: 1,
            poison: PoisonPlace::default(),
            order_key: 2,
        };
        let summary = referee.compare(&comparison).unwrap();
        let mut output = crate::wire::OutputFacts {
            elements: summary.elements,
            matched: summary.matched,
            first_wrong: summary.first_wrong.unwrap(),
            ..bytemuck::Zeroable::zeroed()
        };
        let parts = parts(&case.recording.tensors, case.buffers());
        let part = parts.iter().find(|part| part.index == 3).unwrap();
        let earlier = EarlierAnswers::new(&case, &parts, part, 1);
        referee
            .classify_wrong_output(&comparison, Some(pristine.current), earlier, &mut output)
            .unwrap();
        assert_eq!(output.unwritten, unwritten);
    }
}

/// Returns all shared allocations as the worker sees them at *go* of a window that makes all calls.
fn handed_out(referee: &mut Referee, case: &OpenCase, window: u32) -> Vec<Vec<u8>> {
    handed_out_for(referee, case, window, case.buffers().len())
}

/// The same for a window that makes the calls with the first `made` buffers.
fn handed_out_for(referee: &mut Referee, case: &OpenCase, window: u32, made: usize) -> Vec<Vec<u8>> {
    referee.generate(case, window).unwrap();
    let place = case.place(window);
    referee.restore(case.buffers(), made, place).unwrap();
    let mut batch = referee.harness.begin(&mut *referee.driver, referee.stream, 1).unwrap();
    let _ = referee.reveal(&case.buffers()[..made], place, &mut batch).unwrap();
    referee.driver.synchronize(referee.stream).unwrap();
    let mut read = |buffer: &crate::referee::buffers::Buffer| {
        let mut contents = vec![0; buffer.layout.allocation as usize];
        referee.driver.read(buffer.shared.address, &mut contents).unwrap();
        contents
    };
    case.buffers().iter().map(&mut read).collect()
}

#[test]
fn the_buffers_do_not_say_how_many_calls_are_made() {
    let mut referee = referee(Box::new(cpu())).unwrap();
    let case = opened(&mut referee, every_role());
    let all = handed_out(&mut referee, &case, 3);
    for made in 0..all.len() {
        assert!(handed_out_for(&mut referee, &case, 3, made) == all, "{made} buffers");
    }
}

#[test]
fn no_write_of_a_call_remains_in_the_next_window() {
    const MARK: u8 = 0xa7;
    let mut referee = referee(Box::new(cpu())).unwrap();
    let case = opened(&mut referee, every_role());
    let constant = |index: usize| {
        case.recording
            .tensors
            .get(index)
            .is_some_and(|tensor| tensor.role == Role::Constant)
    };
    let mut last: Vec<Vec<u8>> = handed_out(&mut referee, &case, 1);
    for window in 2..=6 {
        for buffer in case.buffers() {
            let marked = vec![MARK; buffer.layout.allocation as usize];
            referee.driver.write(buffer.shared.address, &marked).unwrap();
        }
        let now = handed_out(&mut referee, &case, window);
        for (index, (now, last)) in now.iter().zip(&last).enumerate() {
            let layout = case.buffers()[index].layout;
            let (redzone, contents) = now.split_at(layout.offset as usize);
            let (redzone_before, contents_before) = last.split_at(layout.offset as usize);
            // Eight equal bytes in a row by chance: once in 2^64 places.
            let alike = |now: &[u8], before: &[u8]| {
                let words = now.chunks_exact(8).zip(before.chunks_exact(8));
                words.filter(|(now, before)| now == before).count()
            };
            assert_eq!(alike(redzone, redzone_before), 0, "redzone of buffer {index}");
            let length = layout.len as usize;
            if constant(index) {
                assert_eq!(contents[..length], contents_before[..length], "buffer {index}")
            } else {
                assert!(
                    alike(contents, contents_before) < 2,
                    "buffer {index} in window {window}"
                )
            }
            assert!(!now.chunks_exact(8).any(|word| word == [MARK; 8]), "buffer {index}");
        }
        last = now;
    }
}

#[test]
fn sixteen_calls_try_the_previous_answer() {
    let mut stage = Stage::set();
    let asked = (1..=19).filter(|&window| stage.honest(window).outputs()[0].old_answer() != OtherAnswer::NotAsked);
    assert_eq!(asked.collect::<Vec<u32>>(), Vec::from_iter(2..=17));
}

#[test]
fn an_old_answer_that_differs_only_late_fails() {
    const LONG: usize = 5_000;
    let mut long = recording();
    long.tensors
        .iter_mut()
        .for_each(|tensor| tensor.shape = vec![LONG as u64]);
    let mut referee = referee(Box::new(cpu())).unwrap();
    let case = opened(&mut referee, long);
    let answers = case.buffers()[1].answers.as_ref().unwrap();
    let comparison = gpubench_device::harness::Comparison {
        got: answers.snapshot,
        expected: answers.expected,
        len: LONG as u64,
        dtype: DType::F32,
        tolerance: Tolerance::Exact,
        poison_key: 1,
        poison: PoisonPlace::default(),
        order_key: 2,
    };
    let contents = vec![0; 4 * LONG];
    referee.driver.write(answers.expected, &contents).unwrap();
    for (changed, expected) in [
        (None, OtherAnswer::Passes),
        (Some(0), OtherAnswer::Fails),
        (Some(4 * LONG - 1), OtherAnswer::Fails),
    ] {
        let mut old = contents.clone();
        changed.into_iter().for_each(|byte: usize| old[byte] = 64);
        referee.driver.write(answers.previous, &old).unwrap();
        let found = referee.check_old_answer(&comparison, answers).unwrap();
        assert_eq!(found as u64, expected as u64, "{changed:?}");
    }
}

#[test]
fn the_input_digest_covers_all_inputs() {
    let digest = |change: &dyn Fn(&mut Referee, &[DevicePtr])| {
        let mut referee = referee(Box::new(cpu())).unwrap();
        let case = opened(&mut referee, every_role());
        referee.generate(&case, 1).unwrap();
        referee.driver.synchronize(referee.stream).unwrap();
        let pristine = case.buffers().iter().filter_map(|buffer| buffer.pristine.as_ref());
        let pristine: Vec<DevicePtr> = pristine.map(|pristine| pristine.current).collect();
        change(&mut referee, &pristine);
        end_at_once(&mut referee, &case, &order(1)).unwrap().input_digest
    };
    let unchanged = digest(&|_, _| ());
    assert_eq!(digest(&|_, _| ()), unchanged);
    for input in 0..3 {
        let changed = digest(&|referee, pristine| referee.driver.write(pristine[input], &[1; 4]).unwrap());
        assert_ne!(changed, unchanged, "input {input}");
    }
    for [a, b] in [[0, 1], [0, 2], [1, 2]] {
        let exchanged = digest(&|referee, pristine| {
            let [mut one, mut other] = [[0; 4 * ELEMENTS]; 2];
            referee.driver.read(pristine[a], &mut one).unwrap();
            referee.driver.read(pristine[b], &mut other).unwrap();
            referee.driver.write(pristine[a], &other).unwrap();
            referee.driver.write(pristine[b], &one).unwrap();
        });
        assert_ne!(exchanged, unchanged, "inputs {a} and {b} share a key");
    }
}

#[test]
fn the_first_buffer_with_a_changed_redzone_is_named() {
    let driver = cpu();
    let mut referee = referee(Box::new(driver)).unwrap();
    let case = opened(&mut referee, every_role());
    referee.generate(&case, 1).unwrap();
    let place = case.place(1);
    let mut batch = referee.harness.begin(&mut *referee.driver, referee.stream, 64).unwrap();
    referee
        .prepare(&case, case.buffers(), usize::MAX, place, &mut batch)
        .unwrap();
    for buffer in [2, 5] {
        let buffer = &case.buffers()[buffer];
        let before = buffer.address().0 - 8;
        referee.driver.set(referee.stream, DevicePtr(before), 7, 8).unwrap();
    }
    let keys = referee.hand_in_keys(case.buffers(), place, &mut batch).unwrap();
    referee.snapshot(case.buffers()).unwrap();
    let checks = referee
        .queue_all_checks(&case, case.buffers(), place, WindowKind::Timed, keys, &mut batch)
        .unwrap();
    let found = referee.harness.collect(&mut *referee.driver, batch).unwrap();
    let mut facts = WindowFacts {
        window: 1,
        ..bytemuck::Zeroable::zeroed()
    };
    let (broker, _theirs) = Channel::pair().unwrap();
    referee.report(&case, checks, &found, &[], &mut facts, &broker).unwrap();
    assert_eq!(facts.redzone_buffer, 2);
    assert!((-8..0).contains(&facts.redzone_offset) && (1..=8).contains(&facts.redzone_bytes));
}

#[test]
fn inputs_are_shared_frozen_and_no_buffer_can_change_size() {
    use rustix::fs::{SealFlags, fcntl_get_seals};
    let mut referee = referee(Box::new(cpu())).unwrap();
    let case = opened(&mut referee, every_role());
    let descriptors = worker_descriptors(&case, &mut referee).unwrap();
    let roles = case.recording.tensors.iter().map(|tensor| tensor.role);
    for (descriptor, role) in descriptors[1..].iter().zip(roles.chain([Role::Scratch])) {
        let seals = fcntl_get_seals(descriptor).unwrap();
        let size = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        assert!(seals.contains(size), "{role:?}: {seals:?}");
        let is_read = matches!(role, Role::Input | Role::Constant);
        assert_eq!(seals.contains(SealFlags::FUTURE_WRITE), is_read, "{role:?}: {seals:?}");
    }
}

/// Makes the inputs of windows in the author's place, and takes those of windows that are released.
/// Returns the decoys of each.
fn decoys_of_author_inputs(windows: &[(u32, bool)]) -> Vec<u8> {
    let mut of_author = recording();
    of_author.tensors[0].fill = Fill::Cpu;
    let mut referee = referee(Box::new(cpu())).unwrap();
    let case = opened(&mut referee, of_author);
    let pristine = case.buffers()[0].pristine.as_ref().unwrap();
    let author = pristine.author.as_ref().unwrap().address;
    let mut decoys = Vec::new();
    for (window, is_released) in windows {
        referee.generate(&case, *window).unwrap();
        referee.driver.synchronize(referee.stream).unwrap();
        let mut decoy = [0; 4 * ELEMENTS];
        referee.driver.read(pristine.decoy, &mut decoy).unwrap();
        assert_eq!(decoy, [decoy[0]; 4 * ELEMENTS]);
        decoys.push(decoy[0]);
        let made = [10 + *window as u8; 4 * ELEMENTS];
        referee.driver.write(author, &made).unwrap();
        if *is_released {
            referee.take_inputs(&case).unwrap();
            referee.driver.synchronize(referee.stream).unwrap();
        }
    }
    decoys
}

#[test]
fn decoys_for_author_inputs_come_from_the_previous_window() {
    let decoys = decoys_of_author_inputs(&[(0, false), (1, true), (2, true), (3, true)]);
    assert_eq!(decoys[1..], [10, 11, 12]);
}

/// As before the first window of a worker that gets the inputs of an earlier one.
#[test]
fn author_inputs_that_no_window_shows_are_the_next_decoys() {
    let decoys = decoys_of_author_inputs(&[(0, false), (1, true), (2, true), (77, false), (1, true), (2, true)]);
    assert_eq!(decoys[3..], [12, 87, 11]);
}

#[test]
fn the_previous_call_of_a_graph_is_the_one_before_in_the_same_window() {
    let mut referee = referee(Box::new(cpu())).unwrap();
    let count = NonZeroU32::new(3).unwrap();
    let calls = WindowCalls {
        mode: Mode::Graph,
        count,
    };
    let in_graph = crate::window::unrolled(&recording(), count);
    let case = open_case(&mut referee, BEGINNING, calls, ALONE, in_graph, &[]).unwrap();
    let expected = |index: usize| case.buffers()[index].answers.as_ref().unwrap().expected;
    let earlier = |index: usize, position| {
        let parts = parts(&case.recording.tensors, case.buffers());
        let part = parts.iter().find(|part| part.index == index).unwrap();
        EarlierAnswers::new(&case, &parts, part, position).previous
    };
    let last_window = case.buffers()[1].answers.as_ref().unwrap().previous;
    assert_eq!(earlier(1, 1), None, "the first call of a case");
    assert_eq!(earlier(1, 2), Some(last_window));
    for position in [1, 2] {
        assert_eq!(
            [3, 5].map(|index| earlier(index, position)),
            [1, 3].map(|index| Some(expected(index)))
        );
    }
}

#[test]
fn a_window_that_makes_the_first_call_alone_is_judged_by_its_outputs() {
    let mut referee = referee(Box::new(cpu())).unwrap();
    let calls = WindowCalls {
        mode: Mode::Graph,
        count: NonZeroU32::new(3).unwrap(),
    };
    let in_graph = crate::window::unrolled(&recording(), calls.count);
    let case = OpenCase::open(&mut referee, BEGINNING, calls, ALONE, in_graph, &[vec![]], &[]).unwrap();
    let outputs = [WindowKind::Timed, WindowKind::Single].map(|kind| {
        referee.generate(&case, 1).unwrap();
        let order = WindowOrder { kind, ..order(1) };
        let page = case.page_of(order.owner).unwrap();
        page.words.in_window(1).go.store(0, Ordering::Release);
        let facts = end_at_once(&mut referee, &case, &order).unwrap();
        facts
            .outputs()
            .iter()
            .map(|output| (output.tensor, output.unwritten))
            .collect::<Vec<_>>()
    });
    let unwritten = ELEMENTS as u64;
    assert_eq!(
        outputs,
        [
            vec![(1, unwritten), (3, unwritten), (5, unwritten)],
            vec![(1, unwritten)]
        ]
    );
}

#[test]
fn the_host_finds_as_many_wrong_elements_as_the_device() {
    const TYPES: [DType; 12] = [
        DType::U8,
        DType::I8,
        DType::U16,
        DType::I16,
        DType::U32,
        DType::I32,
        DType::U64,
        DType::I64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
    ];
    let close = |rtol, atol| Tolerance::Close { rtol, atol };
    let mut referee = referee(Box::new(cpu())).unwrap();
    let bytes = 8 * ELEMENTS;
    let [expected_at, got_at] = [(); 2].map(|()| referee.driver.alloc(bytes as u64).unwrap());
    for dtype in TYPES {
        for tolerance in [Tolerance::Exact, close(1e-2, 0.0), close(0.0, 3.0), close(0.5, 1e300)] {
            // Few different bytes, so that some elements are equal, near, infinite or not a number.
            let noise = |seed: u64, index: u64| {
                let word = (index ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61;
                [0x00, 0x3c, 0x7c, 0x7f, 0xff, 0x80, 0xf0, 0x3f][word as usize]
            };
            let [expected, got] =
                [1, 2].map(|seed| (0..bytes as u64).map(|index| noise(seed, index)).collect::<Vec<u8>>());
            referee.driver.write(expected_at, &expected).unwrap();
            referee.driver.write(got_at, &got).unwrap();
            let comparison = gpubench_device::harness::Comparison {
                got: got_at,
                expected: expected_at,
                len: ELEMENTS as u64,
                dtype,
                tolerance,
                poison_key: 1,
                poison: PoisonPlace::default(),
                order_key: 2,
            };
            let summary = referee.compare(&comparison).unwrap();
            let found = referee.differences((1, 0), &[ELEMENTS as u64], &comparison).unwrap();
            assert_eq!(found.wrong, summary.wrong(), "{dtype:?} {tolerance:?}");
            let first = found.elements().first().map(|element| element.index);
            assert_eq!(first, summary.first_wrong, "{dtype:?} {tolerance:?}");
        }
    }
}

#[test]
fn the_calls_of_a_window_share_their_constants_and_have_other_inputs() {
    let mut referee = referee(Box::new(cpu())).unwrap();
    let count = NonZeroU32::new(2).unwrap();
    let calls = WindowCalls {
        mode: Mode::Graph,
        count,
    };
    let in_graph = crate::window::unrolled(&every_role(), count);
    let case = open_case(&mut referee, BEGINNING, calls, ALONE, in_graph, &[]).unwrap();
    let of_call = case.tensors_of_call();
    let contents = |referee: &mut Referee, index: usize| {
        let current = case.tensors()[index].pristine.as_ref().unwrap().current;
        let mut bytes = vec![0; 4 * ELEMENTS];
        referee.driver.read(current, &mut bytes).unwrap();
        bytes
    };
    let mut constants = Vec::new();
    for window in [1, 2] {
        referee.generate(&case, window).unwrap();
        referee.driver.synchronize(referee.stream).unwrap();
        let [x, k] = [0, 1];
        constants.push(contents(&mut referee, k));
        assert_eq!(contents(&mut referee, k), contents(&mut referee, of_call + k));
        assert_ne!(contents(&mut referee, x), contents(&mut referee, of_call + x));
    }
    assert_eq!(constants[0], constants[1], "constants are those of the case");
}
