use fastrand::Rng;
use proptest::prelude::*;

use super::*;

/// Returns noise of about 0.2 %, with a fixed seed.
fn noise(runs: usize) -> Vec<f64> {
    let mut rng = Rng::with_seed(7);
    let uniform = |rng: &mut Rng| rng.f64() - 0.5;
    (0..runs)
        .map(|_| 1.0 + 0.004 * (uniform(&mut rng) + uniform(&mut rng) + uniform(&mut rng)))
        .collect()
}

fn quiet(runs: usize) -> PastRuns<usize> {
    let run = |value: f64| PastValue {
        value: 1e4 * value,
        twin: None,
        sources: None,
    };
    PastRuns {
        runs: noise(runs).into_iter().map(run).collect(),
        least_change: 0.01,
    }
}

fn slower(mut case: PastRuns<usize>, runs: std::ops::Range<usize>, factor: f64) -> PastRuns<usize> {
    case.runs[runs].iter_mut().for_each(|run| run.value *= factor);
    case
}

fn found(case: PastRuns<usize>) -> Vec<LevelChange> {
    level_changes(&[case]).remove(0)
}

fn positions(case: PastRuns<usize>) -> Vec<usize> {
    found(case).iter().map(|change| change.position).collect()
}

#[test]
fn a_step_is_found_at_its_first_run() {
    let changes = found(slower(quiet(60), 30..60, 1.03));
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].position, changes[0].origin), (30, ChangeOrigin::Case));
    assert!(
        (changes[0].after / changes[0].before - 1.03).abs() < 0.005,
        "{changes:?}"
    );
}

#[test]
fn a_step_is_found_from_its_third_run_on() {
    for (runs, expected) in [(31, vec![]), (32, vec![]), (33, vec![30]), (34, vec![30])] {
        assert_eq!(positions(slower(quiet(runs), 30..runs, 1.03)), expected, "{runs}");
    }
}

#[test]
fn a_level_that_came_and_went_remains_found() {
    for runs in [16, 24, 60] {
        let case = slower(quiet(runs), 6..11, 1.09);
        assert_eq!(positions(case), [6, 11], "{runs}");
    }
}

#[test]
fn spikes_are_no_change_even_two_in_a_row() {
    for spikes in [30..31, 30..32, 58..60, 59..60, 0..2] {
        assert_eq!(positions(slower(quiet(60), spikes.clone(), 1.5)), [0; 0], "{spikes:?}");
    }
}

#[test]
fn a_spike_next_to_a_step_does_not_hide_it() {
    let case = slower(slower(quiet(60), 30..60, 1.03), 20..21, 1.8);
    assert_eq!(positions(slower(case, 45..46, 2.0)), [30]);
}

#[test]
fn a_level_that_creeps_has_not_changed_at_one_run() {
    let mut case = quiet(60);
    for (position, run) in case.runs.iter_mut().enumerate() {
        run.value *= 1.0 + 0.001 * position as f64;
    }
    assert_eq!(positions(case), [0; 0]);
}

#[test]
fn what_does_not_matter_is_no_change() {
    let case = slower(quiet(60), 30..60, 1.005);
    assert_eq!(positions(case.clone()), [0; 0]);
    let case = PastRuns {
        least_change: 0.001,
        ..case
    };
    assert_eq!(positions(case), [30]);
}

#[test]
fn a_change_that_the_twin_shares_is_of_the_machine() {
    for (of_twin, origin) in [
        (1.0, ChangeOrigin::Case),
        (1.01, ChangeOrigin::Case),
        (1.045, ChangeOrigin::Machine),
        (1.05, ChangeOrigin::Machine),
        (0.95, ChangeOrigin::Case),
    ] {
        let mut case = slower(quiet(60), 30..60, 1.05);
        for (position, run) in case.runs.iter_mut().enumerate() {
            run.twin = Some(2e3 * if position < 30 { 1.0 } else { of_twin });
        }
        let changes = found(case);
        assert_eq!((changes.len(), changes[0].origin), (1, origin), "{of_twin}");
        assert!((changes[0].drift.unwrap() - of_twin).abs() < 1e-9);
    }
}

#[test]
fn two_times_of_a_twin_are_too_few() {
    let mut case = slower(quiet(60), 30..60, 1.05);
    case.runs.iter_mut().take(32).for_each(|run| run.twin = Some(2e3));
    let changes = found(case);
    assert_eq!((changes[0].drift, changes[0].origin), (None, ChangeOrigin::Case));
}

#[test]
fn the_more_cases_there_are_the_less_one_p_value_says() {
    assert_eq!(largest_rejected(vec![1e-5, 0.5], 900), Some(1e-5));
    assert_eq!(largest_rejected(vec![1e-5, 0.5], 1_100), None);
    // Several small ones together say more than each of them alone.
    assert_eq!(largest_rejected(vec![1.5e-5, 1e-5], 1_100), Some(1.5e-5));
    assert_eq!(largest_rejected(Vec::new(), 0), None);
}

#[test]
fn histories_that_are_short_or_broken_have_no_changes() {
    assert_eq!(positions(slower(quiet(9), 5..9, 2.0)), [0; 0]);
    for broken in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(positions(slower(quiet(60), 30..60, broken)), [0; 0], "{broken}");
    }
    assert_eq!(level_changes::<usize>(&[]), Vec::<Vec<LevelChange>>::new());
}

proptest! {
    #[test]
    fn changes_do_not_depend_on_the_unit(values in prop::collection::vec(1.0..1e6f64, 0..80), unit in 1e-6..1e6f64) {
        let case = |unit: f64| PastRuns {
            runs: values.iter().map(|value| PastValue { value: value * unit, twin: Some(*value), sources: Some(1) }).collect(),
            least_change: 0.01,
        };
        prop_assert_eq!(positions(case(1.0)).len(), positions(case(unit)).len());
    }
}
