//! Tests of how many sets there are, and which a worker gets.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use super::super::case::{Entrant, Standing, TurnCase};
use super::super::simulated_case::Stage;
use super::*;
use bytemuck::Zeroable as _;
use gpubench_protocol::window::Numbering;
use gpubench_stats::{StopRule, WorkerCountRule};

fn computed(of_worker: u32, sides: u32, calls: u32) -> ComputedSets {
    let contents = || Contents {
        file: tempfile::tempfile().expect("a file"),
        listed: Vec::new(),
        tensors: Vec::new(),
        starts: Vec::new(),
    };
    ComputedSets {
        opening: 7,
        extent: extent_with(of_worker, sides, calls),
        inputs: contents(),
        outputs: contents(),
    }
}

fn extent_with(of_worker: u32, sides: u32, calls: u32) -> Extent {
    Extent {
        of_worker: NonZeroU32::new(of_worker).unwrap(),
        sides,
        calls: NonZeroU32::new(calls).unwrap(),
    }
}

fn sets(of_worker: u32, sides: u32) -> InputSets {
    InputSets {
        computed: Rc::new(computed(of_worker, sides, 1)),
        parts: Vec::new(),
    }
}

/// What a case without tensors wants.
fn wanted_with(of_worker: u32, sides: u32, calls: u32) -> Wanted<'static> {
    Wanted {
        shared: Vec::new(),
        extent: extent_with(of_worker, sides, calls),
    }
}

#[test]
fn a_later_mode_gets_the_sets_if_there_are_enough_of_its_calls() {
    let mut earlier = EarlierSets::default();
    earlier.keep(3, &Rc::new(computed(20, 2, 10)));
    earlier.note(3, Some(Numbering::after(90, 5)));
    let next = earlier.numbering(3);
    assert_eq!(next, Numbering::after(90, 5));
    let serves = |case, opening, wanted: Wanted<'_>| earlier.serving(case, opening, &wanted).is_some();
    for of_worker in [12, 20] {
        assert!(serves(3, next.opening, wanted_with(of_worker, 2, 10)));
    }
    for wanted in [wanted_with(21, 2, 10), wanted_with(20, 1, 10), wanted_with(20, 2, 1)] {
        assert!(!serves(3, next.opening, wanted));
    }
    assert!(!serves(4, next.opening, wanted_with(20, 2, 10)), "of another case");
    assert_eq!(earlier.numbering(4), Numbering::default());
}

#[test]
fn other_tensors_get_no_sets_of_a_mode() {
    let stage = Stage::of(1).with_input();
    let case = stage.case();
    let layout = BufferLayout::zeroed();
    let shared = case.recording.tensors.iter().map(|tensor| Shared {
        tensor,
        layout: &layout,
        contents: tensor.role.is_input().then(|| tempfile::tempfile().expect("a file")),
        answer: tensor.role.is_output().then(|| tempfile::tempfile().expect("a file")),
        is_made_by_author: false,
    });
    let mut wanted = Wanted {
        shared: shared.collect(),
        extent: extent_with(20, 1, 1),
    };
    let mut computed = computed(30, 1, 1);
    assert!(!computed.serve(&wanted));
    for (contents, listed) in [
        (&mut computed.inputs, wanted.read()),
        (&mut computed.outputs, wanted.written()),
    ] {
        contents.tensors = wanted.described(&listed, 30);
        contents.listed = listed;
    }
    assert!(computed.serve(&wanted));
    wanted.shared.pop();
    assert!(!computed.serve(&wanted));
}

/// It is accused, and must not know the inputs from the first time.
#[test]
fn a_second_measurement_of_a_mode_gets_no_sets_of_the_first() {
    let mut earlier = EarlierSets::default();
    let wanted = wanted_with(20, 1, 1);
    earlier.keep(3, &Rc::new(computed(20, 1, 1)));
    assert!(earlier.serving(3, Numbering::default().opening, &wanted).is_none());
    // So does one of a mode that had the sets of an earlier one.
    earlier.note(3, Some(Numbering::after(90, 5)));
    let again = Numbering::after(190, 9);
    assert!(earlier.serving(3, again.opening, &wanted).is_none());
}

#[test]
fn a_failure_leaves_the_sets_and_numbers_that_no_window_had() {
    let mut earlier = EarlierSets::default();
    earlier.keep(3, &Rc::new(computed(20, 1, 1)));
    earlier.note(3, None);
    let next = earlier.numbering(3);
    assert_eq!(next, Numbering::default().after_failure());
    assert!(earlier.serving(3, next.opening, &wanted_with(20, 1, 1)).is_some());
}

#[test]
fn a_worker_gets_each_set_once_and_shares_none_with_a_rival() {
    let sets = sets(5, 3);
    let of_side = |side| -> Vec<u32> { (0..5).map(|used| sets.next(side, used).expect("a set")).collect() };
    let all: Vec<u32> = (0..3).flat_map(of_side).collect();
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    assert_eq!((all.first(), all.last()), (Some(&8), Some(&sets.last())));
    assert_eq!((sets.next(0, 5), sets.next(2, 5), sets.next(3, 0)), (None, None, None));
}

#[test]
fn warm_up_and_samples_leave_sets_for_what_follows() {
    for of_worker in [FEWEST_SETS, 100, MOST_SETS] {
        let limit = SetLimit(of_worker);
        let warm_up = (0..).take_while(|used| limit.allows_warm_up(*used)).count();
        let samples = (0..).take_while(|used| limit.allows_samples(*used)).count();
        assert!(0 < warm_up && warm_up < samples, "{of_worker}: {warm_up}, {samples}");
        assert_eq!(samples as u32 + RESERVED, of_worker);
    }
}

/// The sets of some sides of a case whose input and output have this many elements.
fn extent_of(elements: u64, sides: usize, mode: RunMode) -> Result<u32, String> {
    let stage = Stage::of(1).with_input().with(|recording| {
        recording
            .tensors
            .iter_mut()
            .for_each(|tensor| tensor.shape = vec![elements]);
    });
    let protocol = Protocol {
        mode,
        stop: StopRule {
            max_samples: 1_000,
            ..StopRule::default()
        },
        worker_count: WorkerCountRule::exactly(NonZeroUsize::new(10).unwrap()),
        ..stage.protocol()
    };
    let case = stage.case();
    let entrant = Entrant {
        name: "the case",
        standing: Standing::Judged,
        keeper: None,
    };
    let arms = vec![TurnCase { case: &case, entrant }; sides];
    let turns = CasesInTurns {
        arms: &arms,
        source: &case,
        question: None,
    };
    let extent = extent(&turns, &protocol).map_err(|error| error.to_string())?;
    assert!(bytes_of_window(case.recording) * extent.sets() <= MOST_BYTES);
    Ok(extent.of_worker.get())
}

#[test]
fn a_worker_has_sets_for_all_its_windows_if_they_fit() {
    let usual = extent_of(1 << 10, 1, RunMode::Measure);
    assert_eq!(usual, Ok(100 + 25 + WARM_UP + RESERVED));
    assert_eq!(extent_of(1 << 10, 4, RunMode::Measure), usual);
    assert_eq!(extent_of(1 << 10, 1, RunMode::Test), Ok(SETS_OF_TEST));
    let audit = RunMode::Audit(Duration::from_secs(1));
    assert_eq!(extent_of(1 << 10, 1, audit), Ok(SETS_OF_PROFILE));
}

#[test]
fn memory_limits_the_sets_and_refuses_a_case_with_too_few() {
    // 32 MiB a set, then 512 MiB.
    assert_eq!(extent_of(4 << 20, 1, RunMode::Measure), Ok(128));
    assert_eq!(extent_of(4 << 20, 2, RunMode::Measure), Ok(64));
    let refused = extent_of(64 << 20, 1, RunMode::Measure).expect_err("they do not fit");
    assert!(
        refused.starts_with("the inputs and outputs of 12 calls have 6442450944 bytes"),
        "{refused}"
    );
    assert!(extent_of(u64::MAX / 64, 1, RunMode::Test).is_err());
}
