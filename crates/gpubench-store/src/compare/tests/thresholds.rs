//! Tests of noise thresholds: the common floor, a benchmark's floor and the history.

use super::*;

#[test]
fn the_threshold_of_a_benchmark_overrides_the_common_one() {
    let after = quiet("axpy", 1.03e5);
    let rules = Rules {
        floors: Floors::from([(after.key(), 0.05)]),
        ..Rules::default()
    };
    assert_eq!(
        row_of(quiet("axpy", 1e5), after, &rules).verdict,
        ChangeVerdict::WithinNoise
    );
    let other = row_of(quiet("gemm", 1e5), quiet("gemm", 1.03e5), &rules);
    assert_eq!(other.verdict, ChangeVerdict::Regressed);
}

#[test]
fn a_larger_threshold_turns_a_regression_into_noise() {
    let rules = Rules {
        floor: 0.05,
        ..Rules::default()
    };
    let row = row_of(quiet("axpy", 1e5), quiet("axpy", 1.03e5), &rules);
    assert_eq!(row.verdict, ChangeVerdict::WithinNoise);
}

#[test]
fn the_history_of_a_benchmark_raises_its_threshold_and_never_lowers_it() {
    let (before, after) = (quiet("axpy", 1e5), quiet("axpy", 1.03e5));
    let fenced = |fence| Rules {
        fences: Fences::from([(before.key(), fence)]),
        ..Rules::default()
    };
    let noisy = row_of(before.clone(), after.clone(), &fenced(0.08));
    assert_eq!(noisy.verdict, ChangeVerdict::WithinNoise);
    let change = noisy.change.unwrap();
    assert_eq!(
        (change.threshold, change.threshold_source),
        (0.08, ThresholdSource::History)
    );
    let steady = row_of(before.clone(), after.clone(), &fenced(0.000_1));
    let change = steady.change.unwrap();
    assert_eq!(
        (change.threshold, change.threshold_source),
        (0.01, ThresholdSource::Floor)
    );
}

#[test]
fn the_history_of_another_benchmark_does_not_count() {
    let rules = Rules {
        fences: Fences::from([(quiet("softmax", 1e5).key(), 0.5)]),
        ..Rules::default()
    };
    let row = row_of(quiet("axpy", 1e5), quiet("axpy", 1.03e5), &rules);
    assert_eq!(row.verdict, ChangeVerdict::Regressed);
}

#[test]
fn a_history_that_hides_changes_above_a_tenth_has_a_remark() {
    let fenced = |fence, candidate| {
        let before = quiet("axpy", 1e5);
        let rules = Rules {
            fences: Fences::from([(before.key(), fence)]),
            ..Rules::default()
        };
        row_of(before, candidate, &rules)
    };
    let hidden = fenced(1.84, quiet("axpy", 1.5e5));
    assert_eq!(hidden.verdict, ChangeVerdict::WithinNoise);
    assert_eq!(remark(&hidden), "the history is too noisy to detect changes below 184%");
    let same = fenced(1.84, quiet("axpy", 1e5));
    assert_eq!(same.verdict, ChangeVerdict::NoChange);
    assert!(remark(&same).contains("too noisy"), "{same:?}");
    assert_eq!(fenced(0.09, quiet("axpy", 1.05e5)).remark, None);
    let asked_for = Rules {
        floor: 0.5,
        ..Rules::default()
    };
    assert_eq!(row_of(quiet("axpy", 1e5), quiet("axpy", 1e5), &asked_for).remark, None);
}

#[test]
fn the_threshold_of_a_benchmark_may_be_smaller_than_the_common_one() {
    let after = quiet("axpy", 1.03e5);
    let rules = Rules {
        floor: 0.05,
        floors: Floors::from([(after.key(), 0.01)]),
        ..Rules::default()
    };
    assert_eq!(
        row_of(quiet("axpy", 1e5), after, &rules).verdict,
        ChangeVerdict::Regressed
    );
}
