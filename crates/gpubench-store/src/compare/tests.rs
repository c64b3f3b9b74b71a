//! Every rule of a comparison, on hand-made runs.

mod setups;
mod turns;

use regex::Regex;
use setups::with_a_kept_result;

use super::*;
use crate::testing::{Noise, Shifts, TwoLevel};
use crate::{FORMAT, FORMAT_VERSION, StoredRun};
use gpubench_contract::{Cause, Grade, Revision, Verdict, *};
use gpubench_stats::{Confidence, Looks, summary};
use gpubench_testing::gpu;

/// What most cases are made of: three workers of 20 samples, quiet ones.
const QUIET: TwoLevel = TwoLevel {
    name: "quiet",
    shifts: Shifts::Normal(0.001),
    noise: Noise::Normal(0.005),
};

fn run(results: Vec<BenchmarkComplete>) -> StoredRun {
    StoredRun {
        format: FORMAT.into(),
        format_version: FORMAT_VERSION,
        saved_at: "2026-11-20T13:44:00Z".into(),
        revision: Some(Revision {
            commit: "0123456789abcdef0123456789abcdef01234567".into(),
            branch: Some("main".into()),
            modified: false,
        }),
        run: RunStarted {
            schema_version: SchemaVersion,
            run_id: "0f3a".into(),
            started_at: "2026-11-20T13:43:00Z".into(),
            tool_version: "0.1.0".into(),
            seed_commitment: "00".repeat(32),
            device: gpu(),
            packages: vec!["suite".into()],
            cases: results.len() as u64,
            environment: environment(),
            earlier_runs: Vec::new(),
        },
        results,
        finished: None,
    }
}

fn environment() -> Environment {
    Environment {
        driver: Some("580.159".into()),
        cpu: Some("Example Processor 9000".into()),
        flush_bytes: Some(120 << 20),
        ..Environment::default()
    }
}

fn result(name: &str, verdict: Verdict) -> BenchmarkComplete {
    let started = BenchmarkStarted {
        schema_version: SchemaVersion,
        run_id: "0f3a".into(),
        package: "suite".into(),
        benchmark: name.into(),
        params: Params::default(),
        case: name.into(),
        index: 0,
    };
    BenchmarkComplete {
        environment: environment(),
        ..BenchmarkComplete::unmeasured(&started, gpu().short(), verdict)
    }
}

/// A result that passed, with the samples of some workers.
fn passed(name: &str, workers: &[Vec<f64>]) -> BenchmarkComplete {
    BenchmarkComplete {
        grade: Some(Grade::Sealed),
        execution: Some(Execution::Sealed),
        samples: workers.concat(),
        workers: workers
            .iter()
            .map(|samples| WorkerShare {
                samples: samples.len() as u64,
                value: gpubench_stats::median(samples),
            })
            .collect(),
        ..result(name, Verdict::Pass)
    }
}

/// A quiet result of about `center` nanoseconds; the name is the seed.
fn quiet(name: &str, center: f64) -> BenchmarkComplete {
    let seed = name
        .bytes()
        .fold(center.to_bits(), |seed, byte| seed.rotate_left(7) ^ u64::from(byte));
    passed(name, &QUIET.side(&mut fastrand::Rng::with_seed(seed), 3, 20, center))
}

fn with_params(params: &[(&str, i64)], result: BenchmarkComplete) -> BenchmarkComplete {
    let params = params
        .iter()
        .map(|(name, value)| ((*name).to_owned(), ParamValue::Int(*value)));
    let params = Params(params.collect());
    BenchmarkComplete {
        case: format!("{}::{params}", result.benchmark),
        params,
        ..result
    }
}

fn compared(baseline: &StoredRun, candidate: &StoredRun, rules: &Rules) -> ComparisonComplete {
    let mut candidate = candidate.clone();
    candidate.run.run_id = "0f3b".into();
    apart(baseline, &candidate, rules)
}

fn apart(baseline: &StoredRun, candidate: &StoredRun, rules: &Rules) -> ComparisonComplete {
    let named = |name, run| Contestant { name, run };
    compare(
        named("before", baseline),
        named("after", candidate),
        Arrangement::Apart,
        rules,
    )
}

/// The only row of a comparison of two results.
fn row_of(baseline: BenchmarkComplete, candidate: BenchmarkComplete, rules: &Rules) -> ComparisonRow {
    let mut rows = compared(&run(vec![baseline]), &run(vec![candidate]), rules).rows;
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

fn remark(row: &ComparisonRow) -> &str {
    row.remark.as_deref().unwrap_or_default()
}

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
fn the_same_samples_twice_are_no_change_at_all() {
    let row = row_of(quiet("axpy", 1e5), quiet("axpy", 1e5), &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::NoChange);
    assert_eq!(row.change.unwrap().ratio, 1.0);
}

#[test]
fn a_run_beside_itself_shows_its_own_figures_and_is_never_inconclusive() {
    let one_worker = passed("alone", &[vec![1e5, 2e5, 3e5]]);
    let measured = run(vec![
        quiet("gemm", 1e5),
        restless(5),
        one_worker,
        result("sort", Verdict::Timeout),
    ]);
    let itself = apart(&measured, &measured, &Rules::default());
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
fn cases_of_one_run_are_told_apart_all_the_same() {
    let measured = run(vec![quiet("naive::n=64", 1e5), quiet("tiled::m=64", 0.5e5)]);
    let row = apart(&measured, &measured, &grouped("(64)$"));
    assert!(
        row.rows.iter().all(|row| row.verdict == ChangeVerdict::NotCompared),
        "{row:#?}"
    );
    let mut kernels = [measured.clone(), measured];
    kernels[0].results.truncate(1);
    kernels[1].results.remove(0);
    let rows = apart(&kernels[0], &kernels[1], &grouped("(64)$")).rows;
    assert_eq!(
        rows[0].verdict,
        ChangeVerdict::Improved,
        "of one run, and not one measurement"
    );
}

#[test]
fn a_measurement_that_both_runs_kept_is_not_compared_with_itself() {
    let [baseline, mut candidate] = [(); 2].map(|()| with_a_kept_result(run(vec![restless(5), quiet("gemm", 100.0)])));
    candidate.run.run_id = "0f3b".into();
    let rows = apart(&baseline, &candidate, &Rules::default()).rows;
    assert_eq!(rows[0].verdict, ChangeVerdict::NoChange);
    let said = remark(&rows[0]);
    assert!(
        said.starts_with("both are the same measurement, of the run `old`"),
        "{said}"
    );
}

#[test]
fn a_row_shows_the_figures_of_the_runs_and_the_ratio_of_those() {
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

/// A result in another metric than time.
fn in_metric(name: &'static str, unit: &'static str, better: Better, result: BenchmarkComplete) -> BenchmarkComplete {
    BenchmarkComplete {
        metric: Metric {
            name: name.into(),
            unit: unit.into(),
            better,
        },
        ..result
    }
}

#[test]
fn fewer_instructions_are_an_improvement_and_a_lower_rate_is_a_regression() {
    let instructions = |center| in_metric("instructions", "instructions", Better::Lower, quiet("axpy", center));
    let row = row_of(instructions(1e5), instructions(0.9e5), &Rules::default());
    assert_eq!(
        (row.verdict, &*row.metric.name),
        (ChangeVerdict::Improved, "instructions")
    );
    let rate = |center| in_metric("rate", "B/s", Better::Higher, quiet("axpy", center));
    let row = row_of(rate(1e5), rate(0.9e5), &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::Regressed);
    assert!(
        row.change.unwrap().ratio < 0.95,
        "a ratio is the candidate's over the baseline's"
    );
}

#[test]
fn a_step_of_the_clock_is_none_of_another_metric() {
    let steps = |ticks: f64| passed("nothing", &vec![vec![32.0 * ticks; 20]; 3]);
    let counted = |ticks| in_metric("instructions", "instructions", Better::Lower, steps(ticks));
    let row = row_of(counted(20.0), counted(21.0), &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::Regressed);
}

#[test]
fn two_metrics_are_never_compared() {
    let rules = Rules {
        setups: Setups::MayDiffer,
        ..Rules::default()
    };
    let counted = in_metric("instructions", "instructions", Better::Lower, quiet("axpy", 1e5));
    let row = row_of(quiet("axpy", 1e5), counted, &rules);
    assert_eq!(row.verdict, ChangeVerdict::NotCompared);
    assert_eq!(
        remark(&row),
        "another metric: time in ns in the baseline, instructions in instructions in the candidate"
    );
}

#[test]
fn a_benchmark_s_own_threshold_counts_instead_of_the_common_one() {
    let after = quiet("axpy", 1.03e5);
    let rules = Rules {
        floors: Floors::from([(CaseKey::of(&after), 0.05)]),
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
        fences: Fences::from([(CaseKey::of(&before), fence)]),
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
fn another_benchmarks_history_does_not_count() {
    let rules = Rules {
        fences: Fences::from([(CaseKey::of(&quiet("softmax", 1e5)), 0.5)]),
        ..Rules::default()
    };
    let row = row_of(quiet("axpy", 1e5), quiet("axpy", 1.03e5), &rules);
    assert_eq!(row.verdict, ChangeVerdict::Regressed);
}

#[test]
fn fewer_than_three_workers_a_side_are_inconclusive_and_say_what_to_do() {
    let samples = vec![100_000.0, 100_100.0, 100_200.0];
    for (workers, said) in [
        (1, "one fresh worker of the baseline"),
        (2, "two fresh workers of the baseline"),
    ] {
        let few = passed("axpy", &vec![samples.clone(); workers]);
        let row = row_of(few, quiet("axpy", 2e5), &Rules::default());
        assert!(remark(&row).contains("; measure the baseline again"), "{row:?}");
        assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
        assert!(remark(&row).starts_with(said), "{row:?}");
        assert!(remark(&row).ends_with("`--workers 3`"), "{row:?}");
        assert!(row.change.is_some_and(|change| change.ratio > 1.9));
    }
}

#[test]
fn the_side_with_too_few_workers_is_the_one_to_measure_again() {
    let few = || passed("axpy", &[vec![100_000.0, 100_100.0, 100_200.0]]);
    let candidate = row_of(quiet("axpy", 2e5), few(), &Rules::default());
    assert!(
        remark(&candidate).starts_with("one fresh worker of the candidate"),
        "{candidate:?}"
    );
    assert!(
        remark(&candidate).contains("; measure the candidate again"),
        "{candidate:?}"
    );
    let both = row_of(few(), few(), &Rules::default());
    assert!(remark(&both).starts_with("one fresh worker a side"), "{both:?}");
    assert!(remark(&both).contains("; measure with at least"), "{both:?}");
}

/// A result whose workers differ so much that nothing can be told.
fn restless(workers: usize) -> BenchmarkComplete {
    let medians = [1e5, 1.4e5, 1.2e5, 0.9e5].into_iter().cycle();
    passed(
        "axpy",
        &medians.take(workers).map(|median| vec![median; 5]).collect::<Vec<_>>(),
    )
}

#[test]
fn advice_on_workers_names_the_side_that_has_fewer_and_doubles_where_both_have_the_same() {
    let advice = |baseline, candidate| {
        let row = row_of(restless(baseline), restless(candidate), &Rules::default());
        assert_eq!(row.verdict, ChangeVerdict::Inconclusive, "{row:?}");
        remark(&row).rsplit("; ").next().unwrap_or_default().to_owned()
    };
    assert_eq!(advice(5, 10), "measure the baseline again with `--workers 10`");
    assert_eq!(advice(10, 5), "measure the candidate again with `--workers 10`");
    assert_eq!(advice(10, 10), "measure both with more workers, such as `--workers 20`");
    assert_eq!(advice(40, 40), "measure both with more workers, such as `--workers 64`");
    assert_eq!(advice(64, 64), "more workers than these cannot be had");
}

#[test]
fn a_history_that_hides_changes_of_more_than_a_tenth_says_so() {
    let fenced = |fence, candidate| {
        let before = quiet("axpy", 1e5);
        let rules = Rules {
            fences: Fences::from([(CaseKey::of(&before), fence)]),
            ..Rules::default()
        };
        row_of(before, candidate, &rules)
    };
    let hidden = fenced(1.84, quiet("axpy", 1.5e5));
    assert_eq!(hidden.verdict, ChangeVerdict::WithinNoise);
    assert_eq!(remark(&hidden), "the history is too noisy to tell changes below 184%");
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
fn results_that_do_not_tell_workers_apart_are_those_of_one() {
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
fn shares_that_do_not_add_up_are_those_of_one_worker() {
    for wrong in [0, 19, 21, u64::MAX] {
        let mut broken = quiet("axpy", 1e5);
        broken.workers[1].samples = wrong;
        let row = row_of(broken, quiet("axpy", 1e5), &Rules::default());
        assert_eq!(row.baseline.workers, 1, "{wrong}");
    }
}

#[test]
fn samples_that_cannot_rule_out_a_change_are_inconclusive_and_say_how_large_a_one() {
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
fn new_and_removed_benchmarks_are_listed_and_make_no_row() {
    let baseline = run(vec![quiet("gone", 1e5), quiet("kept", 1e5)]);
    let candidate = run(vec![quiet("kept", 1e5), quiet("added", 1e5)]);
    let comparison = compared(&baseline, &candidate, &Rules::default());
    assert_eq!(
        (comparison.new, comparison.removed),
        (vec!["added".to_owned()], vec!["gone".to_owned()])
    );
    assert_eq!(comparison.rows.len(), 1);
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
fn benchmarks_match_by_package_name_and_values_in_whatever_order_and_form() {
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

fn grouped(expression: &str) -> Rules {
    Rules {
        matching: Matching::Groups(Regex::new(expression).unwrap()),
        ..Rules::default()
    }
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
fn what_the_expression_does_not_find_takes_no_part() {
    let runs = [1e5, 1.1e5].map(|center| run(vec![quiet("gemm", center), quiet("axpy", center)]));
    let comparison = compared(&runs[0], &runs[1], &grouped("suite::(gemm)"));
    assert_eq!(comparison.rows.len(), 1);
    assert!(comparison.new.is_empty() && comparison.removed.is_empty());
}

#[test]
fn a_group_of_several_benchmarks_is_not_compared_and_names_them() {
    let runs = [1e5, 1.1e5].map(|center| run(vec![quiet("gemm_a", center), quiet("gemm_b", center)]));
    let comparison = compared(&runs[0], &runs[1], &grouped("(gemm)_"));
    assert_eq!(comparison.rows.len(), 2);
    for row in &comparison.rows {
        assert_eq!(row.verdict, ChangeVerdict::NotCompared);
        assert!(remark(row).starts_with("`gemm_a`, `gemm_b` are one group"), "{row:?}");
    }
}

#[test]
fn a_side_that_did_not_pass_is_not_compared_and_shows_no_figure() {
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
fn what_both_runs_skipped_makes_no_row() {
    let runs = [(); 2].map(|()| run(vec![result("tensor_cores", Verdict::Skipped)]));
    let comparison = compared(&runs[0], &runs[1], &Rules::default());
    assert!(comparison.rows.is_empty() && comparison.new.is_empty() && comparison.removed.is_empty());
}

#[test]
fn a_candidate_that_fails_where_the_baseline_passed_is_told_from_one_that_always_did() {
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
fn a_time_of_zero_has_no_ratio() {
    let zero = passed("nothing", &vec![vec![0.0; 9]; 3]);
    let row = row_of(zero, quiet("nothing", 1e5), &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::NotCompared);
    assert_eq!(remark(&row), "a time that is not above zero has no ratio");
}

#[test]
fn a_confidence_that_is_asked_for_is_used_and_told() {
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
fn both_runs_are_told_with_their_names_and_revisions() {
    let comparison = compared(&run(Vec::new()), &run(Vec::new()), &Rules::default());
    assert_eq!(
        (&*comparison.baseline.name, &*comparison.candidate.name),
        ("before", "after")
    );
    assert_eq!(comparison.baseline.driver.as_deref(), Some("580.159"));
    assert!(comparison.candidate.revision.is_some());
    assert!(comparison.rows.is_empty() && comparison.differences.is_empty());
}
