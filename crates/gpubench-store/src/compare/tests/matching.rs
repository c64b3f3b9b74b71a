//! Tests of matching results.

use super::*;

#[test]
fn new_and_removed_benchmarks_are_listed_without_a_row() {
    let baseline = run(vec![quiet("gone", 1e5), quiet("kept", 1e5)]);
    let candidate = run(vec![quiet("kept", 1e5), quiet("added", 1e5)]);
    let comparison = compared(&baseline, &candidate, &Rules::default());
    assert_eq!(
        (comparison.new, comparison.removed),
        (vec!["added".to_owned()], vec!["gone".to_owned()])
    );
    assert_eq!(comparison.rows.len(), 1);
}

fn warm(result: BenchmarkComplete) -> BenchmarkComplete {
    BenchmarkComplete {
        mode: Mode::Warm,
        ..result
    }
}

#[test]
fn each_mode_of_a_case_is_compared_with_the_same_mode() {
    let both = |cold: f64, hot: f64| run(vec![quiet("axpy", cold), warm(quiet("axpy", hot))]);
    let comparison = compared(&both(1e5, 5e4), &both(1e5, 6e4), &Rules::default());
    let rows: Vec<(Mode, ChangeVerdict)> = comparison.rows.iter().map(|row| (row.mode, row.verdict)).collect();
    assert_eq!(
        rows,
        [
            (Mode::Cold, ChangeVerdict::NoChange),
            (Mode::Warm, ChangeVerdict::Regressed)
        ]
    );
    let label = comparison.rows[1].label();
    assert_eq!(comparison.rows_by_result()[&comparison.rows[1].key()].label(), label);
}

#[test]
fn benchmarks_of_a_renamed_package_are_listed_with_it() {
    let of_package = |package: &str| {
        run(vec![BenchmarkComplete {
            package: package.to_owned(),
            ..quiet("axpy", 1e5)
        }])
    };
    let comparison = compared(&of_package("before"), &of_package("after"), &Rules::default());
    assert_eq!(
        (comparison.new, comparison.removed),
        (vec!["after axpy".to_owned()], vec!["before axpy".to_owned()])
    );
}

#[test]
fn a_mode_that_only_one_run_has_is_new_or_removed() {
    let one = || run(vec![quiet("axpy", 1e5)]);
    let both = || run(vec![quiet("axpy", 1e5), warm(quiet("axpy", 5e4))]);
    let later = compared(&one(), &both(), &Rules::default());
    assert_eq!((later.rows.len(), later.new), (1, vec!["axpy [warm]".to_owned()]));
    let earlier = compared(&both(), &one(), &Rules::default());
    assert_eq!(
        (earlier.rows.len(), earlier.removed),
        (1, vec!["axpy [warm]".to_owned()])
    );
}

#[test]
fn the_threshold_of_one_mode_is_not_that_of_another() {
    let both = || run(vec![quiet("axpy", 1e5), warm(quiet("axpy", 5e4))]);
    let rules = Rules {
        floors: Floors::from([(warm(quiet("axpy", 1e5)).key(), 0.2)]),
        ..Rules::default()
    };
    let rows = compared(&both(), &both(), &rules).rows;
    let thresholds: Vec<f64> = rows
        .iter()
        .map(|row| row.change.as_ref().expect("a change").threshold)
        .collect();
    assert_eq!(thresholds, [Rules::FLOOR, 0.2]);
}

#[test]
fn rows_are_in_the_order_of_the_candidate() {
    let baseline = run(vec![quiet("a", 1e5), quiet("b", 1e5), quiet("c", 1e5)]);
    let candidate = run(vec![quiet("c", 1e5), quiet("a", 1e5), quiet("b", 1e5)]);
    let cases: Vec<String> = compared(&baseline, &candidate, &Rules::default())
        .rows
        .into_iter()
        .map(|row| row.case)
        .collect();
    assert_eq!(cases, ["c", "a", "b"]);
}

#[test]
fn benchmarks_match_by_package_name_and_values_in_any_order_and_form() {
    let before = with_params(&[("m", 1), ("n", 2)], quiet("axpy", 1e5));
    let after = BenchmarkComplete {
        case: "suite::axpy::n=2,m=1".into(),
        ..with_params(&[("n", 2), ("m", 1)], quiet("axpy", 1e5))
    };
    let row = row_of(before, after, &Rules::default());
    assert_eq!(
        (&*row.baseline_case, &*row.case),
        ("axpy::m=1,n=2", "suite::axpy::n=2,m=1")
    );
    let other_package = BenchmarkComplete {
        package: "other".into(),
        ..quiet("axpy", 1e5)
    };
    let comparison = compared(
        &run(vec![quiet("axpy", 1e5)]),
        &run(vec![other_package]),
        &Rules::default(),
    );
    assert!(comparison.rows.is_empty());
}

#[test]
fn groups_match_benchmarks_of_different_names_and_packages() {
    let before = with_params(&[("n", 64)], quiet("gemm::tiled", 1e5));
    let after = BenchmarkComplete {
        package: "other".into(),
        ..with_params(&[("n", 64)], quiet("fast::gemm", 0.5e5))
    };
    let row = row_of(before, after, &grouped("(n=.*)$"));
    assert_eq!(row.verdict, ChangeVerdict::Improved);
    assert_eq!(
        (&*row.baseline_case, &*row.case),
        ("gemm::tiled::n=64", "fast::gemm::n=64")
    );
}

#[test]
fn benchmarks_that_the_expression_does_not_match_are_left_out() {
    let runs = [1e5, 1.1e5].map(|center| run(vec![quiet("gemm", center), quiet("axpy", center)]));
    let comparison = compared(&runs[0], &runs[1], &grouped("suite::(gemm)"));
    assert_eq!(comparison.rows.len(), 1);
    assert!(comparison.new.is_empty() && comparison.removed.is_empty());
}

#[test]
fn a_group_of_several_benchmarks_is_not_compared_and_lists_them() {
    let runs = [1e5, 1.1e5].map(|center| run(vec![quiet("gemm_a", center), quiet("gemm_b", center)]));
    let comparison = compared(&runs[0], &runs[1], &grouped("(gemm)_"));
    assert_eq!(comparison.rows.len(), 2);
    for row in &comparison.rows {
        assert_eq!(row.verdict, ChangeVerdict::NotCompared);
        assert!(
            remark(row).starts_with("the groups of `-g` capture the same text from `gemm_a`, `gemm_b`; "),
            "{row:?}"
        );
    }
}

#[test]
fn the_benchmarks_that_share_a_group_are_named_whichever_side_has_them() {
    let [one, two] = ["gemm_a", "gemm_b"].map(|name| quiet(name, 1e5));
    let both = run(vec![one.clone(), two]);
    for (baseline, candidate) in [(run(vec![one.clone()]), both.clone()), (both, run(vec![one]))] {
        for row in compared(&baseline, &candidate, &grouped("(gemm)_")).rows {
            assert_eq!(row.verdict, ChangeVerdict::NotCompared);
            assert!(remark(&row).contains(" from `gemm_a`, `gemm_b`; "), "{row:?}");
        }
    }
}

#[test]
fn the_text_of_groups_is_compared_group_by_group() {
    let baseline = run(vec![quiet("ab_c", 1e5)]);
    let candidate = run(vec![quiet("a_bc", 1e5)]);
    let comparison = compared(&baseline, &candidate, &grouped("::(a.*)_(.*)$"));
    assert_eq!(
        (comparison.rows.len(), comparison.new.len(), comparison.removed.len()),
        (0, 1, 1)
    );
}

#[test]
fn a_row_is_named_after_the_candidate_and_names_the_case_of_the_baseline() {
    let of = |package: &str, name: &str| BenchmarkComplete {
        package: package.to_owned(),
        ..quiet(name, 1e5)
    };
    let row = row_of(of("before", "gemm_a"), of("after", "gemm_b"), &grouped("(gemm)_"));
    assert_eq!((&*row.package, &*row.benchmark), ("after", "gemm_b"));
    assert_eq!((&*row.case, &*row.baseline_case), ("gemm_b", "gemm_a"));
}

#[test]
fn the_only_mode_of_a_case_in_each_run_is_neither_new_nor_removed() {
    let comparison = compared(
        &run(vec![quiet("axpy", 1e5)]),
        &run(vec![warm(quiet("axpy", 1e5))]),
        &Rules::default(),
    );
    assert_eq!(
        (comparison.rows.len(), comparison.new.len(), comparison.removed.len()),
        (1, 0, 0)
    );
}
