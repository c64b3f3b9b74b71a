//! Tests of the number of fresh workers per side.

use super::*;

#[test]
fn fewer_than_three_workers_per_side_are_inconclusive_with_advice() {
    let samples = vec![100_000.0, 100_100.0, 100_200.0];
    for (workers, remark_start) in [
        (1, "one fresh worker in the baseline"),
        (2, "two fresh workers in the baseline"),
    ] {
        let few = passed("axpy", &vec![samples.clone(); workers]);
        let row = row_of(few, quiet("axpy", 2e5), &Rules::default());
        assert!(remark(&row).contains("; measure the baseline again"), "{row:?}");
        assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
        assert!(remark(&row).starts_with(remark_start), "{row:?}");
        assert!(remark(&row).ends_with("`--workers 3`"), "{row:?}");
        assert!(row.change.is_some_and(|change| change.ratio > 1.9));
    }
}

#[test]
fn the_side_with_too_few_workers_is_the_one_to_measure_again() {
    let few = || passed("axpy", &[vec![100_000.0, 100_100.0, 100_200.0]]);
    let candidate = row_of(quiet("axpy", 2e5), few(), &Rules::default());
    assert!(
        remark(&candidate).starts_with("one fresh worker in the candidate"),
        "{candidate:?}"
    );
    assert!(
        remark(&candidate).contains("; measure the candidate again"),
        "{candidate:?}"
    );
    let both = row_of(few(), few(), &Rules::default());
    assert!(remark(&both).starts_with("one fresh worker per side"), "{both:?}");
    assert!(remark(&both).contains("; measure with at least"), "{both:?}");
}

#[test]
fn the_advice_names_the_side_with_fewer_workers_or_doubles_both() {
    let advice = |baseline, candidate| {
        let row = row_of(restless(baseline), restless(candidate), &Rules::default());
        assert_eq!(row.verdict, ChangeVerdict::Inconclusive, "{row:?}");
        remark(&row).rsplit("; ").next().unwrap_or_default().to_owned()
    };
    assert_eq!(advice(5, 10), "measure the baseline again with `--workers 10`");
    assert_eq!(advice(10, 5), "measure the candidate again with `--workers 10`");
    assert_eq!(advice(10, 10), "measure both with more workers, such as `--workers 20`");
    assert_eq!(advice(40, 40), "measure both with more workers, such as `--workers 64`");
    assert_eq!(advice(64, 64), "both runs already have the maximum number of workers");
}

#[test]
fn results_without_worker_counts_count_as_one_worker() {
    let pooled = |result: BenchmarkComplete| BenchmarkComplete {
        workers: Vec::new(),
        ..result
    };
    let row = row_of(
        pooled(quiet("axpy", 1e5)),
        pooled(quiet("axpy", 1e5)),
        &Rules::default(),
    );
    assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
    assert_eq!(row.baseline.workers, 1);
}

#[test]
fn counts_that_do_not_add_up_count_as_one_worker() {
    for wrong in [0, 19, 21, u64::MAX] {
        let mut broken = quiet("axpy", 1e5);
        broken.workers[1].samples = wrong;
        let row = row_of(broken, quiet("axpy", 1e5), &Rules::default());
        assert_eq!(row.baseline.workers, 1, "{wrong}");
    }
}
