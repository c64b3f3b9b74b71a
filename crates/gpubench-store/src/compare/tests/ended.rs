//! Tests of sides that were skipped or failed.

use super::*;

#[test]
fn a_side_that_did_not_pass_is_not_compared_and_has_no_value() {
    let failed = BenchmarkComplete {
        samples: vec![1.0, 2.0],
        ..result("axpy", Verdict::WrongOutput)
    };
    let row = row_of(quiet("axpy", 1e5), failed, &Rules::default());
    assert_eq!((row.verdict, row.change.is_none()), (ChangeVerdict::NowFails, true));
    assert_eq!(remark(&row), "the candidate ended in `wrong-output`");
    assert_eq!(row.candidate.value, None);
    let row = row_of(result("axpy", Verdict::Skipped), quiet("axpy", 1e5), &Rules::default());
    assert_eq!(remark(&row), "the baseline was skipped");
    let broken = BenchmarkComplete {
        cause: Some(Cause::CompileFailed),
        ..result("axpy", Verdict::Error)
    };
    let row = row_of(result("axpy", Verdict::Skipped), broken, &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::NotCompared);
    assert_eq!(remark(&row), "the candidate ended in `error: compile-failed`");
}

#[test]
fn a_benchmark_that_both_runs_skipped_has_no_row() {
    let runs = [(); 2].map(|()| run(vec![result("tensor_cores", Verdict::Skipped)]));
    let comparison = compared(&runs[0], &runs[1], &Rules::default());
    assert!(comparison.rows.is_empty() && comparison.new.is_empty() && comparison.removed.is_empty());
}

#[test]
fn a_benchmark_that_passed_without_samples_has_a_row_only_against_one_with_a_value() {
    let untimed = || result("axpy", Verdict::Pass);
    for other in [untimed(), result("axpy", Verdict::Skipped)] {
        let comparison = compared(&run(vec![other]), &run(vec![untimed()]), &Rules::default());
        assert!(comparison.rows.is_empty() && comparison.new.is_empty() && comparison.removed.is_empty());
    }
    let row = row_of(quiet("axpy", 1e5), untimed(), &Rules::default());
    assert_eq!(
        (row.verdict, remark(&row)),
        (ChangeVerdict::NotCompared, "the candidate has no time")
    );
    let row = row_of(untimed(), quiet("axpy", 1e5), &Rules::default());
    assert_eq!(remark(&row), "the baseline has no time");
    let row = row_of(untimed(), result("axpy", Verdict::WrongOutput), &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::NowFails);
}

#[test]
fn a_new_failure_differs_from_an_old_one() {
    let failed = || result("axpy", Verdict::WrongOutput);
    let newly = compared(&run(vec![quiet("axpy", 1e5)]), &run(vec![failed()]), &Rules::default());
    assert!(newly.has_newly_failed() && !newly.has_regressed());
    let still = compared(&run(vec![failed()]), &run(vec![failed()]), &Rules::default());
    assert!(!still.has_newly_failed());
    assert_eq!(still.rows[0].verdict, ChangeVerdict::NotCompared);
    let mut on_another_device = run(vec![failed()]);
    on_another_device.run.device.name = "NVIDIA B200".into();
    let elsewhere = compared(&run(vec![quiet("axpy", 1e5)]), &on_another_device, &Rules::default());
    assert!(elsewhere.has_newly_failed(), "another device does not excuse it");
}

#[test]
fn a_side_that_passes_only_alone_is_not_compared() {
    let only_alone = BenchmarkComplete {
        failed_alternating: Some(FailedAlternating {
            rival: "the baseline".to_owned(),
            verdict: Verdict::Timeout,
            cause: Some(Cause::Slow),
            message: None,
        }),
        ..quiet("axpy", 2e5)
    };
    for (baseline, candidate, side) in [
        (quiet("axpy", 1e5), only_alone.clone(), "candidate"),
        (only_alone, quiet("axpy", 1e5), "baseline"),
    ] {
        let row = row_of(baseline, candidate, &Rules::default());
        assert_eq!((row.verdict, &row.change), (ChangeVerdict::NotCompared, &None));
        let expected = format!("the {side} ended in `timeout` when it alternated with the baseline, and passes alone");
        assert_eq!(remark(&row), expected);
    }
}

#[test]
fn only_an_error_has_its_cause_in_the_remark() {
    for (verdict, cause, told) in [
        (Verdict::WrongOutput, Cause::Mismatch, "`wrong-output`"),
        (Verdict::Error, Cause::BlindCheck, "`error: blind-check`"),
    ] {
        let failed = BenchmarkComplete {
            cause: Some(cause),
            message: Some("not shown".to_owned()),
            ..result("axpy", verdict)
        };
        let row = row_of(quiet("axpy", 1e5), failed, &Rules::default());
        assert_eq!(remark(&row), format!("the candidate ended in {told}"));
    }
    let skipped = BenchmarkComplete {
        message: Some("needs 2 GiB".to_owned()),
        ..result("axpy", Verdict::Skipped)
    };
    let row = row_of(quiet("axpy", 1e5), skipped, &Rules::default());
    assert_eq!(
        (row.verdict, remark(&row)),
        (ChangeVerdict::NotCompared, "the candidate was skipped: needs 2 GiB")
    );
}

#[test]
fn a_failure_names_the_side_that_prevents_the_comparison() {
    let wrong = || result("axpy", Verdict::WrongOutput);
    let skipped = || result("axpy", Verdict::Skipped);
    for (baseline, candidate, told) in [
        (
            wrong(),
            result("axpy", Verdict::Crashed),
            "the baseline ended in `wrong-output`",
        ),
        (wrong(), skipped(), "the baseline ended in `wrong-output`"),
        (skipped(), wrong(), "the candidate ended in `wrong-output`"),
        (skipped(), quiet("axpy", 1e5), "the baseline was skipped"),
        (quiet("axpy", 1e5), skipped(), "the candidate was skipped"),
    ] {
        let row = row_of(baseline, candidate, &Rules::default());
        assert_eq!((row.verdict, remark(&row)), (ChangeVerdict::NotCompared, told));
    }
}
