//! Tests of verdicts and the size of changes.

use super::*;

#[test]
fn a_slower_candidate_regressed_and_a_faster_one_improved() {
    let slower = row_of(quiet("axpy", 1e5), quiet("axpy", 1.03e5), &Rules::default());
    assert_eq!(slower.verdict, ChangeVerdict::Regressed);
    assert_eq!(slower.remark, None);
    let change = slower.change.unwrap();
    assert!((change.ratio - 1.03).abs() < 0.005, "{change:?}");
    assert!(change.interval[0] > 1.0 && change.interval[0] < change.ratio && change.ratio < change.interval[1]);
    assert_eq!((change.confidence, change.threshold), (0.99, 0.01));
    assert_eq!(change.threshold_source, ThresholdSource::Floor);
    let faster = row_of(quiet("axpy", 1e5), quiet("axpy", 0.9e5), &Rules::default());
    assert_eq!(faster.verdict, ChangeVerdict::Improved);
    let same = row_of(quiet("axpy", 1e5), quiet("axpy", 1.0001e5), &Rules::default());
    assert_eq!(same.verdict, ChangeVerdict::NoChange);
}

#[test]
fn identical_samples_are_no_change() {
    let row = row_of(quiet("axpy", 1e5), quiet("axpy", 1e5), &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::NoChange);
    assert_eq!(row.change.unwrap().ratio, 1.0);
}

#[test]
fn a_run_compared_with_itself_is_never_inconclusive() {
    let one_worker = passed("alone", &[vec![1e5, 2e5, 3e5]]);
    let measured = run(vec![
        quiet("gemm", 1e5),
        restless(5),
        one_worker,
        result("sort", Verdict::Timeout),
    ]);
    let itself = separate(&measured, &measured, &Rules::default());
    assert!(itself.is_of_one_run());
    let (failed, passed): (Vec<_>, Vec<_>) = itself.rows.iter().partition(|row| row.has_failed());
    for row in passed {
        assert_eq!((row.verdict, &row.remark), (ChangeVerdict::NoChange, &None));
        assert_eq!(row.baseline, row.candidate);
        let change = row.change.as_ref().unwrap();
        assert_eq!((change.ratio, change.interval), (1.0, [1.0; 2]));
    }
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].verdict, ChangeVerdict::NotCompared);
    let other = compared(&measured, &measured, &Rules::default());
    assert!(!other.is_of_one_run());
    assert_eq!(other.rows[1].verdict, ChangeVerdict::Inconclusive);
}

#[test]
fn different_cases_of_one_run_are_compared() {
    let measured = run(vec![quiet("naive::n=64", 1e5), quiet("tiled::m=64", 0.5e5)]);
    let row = separate(&measured, &measured, &grouped("(64)$"));
    assert!(
        row.rows.iter().all(|row| row.verdict == ChangeVerdict::NotCompared),
        "{row:#?}"
    );
    let mut kernels = [measured.clone(), measured];
    kernels[0].results.truncate(1);
    kernels[1].results.remove(0);
    let rows = separate(&kernels[0], &kernels[1], &grouped("(64)$")).rows;
    assert_eq!(
        rows[0].verdict,
        ChangeVerdict::Improved,
        "one run, but different measurements"
    );
}

#[test]
fn other_samples_under_the_identifier_of_one_run_are_compared() {
    let rows = separate(
        &run(vec![quiet("axpy", 1e5)]),
        &run(vec![quiet("axpy", 2e5)]),
        &Rules::default(),
    )
    .rows;
    assert_eq!(rows[0].verdict, ChangeVerdict::Regressed);
}

#[test]
fn a_row_shows_the_values_of_the_runs_and_their_ratio() {
    let row = row_of(quiet("axpy", 1e5), restless(7), &Rules::default());
    for (side, result) in [(&row.baseline, quiet("axpy", 1e5)), (&row.candidate, restless(7))] {
        assert_eq!(
            side.value,
            summary(&result.samples_by_worker()).map(|stats| stats.value)
        );
    }
    let ratio = row.candidate.value.unwrap() / row.baseline.value.unwrap();
    assert!((ratio - row.change.unwrap().ratio).abs() < 1e-12);
    assert_eq!((row.baseline.n, row.baseline.workers), (60, 3));
}

#[test]
fn samples_that_cannot_rule_out_a_change_are_inconclusive_with_its_size() {
    let wild = |seed| {
        let shape = TwoLevel {
            name: "wild",
            shifts: Shifts::Normal(0.1),
            noise: Noise::Normal(0.01),
        };
        passed("axpy", &shape.side(&mut fastrand::Rng::with_seed(seed), 3, 20, 1e5))
    };
    let row = row_of(wild(1), wild(2), &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
    assert!(
        remark(&row).starts_with("the samples cannot rule out a change beyond 5.00%"),
        "{row:?}"
    );
    assert!(remark(&row).ends_with("`--workers 6`"), "{row:?}");
}

#[test]
fn a_change_below_one_tick_of_the_clock_is_no_regression() {
    let steps = |ticks: f64| passed("nothing", &vec![vec![32.0 * ticks; 20]; 3]);
    let one_tick = row_of(steps(100.0), steps(101.0), &Rules::default());
    assert_eq!(one_tick.verdict, ChangeVerdict::NoChange);
    let three_ticks = row_of(steps(100.0), steps(103.0), &Rules::default());
    assert_eq!(three_ticks.verdict, ChangeVerdict::Regressed);
}

#[test]
fn a_time_of_zero_has_no_ratio() {
    let zero = passed("nothing", &vec![vec![0.0; 9]; 3]);
    let row = row_of(zero, quiet("nothing", 1e5), &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::NotCompared);
    assert_eq!(remark(&row), "a time of zero or less has no ratio");
}

#[test]
fn the_requested_confidence_is_used_and_recorded() {
    let at = |confidence| Rules {
        confidence: Confidence::new(confidence).unwrap(),
        ..Rules::default()
    };
    let [narrow, wide] = [0.9, 0.999].map(|confidence| {
        let row = row_of(quiet("axpy", 1e5), quiet("axpy", 1.03e5), &at(confidence));
        row.change.unwrap()
    });
    assert_eq!((narrow.confidence, wide.confidence), (0.9, 0.999));
    assert!(wide.interval[0] < narrow.interval[0] && narrow.interval[1] < wide.interval[1]);
}

#[test]
fn both_runs_are_recorded_with_their_names_and_revisions() {
    let comparison = compared(&run(Vec::new()), &run(Vec::new()), &Rules::default());
    assert_eq!(
        (&*comparison.baseline.name, &*comparison.candidate.name),
        ("before", "after")
    );
    assert_eq!(comparison.baseline.driver.as_deref(), Some("580.159"));
    assert!(comparison.candidate.revision.is_some());
    assert!(comparison.rows.is_empty() && comparison.differences.is_empty());
}

#[test]
fn the_coarser_clock_of_the_two_runs_counts() {
    let steps = |ticks: f64| passed("nothing", &vec![vec![32.0 * ticks; 20]; 3]);
    let with_tick = |tick, result| {
        let mut run = run(vec![result]);
        run.run.device.clock_tick_ns = tick;
        run
    };
    for [of_baseline, of_candidate] in [[Some(32.0), Some(1.0)], [Some(1.0), Some(32.0)], [None, Some(32.0)]] {
        let (before, after) = (
            with_tick(of_baseline, steps(100.0)),
            with_tick(of_candidate, steps(101.0)),
        );
        let rows = compared(&before, &after, &Rules::default()).rows;
        assert_eq!(
            rows[0].verdict,
            ChangeVerdict::NoChange,
            "{of_baseline:?} {of_candidate:?}"
        );
    }
    let fine = compared(
        &with_tick(Some(1.0), steps(100.0)),
        &with_tick(Some(f64::NAN), steps(101.0)),
        &Rules::default(),
    );
    assert_eq!(fine.rows[0].verdict, ChangeVerdict::Regressed);
}
