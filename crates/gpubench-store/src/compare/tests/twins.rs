//! Tests of drift between two separate runs.

use super::*;

/// Returns a result on a machine that is slower by `factor`: its twin and its samples are slower.
fn on_a_machine(factor: f64, result: BenchmarkComplete) -> BenchmarkComplete {
    let rounds = STEADY.map(|round| round.iter().map(|time| time * factor).collect::<Vec<_>>());
    BenchmarkComplete {
        twin: twin(&rounds.each_ref().map(Vec::as_slice)),
        ..result
    }
}

fn without_a_twin(result: BenchmarkComplete) -> BenchmarkComplete {
    BenchmarkComplete { twin: None, ..result }
}

#[test]
fn drift_is_not_a_change_of_the_code() {
    let slower = on_a_machine(1.2, quiet("axpy", 1.2e5));
    let row = row_of(quiet("axpy", 1e5), slower, &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
    assert_eq!(
        remark(&row),
        "the machine drifted by +20.0% between the runs, so a change beyond 5.00% cannot be ruled out; use `--against REVISION` to decide"
    );
    let change = row.change.unwrap();
    assert!((change.ratio - 1.2).abs() < 0.01, "{change:?}");
    assert!((change.drift.unwrap() - 1.2).abs() < 1e-9, "{change:?}");
}

#[test]
fn a_change_larger_than_the_drift_is_found() {
    let slower = on_a_machine(1.02, quiet("axpy", 1.15e5));
    let row = row_of(quiet("axpy", 1e5), slower, &Rules::default());
    assert_eq!((row.verdict, &row.remark), (ChangeVerdict::Regressed, &None));
    let change = row.change.unwrap();
    assert!((change.ratio - 1.15).abs() < 0.01, "as measured: {change:?}");
    assert!((change.drift.unwrap() - 1.02).abs() < 1e-9, "{change:?}");
    assert!(change.interval[0] > 1.0 && change.interval[0] < 1.15 / 1.02 && change.interval[1] > 1.15);
}

#[test]
fn a_kernel_that_drift_did_not_slow_down_has_not_improved() {
    let row = row_of(
        quiet("axpy", 1e5),
        on_a_machine(1.1, quiet("axpy", 1e5)),
        &Rules::default(),
    );
    assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
}

#[test]
fn separate_runs_are_inconclusive_if_one_has_no_twin() {
    for (before, after) in [
        (without_a_twin(quiet("axpy", 1e5)), quiet("axpy", 1.3e5)),
        (quiet("axpy", 1e5), without_a_twin(quiet("axpy", 1.3e5))),
    ] {
        let row = row_of(before, after, &Rules::default());
        assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
        assert!(
            remark(&row)
                .ends_with("one of them has no twin (the tool's own fixed job); use `--against REVISION` to decide"),
            "{row:?}"
        );
        let change = row.change.unwrap();
        assert!(change.ratio > 1.2 && change.drift.is_none(), "{change:?}");
    }
}

#[test]
fn a_result_of_an_older_version_is_read_without_a_twin() {
    let mut result = serde_json::to_value(quiet("axpy", 1e5)).unwrap();
    assert!(result.as_object_mut().unwrap().remove("twin").is_some());
    let read: BenchmarkComplete = serde_json::from_value(result).unwrap();
    assert_eq!(read, without_a_twin(quiet("axpy", 1e5)));
}

#[test]
fn a_twin_with_different_rounds_makes_the_drift_uncertain() {
    let restless = |factor: f64| BenchmarkComplete {
        twin: twin(&[&[50_000.0], &[50_000.0 * factor], &[50_000.0 / factor]]),
        ..quiet("axpy", 1.1e5)
    };
    let of = |factor| row_of(quiet("axpy", 1e5), restless(factor), &Rules::default());
    assert_eq!(of(1.001).verdict, ChangeVerdict::Regressed);
    assert_eq!(of(1.2).verdict, ChangeVerdict::Inconclusive);
}

#[test]
fn drift_of_other_cases_counts_too() {
    let measured = |axpy: BenchmarkComplete, others: f64| {
        let others = ["gemm", "sort", "scan"].map(|name| on_a_machine(others, quiet(name, 1e5)));
        run([axpy].into_iter().chain(others).collect())
    };
    let verdict = |others| {
        let baseline = measured(quiet("axpy", 1e5), 1.0);
        let candidate = measured(on_a_machine(1.000_1, quiet("axpy", 1.1e5)), others);
        compared(&baseline, &candidate, &Rules::default()).rows[0].verdict
    };
    assert_eq!(verdict(1.01), ChangeVerdict::Regressed);
    assert_eq!(verdict(1.15), ChangeVerdict::Inconclusive);
}

#[test]
fn alternating_sides_need_no_twins() {
    let measured = |center| run(vec![without_a_twin(quiet("axpy", center))]);
    let (baseline, candidate) = (measured(1e5), measured(1.1e5));
    let named = |name, run| NamedRun { name, run };
    let (baseline, candidate) = (named("before", &baseline), named("after", &candidate));
    let rows = compare(baseline, candidate, Arrangement::Interleaved, &Rules::default()).rows;
    assert_eq!((rows[0].verdict, &rows[0].remark), (ChangeVerdict::Regressed, &None));
}

#[test]
fn results_with_one_twin_say_nothing_about_the_drift_between_the_others() {
    let drifted = |name: &str| (quiet(name, 1e5), on_a_machine(1.03, quiet(name, 1.03e5)));
    let (before, after) = drifted("axpy");
    let alone = compared(&run(vec![before.clone()]), &run(vec![after.clone()]), &Rules::default());
    let kept: Vec<BenchmarkComplete> = (0..9).map(|number| quiet(&format!("kept{number}"), 1e5)).collect();
    let with_kept = |result| run([vec![result], kept.clone()].concat());
    let among_others = compared(&with_kept(before), &with_kept(after), &Rules::default());
    assert_eq!(among_others.rows[0].change, alone.rows[0].change);
}
