//! Tests of metrics other than time.

use super::*;

/// Returns the result in a metric other than time.
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
        "the ratio is the candidate's value divided by the baseline's"
    );
}

/// Three counts of one worker.
fn counted(counts: [f64; 3]) -> BenchmarkComplete {
    in_metric(
        "instructions",
        "instructions",
        Better::Lower,
        passed("axpy", &[counts.to_vec()]),
    )
}

#[test]
fn a_count_of_one_worker_that_changed_by_0_3_percent_is_a_change_and_one_of_0_1_percent_is_noise() {
    let count = 1_507_328.0;
    let verdict = |factor: f64| {
        let row = row_of(
            counted([count; 3]),
            counted([(count * factor).round(); 3]),
            &Rules::default(),
        );
        let change = row.change.as_ref().unwrap();
        assert_eq!(
            (change.threshold, change.threshold_source),
            (Rules::COUNT_FLOOR, ThresholdSource::Floor)
        );
        assert_eq!(remark(&row), "");
        row.verdict
    };
    assert_eq!(verdict(1.003), ChangeVerdict::Regressed);
    assert_eq!(verdict(0.997), ChangeVerdict::Improved);
    assert_eq!(verdict(1.001), ChangeVerdict::WithinNoise);
    assert_eq!(verdict(1.0), ChangeVerdict::NoChange);
}

/// Returns the row of two counts whose runs had different seeds.
fn row_of_other_inputs(baseline: BenchmarkComplete, candidate: BenchmarkComplete) -> ComparisonRow {
    let mut after = run(vec![candidate]);
    after.run.seed_commitment = "11".repeat(32);
    compared(&run(vec![baseline]), &after, &Rules::default()).rows.remove(0)
}

#[test]
fn counts_that_vary_change_only_by_more_than_their_spread() {
    let before = counted([10_000.0, 10_010.0, 10_020.0]);
    let apart_by_chance = counted([10_021.0, 10_031.0, 10_041.0]);
    let near = row_of_other_inputs(before.clone(), apart_by_chance);
    assert_eq!(near.verdict, ChangeVerdict::NoChange);
    assert!(
        remark(&near).starts_with("calls of one run have different counts, so a change below 0.38%"),
        "{}",
        remark(&near)
    );
    let far = row_of_other_inputs(before, counted([10_100.0, 10_110.0, 10_120.0]));
    assert_eq!(far.verdict, ChangeVerdict::Regressed);
}

#[test]
fn counts_of_two_runs_without_a_seed_are_not_of_the_same_inputs() {
    let [before, after] = [[10_000.0, 10_010.0, 10_020.0], [10_021.0, 10_031.0, 10_041.0]].map(counted);
    let [mut before, mut after] = [before, after].map(|result| run(vec![result]));
    before.run.seed_commitment.clear();
    after.run.seed_commitment.clear();
    let row = compared(&before, &after, &Rules::default()).rows.remove(0);
    assert_eq!(row.verdict, ChangeVerdict::NoChange);
}

#[test]
fn counts_of_the_same_inputs_are_compared_call_by_call() {
    let before = counted([1_000_000.0, 2_000_000.0, 3_000_000.0]);
    let after = || counted([1_003_000.0, 2_006_000.0, 3_009_000.0]);
    let row = row_of(before.clone(), after(), &Rules::default());
    assert_eq!((row.verdict, remark(&row)), (ChangeVerdict::Regressed, ""));
    let own = row_of_other_inputs(before.clone(), after());
    assert_eq!(own.verdict, ChangeVerdict::Inconclusive);
    let alternating = |baseline, candidate| {
        let [baseline, candidate] = [baseline, candidate].map(|result| run(vec![result]));
        let [baseline, candidate] = [("a", &baseline), ("b", &candidate)].map(|(name, run)| NamedRun { name, run });
        compare(baseline, candidate, Arrangement::Interleaved, &Rules::default())
            .rows
            .remove(0)
    };
    assert_eq!(
        alternating(before, after()).verdict,
        ChangeVerdict::Inconclusive,
        "each side has inputs of its own"
    );
}

#[test]
fn threads_that_race_spread_even_on_the_same_inputs() {
    let row = row_of(
        counted([1_000.0, 1_010.0, 1_020.0]),
        counted([1_020.0, 1_000.0, 1_010.0]),
        &Rules::default(),
    );
    assert!(
        remark(&row).starts_with("calls on the same inputs have different counts"),
        "{}",
        remark(&row)
    );
}

#[test]
fn a_count_has_a_threshold_of_its_own() {
    let rules = Rules {
        floor: 0.05,
        count_floor: 0.001,
        ..Rules::default()
    };
    let row = row_of(counted([1e6; 3]), counted([1.002e6; 3]), &rules);
    assert_eq!(row.verdict, ChangeVerdict::Regressed);
    let none = row_of(counted([0.0; 3]), counted([0.0; 3]), &rules);
    assert_eq!(remark(&none), "a count of zero has no ratio");
}

#[test]
fn the_step_of_the_clock_does_not_apply_to_other_metrics() {
    let steps = |ticks: f64| passed("nothing", &vec![vec![32.0 * ticks; 20]; 3]);
    let counted = |ticks| in_metric("instructions", "instructions", Better::Lower, steps(ticks));
    let row = row_of(counted(20.0), counted(21.0), &Rules::default());
    assert_eq!(row.verdict, ChangeVerdict::Regressed);
}

#[test]
fn different_metrics_are_never_compared() {
    let rules = Rules {
        setups: Setups::MayDiffer,
        ..Rules::default()
    };
    let counted = in_metric("instructions", "instructions", Better::Lower, quiet("axpy", 1e5));
    let row = row_of(quiet("axpy", 1e5), counted, &rules);
    assert_eq!(row.verdict, ChangeVerdict::NotCompared);
    assert_eq!(
        remark(&row),
        "different metrics: time in ns in the baseline, instructions in instructions in the candidate"
    );
}

/// Counts of one worker whose last call has these instructions of `(kernel, function)`.
fn with_machine_code(mut result: BenchmarkComplete, code: Result<(&str, u64), &str>) -> BenchmarkComplete {
    let counts = result.counts.as_mut().unwrap();
    match code {
        Ok((digest, loads)) => counts.machine_code.push(MachineCode {
            kernel: "softmax".to_owned(),
            digest: digest.to_owned(),
            opcodes: [("LDG.E".to_owned(), loads)].into(),
        }),
        Err(reason) => counts.no_machine_code = Some(reason.to_owned()),
    }
    result
}

#[test]
fn machine_code_is_compared_for_the_kernels_whose_counts_changed() {
    let counted = |instructions| counted_by_function(&[("softmax", None, instructions)]);
    let row = |before: f64, code_before, after: f64, code_after| {
        let [before, after] = [(before, code_before), (after, code_after)]
            .map(|(instructions, code)| with_machine_code(counted(instructions), code));
        row_of(before, after, &Rules::default()).machine_code
    };
    let changed = row(1_000.0, Ok(("a", 1)), 2_000.0, Ok(("b", 3)));
    assert_eq!(changed[0].outcome, MachineCodeOutcome::Changed);
    assert_eq!(
        (changed[0].opcodes[0].baseline, changed[0].opcodes[0].candidate),
        (1, 3)
    );
    let unknown = row(1_000.0, Err("found no `nvdisasm`"), 2_000.0, Ok(("b", 3)));
    assert_eq!(unknown[0].outcome, MachineCodeOutcome::Unknown);
    assert_eq!(unknown[0].reason.as_deref(), Some("baseline: found no `nvdisasm`"));
    let same_count = row(1_000.0, Ok(("a", 1)), 1_000.0, Ok(("b", 3)));
    assert_eq!(same_count, []);
    let silent = row_of(counted(1_000.0), counted(2_000.0), &Rules::default());
    assert_eq!(silent.machine_code, [], "the CPU device has none");
}

fn counted_by_function(functions: &[(&str, Option<&str>, f64)]) -> BenchmarkComplete {
    let count = |(kernel, function, instructions): &(&str, Option<&str>, f64)| FunctionCount {
        kernel: (*kernel).to_owned(),
        function: function.map(str::to_owned),
        instructions: *instructions,
    };
    BenchmarkComplete {
        counts: Some(Counts {
            functions: functions.iter().map(count).collect(),
            ..Counts::default()
        }),
        ..counted([functions.iter().map(|(.., instructions)| instructions).sum(); 3])
    }
}

#[test]
fn the_functions_whose_counts_changed_are_listed_with_the_largest_difference_first() {
    let before = counted_by_function(&[
        ("softmax", Some("softmax"), 900.0),
        ("softmax", Some("expf"), 80.0),
        ("softmax", Some("memcpy"), 20.0),
        ("fill", None, 7.0),
    ]);
    let after = counted_by_function(&[
        ("softmax", Some("softmax"), 910.0),
        ("softmax", Some("exp2f"), 40.0),
        ("softmax", Some("memcpy"), 20.0),
        ("fill", None, 7.0),
    ]);
    let row = row_of(before.clone(), after, &Rules::default());
    let listed: Vec<(String, f64, f64)> = row
        .functions
        .iter()
        .map(|change| (change.name(), change.baseline, change.candidate))
        .collect();
    let expected = [
        ("expf in softmax", 80.0, 0.0),
        ("exp2f in softmax", 0.0, 40.0),
        ("softmax", 900.0, 910.0),
    ];
    assert_eq!(
        listed,
        expected.map(|(name, before, after)| (name.to_owned(), before, after))
    );
    let same = row_of(before.clone(), before.clone(), &Rules::default());
    assert_eq!(same.functions, []);
    let without_functions = row_of(before, counted([2_000.0; 3]), &Rules::default());
    assert_eq!(without_functions.functions, []);
}

#[test]
fn counts_of_two_benchmarks_are_not_of_the_same_inputs_though_the_seed_is_the_same() {
    let named = |name: &str, counts| BenchmarkComplete {
        benchmark: name.into(),
        case: name.into(),
        ..counted(counts)
    };
    let before = named("gemm_a", [1_000_000.0, 2_000_000.0, 3_000_000.0]);
    let after = named("gemm_b", [1_003_000.0, 2_006_000.0, 3_009_000.0]);
    let row = row_of(before, after, &grouped("(gemm)_"));
    assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
    assert!(
        remark(&row).starts_with("calls of one run have different counts"),
        "{row:?}"
    );
}

#[test]
fn instructions_that_went_away_count_as_much_as_those_that_came() {
    let before = counted_by_function(&[("a", None, 10.0), ("b", None, 1_000.0), ("c", None, 500.0)]);
    let after = counted_by_function(&[("a", None, 20.0), ("b", None, 100.0), ("c", None, 900.0)]);
    let row = row_of(before, after, &Rules::default());
    let names: Vec<String> = row.functions.iter().map(FunctionChange::name).collect();
    assert_eq!(names, ["b", "c", "a"]);
}

#[test]
fn machine_code_that_neither_side_knows_has_the_reason_of_the_first_that_has_one() {
    let counted = |instructions| counted_by_function(&[("softmax", None, instructions)]);
    let unknown = |instructions, reason| with_machine_code(counted(instructions), Err(reason));
    let reason = |before, after| {
        let codes = row_of(before, after, &Rules::default()).machine_code;
        codes
            .into_iter()
            .map(|code| (code.outcome, code.reason))
            .collect::<Vec<_>>()
    };
    let told = |text: &str| [(MachineCodeOutcome::Unknown, Some(text.to_owned()))];
    assert_eq!(
        reason(unknown(1e3, "one"), unknown(2e3, "other")),
        told("baseline: one")
    );
    assert_eq!(
        reason(counted(1e3), unknown(2e3, "other")),
        told("the baseline does not have it")
    );
    let known = with_machine_code(counted(1e3), Ok(("a", 1)));
    assert_eq!(reason(known, unknown(2e3, "other")), told("candidate: other"));
}
