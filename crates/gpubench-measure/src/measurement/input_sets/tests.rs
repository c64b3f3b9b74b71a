//! Tests of how many sets there are, and which a worker gets.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use super::super::case::{Entrant, Standing, TurnCase};
use super::super::simulated_case::Stage;
use super::*;
use gpubench_stats::{StopRule, WorkerCountRule};

fn sets(of_worker: u32, sides: u32) -> InputSets {
    let file = || tempfile::tempfile().expect("a file");
    InputSets {
        opening: 7,
        of_worker,
        sides,
        inputs: file(),
        outputs: file(),
        parts: Vec::new(),
    }
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
