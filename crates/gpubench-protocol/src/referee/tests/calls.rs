//! The referee's driver calls in a window, one by one.

use std::sync::{Arc, Mutex};

use gpubench_contract::CacheTreatment;

use super::*;
use crate::window::{KeyPurpose, WindowContent};
use gpubench_device::faulty::Call;

/// An input, an in-out tensor, two outputs, a scratch tensor and scratch of the plan.
pub(super) fn every_role() -> Recording {
    let mut recording = recording();
    let [x, y] = <[Tensor; 2]>::try_from(recording.tensors).unwrap();
    let tensor = |name: &str, role, like: &Tensor| Tensor {
        name: name.to_owned(),
        role,
        ..like.clone()
    };
    recording.tensors = vec![
        tensor("x", Role::Input, &x),
        tensor("k", Role::Constant, &x),
        tensor("y", Role::Output, &y),
        tensor("w", Role::InOut, &x),
        tensor("t", Role::Scratch, &y),
        tensor("z", Role::Output, &y),
    ];
    recording.plan.scratch = vec![100];
    recording
}

type Log = Arc<Mutex<Vec<Call>>>;

/// A referee that records its driver calls.
fn watched() -> (Referee, Log) {
    let log = Log::default();
    let kept = log.clone();
    let driver = FaultyDriver::watched(cpu(), move |_, call| kept.lock().unwrap().push(call.clone()));
    (referee(Box::new(driver)).unwrap(), log)
}

/// Returns the driver calls of one window by their effect, without those of a batch.
fn named(calls: &[Call]) -> Vec<&str> {
    let calls = calls.iter().map(|call| call.name.trim_start_matches("gb_"));
    calls
        .filter(|name| !["read", "write", "alloc", "prepare", "function", "synchronize_within"].contains(name))
        .collect()
}

struct Watched {
    referee: Referee,
    case: OpenCase,
    log: Log,
}

impl Watched {
    fn open(mode: Mode) -> Watched {
        let (mut referee, log) = watched();
        let case = open_case(
            &mut referee,
            BEGINNING,
            WindowCalls::one(mode),
            WITH_CONTROL,
            every_role(),
            &[],
        )
        .unwrap();
        referee.generate(&case, 0).unwrap();
        Watched { referee, case, log }
    }

    /// Returns the driver calls of a window's release, before and after *go*.
    fn release(&mut self, window: u32, kind: WindowKind) -> [Vec<Call>; 2] {
        if kind.content() == WindowContent::Call {
            self.referee.generate(&self.case, window).unwrap();
        }
        let owner = match kind.content() {
            WindowContent::Call => WindowOwner::default(),
            WindowContent::Twin | WindowContent::Nothing => WindowOwner::CONTROL,
        };
        let page = self.case.page_of(owner).unwrap();
        page.words.in_window(window).go.store(0, Ordering::Release);
        self.log.lock().unwrap().clear();
        let order = WindowOrder {
            kind,
            owner,
            ..order(window)
        };
        end_at_once(&mut self.referee, &self.case, &order).unwrap();
        let mut before = std::mem::take(&mut *self.log.lock().unwrap());
        let go = before.iter().position(|call| call.name == "write_value").unwrap();
        let after = before.split_off(go + 1);
        let go = before.pop().unwrap();
        assert_eq!(go.words, [page.on_device.in_window(window).go(), u64::from(window)]);
        [before, after]
    }
}

/// Windows of every kind, early and late ones.
fn windows() -> Vec<(u32, WindowKind)> {
    let mut windows: Vec<_> = (1..=20)
        .map(|number| match number % 5 {
            0 => (number, WindowKind::EarlyCheck),
            1 => (number, WindowKind::Single),
            2 => (number, WindowKind::Parts),
            _ => (number, WindowKind::Timed),
        })
        .collect();
    let without_call = [WindowKind::Control, WindowKind::SingleControl, WindowKind::Empty];
    let without_call = (0..6).zip(without_call.into_iter().cycle());
    windows.extend(without_call.map(|(before, kind)| (WindowKind::control_window(before), kind)));
    windows
}

/// The calls before *go*.
fn preparation(mode: Mode, kind: WindowKind) -> Vec<&'static str> {
    // Copies of the author's answers: first those of the previous call are kept. In a control
    // window the copies have no effect.
    let copies: &[&str] = match kind.content() {
        WindowContent::Twin | WindowContent::Nothing => &["copy"; 3],
        // The harness makes `x`, `k` and `w`.
        WindowContent::Call => &["copy"; 6],
    };
    let input = ["noise", "noise", "copy", "lines"];
    let restored = [&input[..], &input, &["noise"], &input, &["noise"; 3]].concat();
    let flush: &[&str] = match mode.cache() {
        CacheTreatment::Flushed => &["flush"],
        CacheTreatment::Touched => &["twin"],
        CacheTreatment::Left => &[],
    };
    [
        copies,
        &["reset_persisting_lines", "stamp"],
        &restored,
        &["stamp"],
        flush,
        // Keys and zeroed output digests. The reveal kernel takes the time itself.
        &["stamp", "copy", "reveal"],
    ]
    .concat()
}

#[test]
fn every_window_restores_flushes_and_reveals_in_this_order() {
    for mode in Mode::ALL.iter().copied() {
        let mut watched = Watched::open(mode);
        for (window, kind) in windows() {
            let [before, _] = watched.release(window, kind);
            let before = named(&before);
            let mut expected = preparation(mode, kind);
            if kind.content() == WindowContent::Call && window == 1 {
                // The first answers are kept.
                let kept = expected
                    .iter()
                    .position(|name| *name == "reset_persisting_lines")
                    .unwrap();
                expected.splice(kept..kept, ["copy"; 3]);
            }
            assert_eq!(before, expected, "window {window} of kind {kind:?}, {mode}");
        }
    }
}

/// The calls after *go* and before the host waits.
fn checks_after_go() -> Vec<&'static str> {
    // The outputs, then the page.
    let snapshot = ["wait_value", "stamp", "copy", "copy", "copy", "copy", "stamp"];
    let call = [&["digest"; 3][..], &["check"; 3], &["noise_check"; 14], &["check"; 3]].concat();
    [&snapshot[..], &["digest"; 3], &call].concat()
}

#[test]
fn every_window_queues_copies_first_and_late_write_checks_last_before_the_host_waits() {
    let mut watched = Watched::open(Mode::Cold);
    for (window, kind) in windows() {
        let [_, after] = watched.release(window, kind);
        let waits = after
            .iter()
            .position(|call| call.name.starts_with("synchronize"))
            .unwrap();
        let queued: Vec<&str> = after[..waits]
            .iter()
            .map(|call| call.name.trim_start_matches("gb_"))
            .collect();
        assert_eq!(queued, checks_after_go(), "window {window} of kind {kind:?}");
        if kind.content() != WindowContent::Call {
            assert_eq!(named(&after[waits..]), ["synchronize"]);
        }
    }
}

/// Returns the argument words of a kernel's launches.
fn launches<'a>(calls: &'a [Call], kernel: &str) -> Vec<&'a [u64]> {
    let launches = calls.iter().filter(|call| call.name == kernel);
    launches.map(|call| &call.words[..]).collect()
}

#[test]
fn every_cold_window_reads_the_whole_flush_buffer() {
    let mut watched = Watched::open(Mode::Cold);
    let (buffer, bytes) = (watched.referee.flush.buffer.0, watched.referee.flush.bytes);
    for (window, kind) in windows() {
        let [before, after] = watched.release(window, kind);
        let flushes = launches(&before, "gb_flush");
        assert_eq!(flushes.len(), 1);
        assert_eq!(flushes[0][..2], [buffer, bytes], "window {window} of kind {kind:?}");
        assert!(launches(&after, "gb_flush").is_empty());
    }
}

/// Returns all allocations of a case as address ranges.
fn allocations(case: &OpenCase) -> Vec<[u64; 2]> {
    let buffers = case.buffers().iter();
    buffers
        .map(|buffer| {
            let start = buffer.shared.address.0;
            [start, start + buffer.layout.allocation]
        })
        .collect()
}

/// Sorts address ranges and joins those that touch.
fn joined(mut ranges: Vec<[u64; 2]>) -> Vec<[u64; 2]> {
    ranges.retain(|[start, end]| start != end);
    ranges.sort_unstable();
    let mut joined: Vec<[u64; 2]> = Vec::new();
    for [start, end] in ranges {
        match joined.last_mut() {
            Some(last) if last[1] == start => last[1] = end,
            _ => joined.push([start, end]),
        }
    }
    joined
}

#[test]
fn every_byte_of_every_buffer_is_new_in_every_window() {
    let mut watched = Watched::open(Mode::Cold);
    for (window, kind) in windows() {
        let [before, _] = watched.release(window, kind);
        let (case, seeds) = (&watched.case, &watched.referee.seeds);
        let noise = launches(&before, "gb_noise");
        let key = seeds.key(KeyPurpose::Poison, case.place(window));
        let allocations = allocations(case);
        for [target, _, used, offset] in noise.iter().map(|words| <[u64; 4]>::try_from(*words).unwrap()) {
            let start = allocations.iter().find(|[start, end]| (start..end).contains(&&target));
            assert_eq!((used, target - offset), (key, start.unwrap()[0]), "window {window}");
        }
        let inputs = case.buffers().iter().filter(|buffer| buffer.pristine.is_some());
        let copied: Vec<[u64; 3]> = inputs
            .clone()
            .map(|buffer| {
                [
                    buffer.address().0,
                    buffer.pristine.as_ref().unwrap().current.0,
                    buffer.layout.len,
                ]
            })
            .collect();
        for copy in &copied {
            assert!(
                before.iter().any(|call| call.name == "copy" && call.words == copy),
                "window {window}"
            );
        }
        let made = noise.iter().map(|words| [words[0], words[0] + words[1]]);
        let made = made.chain(copied.iter().map(|[target, _, bytes]| [*target, target + bytes]));
        assert_eq!(joined(made.collect()), joined(allocations), "window {window}");

        let decoys = seeds.key(KeyPurpose::Decoys, case.place(window));
        let (with_decoys, revealed): (Vec<_>, Vec<_>) = inputs
            .map(|buffer| {
                let (address, pristine) = (buffer.address().0, buffer.pristine.as_ref().unwrap());
                let with = |source: DevicePtr| [address, source.0, buffer.layout.len, decoys, 8];
                (with(pristine.decoy), with(pristine.current))
            })
            .unzip();
        assert_eq!(launches(&before, "gb_lines"), with_decoys, "window {window}");
        let reveal = launches(&before, "gb_reveal").remove(0);
        assert_eq!(reveal[..5 * revealed.len()], revealed.concat(), "window {window}");
    }
}

#[test]
fn every_check_has_the_keys_of_its_window() {
    let mut watched = Watched::open(Mode::Cold);
    let mut order_keys = std::collections::HashSet::new();
    for (window, kind) in windows() {
        let [_, after] = watched.release(window, kind);
        let waits = after.iter().position(|call| call.name == "synchronize").unwrap();
        let queued = &after[..waits];
        let (case, seeds) = (&watched.case, &watched.referee.seeds);
        let key = |purpose| seeds.key(purpose, case.place(window));
        let outputs: Vec<_> = case
            .buffers()
            .iter()
            .filter(|buffer| buffer.answers.is_some())
            .collect();

        // The sample of an output digest has 16 tiles; 0 means all.
        let tiles = match kind.coverage() {
            Coverage::Whole => 0,
            Coverage::Sample => 16,
        };
        let digests = launches(queued, "gb_digest");
        for (digest, output) in digests.iter().zip(&outputs) {
            assert_eq!(
                digest[..2],
                [output.answers.as_ref().unwrap().snapshot.0, output.layout.len]
            );
            assert_eq!(digest[4], tiles, "window {window} of kind {kind:?}");
        }
        if kind == WindowKind::Control {
            continue;
        }
        let inputs = case
            .buffers()
            .iter()
            .filter_map(|buffer| Some((buffer.pristine.as_ref()?, buffer.layout.len)));
        for (digest, (pristine, bytes)) in digests[3..].iter().zip(inputs) {
            assert_eq!(digest[..2], [pristine.current.0, bytes]);
            assert_eq!(digest[4], 0, "all of an input of window {window}");
        }

        let checks = launches(queued, "gb_check");
        for (check, output) in checks[..3].iter().zip(&outputs) {
            let answers = output.answers.as_ref().unwrap();
            assert_eq!(check[..3], [answers.snapshot.0, answers.expected.0, ELEMENTS as u64]);
            let keys = [
                key(KeyPurpose::Poison),
                output.layout.offset,
                key(KeyPurpose::CheckOrder),
            ];
            // The elements follow each other in the stream of the poison.
            assert_eq!([check[5], check[6], check[9]], keys, "window {window}");
            assert_eq!(check[7..9], [0, 0]);
        }
        for (check, output) in checks[3..].iter().zip(&outputs) {
            let snapshot = output.answers.as_ref().unwrap().snapshot.0;
            assert_eq!(check[..3], [output.address().0, snapshot, output.layout.len]);
        }
        assert!(order_keys.insert(checks[0][9]), "window {window}");

        let redzone = launches(queued, "gb_noise_check");
        assert!(
            redzone.iter().all(|words| words[2] == key(KeyPurpose::Poison)),
            "window {window}"
        );
        let tensors = case
            .buffers()
            .iter()
            .map(|buffer| [buffer.address().0, buffer.address().0 + buffer.layout.len]);
        let looked_at = redzone
            .iter()
            .map(|words| [words[0], words[0] + words[1]])
            .chain(tensors);
        assert_eq!(
            joined(looked_at.collect()),
            joined(allocations(case)),
            "window {window}"
        );
    }
}
