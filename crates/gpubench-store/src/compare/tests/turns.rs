//! Tests of two sides that alternate.

use super::*;

/// Returns the only row of a comparison of two results that alternated.
fn alternating_row(baseline: BenchmarkComplete, candidate: BenchmarkComplete) -> ComparisonRow {
    alternating_row_by(&Rules::default(), baseline, candidate)
}

fn alternating_row_by(rules: &Rules, baseline: BenchmarkComplete, candidate: BenchmarkComplete) -> ComparisonRow {
    let (baseline, candidate) = (run(vec![baseline]), run(vec![candidate]));
    let named = |name, run| NamedRun { name, run };
    let (baseline, candidate) = (named("before", &baseline), named("after", &candidate));
    let mut rows = compare(baseline, candidate, Arrangement::Interleaved, rules).rows;
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

/// Returns results of some rounds on a machine that drifts. The second is slower by `factor`.
fn drifting(rounds: usize, factor: f64) -> [BenchmarkComplete; 2] {
    let all = crate::testing::DRIFTS.last().unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let sides = all.sides(&QUIET, &mut random, (rounds, 20), (1e5, factor));
    sides.map(|workers| passed("axpy", &workers))
}

#[test]
fn alternating_results_are_compared_pair_by_pair() {
    let [before, after] = drifting(5, 1.03);
    let separate = row_of(before.clone(), after.clone(), &Rules::default());
    assert_eq!(separate.verdict, ChangeVerdict::Inconclusive);
    let alternating = alternating_row(before, after);
    assert_eq!(
        (alternating.verdict, &alternating.remark),
        (ChangeVerdict::Regressed, &None)
    );
    let change = alternating.change.unwrap();
    let shown = alternating.candidate.value.unwrap() / alternating.baseline.value.unwrap();
    assert!((change.ratio - shown).abs() < 1e-12, "{change:?}");
    assert!(change.interval[0] <= 1.03 && 1.03 <= change.interval[1], "{change:?}");
    assert!(change.interval[0] <= shown && shown <= change.interval[1], "{change:?}");
    let [before, after] = drifting(5, 1.0);
    assert_eq!(alternating_row(before, after).verdict, ChangeVerdict::NoChange);
}

#[test]
fn a_baseline_that_is_wrong_by_the_candidates_reference_names_that_reference() {
    let [_, after] = drifting(5, 1.0);
    let row = alternating_row(result("axpy", Verdict::WrongOutput), after.clone());
    assert_eq!(row.verdict, ChangeVerdict::NotCompared);
    assert_eq!(
        remark(&row),
        "the baseline ended in `wrong-output` when checked against the candidate's reference"
    );
    let row = row_of(result("axpy", Verdict::WrongOutput), after, &Rules::default());
    assert_eq!(remark(&row), "the baseline ended in `wrong-output`");
}

#[test]
fn alternating_sides_with_different_rounds_are_compared_unpaired_with_a_remark() {
    let [before, _] = drifting(5, 1.03);
    let [_, after] = drifting(4, 1.03);
    let row = alternating_row(before, after);
    assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
    assert!(
        remark(&row).ends_with("so drift between their samples counts as noise"),
        "{row:?}"
    );
}

#[test]
fn interim_analyses_use_a_wider_interval_for_the_same_confidence() {
    let [before, after] = drifting(5, 1.03);
    let at = |analyses| {
        let rules = Rules {
            analyses: AnalysesTaken::from([(after.key(), analyses)]),
            ..Rules::default()
        };
        alternating_row_by(&rules, before.clone(), after.clone())
            .change
            .unwrap()
    };
    let (once, again) = (at(InterimAnalyses::Once), at(InterimAnalyses::UntilDecided));
    assert_eq!((once.ratio, once.confidence), (again.ratio, again.confidence));
    assert!(again.interval[0] < once.interval[0] && once.interval[1] < again.interval[1]);
}

#[test]
fn an_inconclusive_alternating_row_says_what_may_help() {
    let mut random = fastrand::Rng::with_seed(3);
    let spread = |shifts, noise| TwoLevel {
        name: "",
        shifts: Shifts::Normal(shifts),
        noise: Noise::Normal(noise),
    };
    let mut remark_of = |shape: TwoLevel| {
        let [before, after] = [1e5, 1.03e5].map(|center| passed("axpy", &shape.side(&mut random, 20, 20, center)));
        let row = alternating_row(before, after);
        assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
        row.remark.unwrap()
    };
    let processes = remark_of(spread(0.08, 0.001));
    assert!(
        processes.contains(" after 20 rounds, because processes differ: a change of 5.00% cannot"),
        "{processes}"
    );
    assert!(processes.ends_with(" a quieter machine, `--workers 47`"), "{processes}");
    let samples = remark_of(spread(0.0, 0.3));
    assert!(samples.contains("because samples vary"), "{samples}");
    assert!(samples.ends_with(", a longer `--max-time`"), "{samples}");
}

#[test]
fn two_rounds_are_too_few() {
    let [before, after] = drifting(2, 1.03);
    let row = alternating_row(before, after);
    assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
    assert!(remark(&row).starts_with("two fresh workers per side"), "{row:?}");
    assert!(!remark(&row).contains("drift"), "{row:?}");
}

#[test]
fn the_advice_at_least_doubles_the_rounds() {
    let mut random = fastrand::Rng::with_seed(5);
    let shape = TwoLevel {
        name: "",
        shifts: Shifts::Normal(0.04),
        noise: Noise::Normal(0.001),
    };
    let [before, after] = [(); 2].map(|()| passed("axpy", &shape.side(&mut random, 20, 20, 1e5)));
    let row = alternating_row(before, after);
    assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
    assert!(remark(&row).contains("`--workers 40`"), "{row:?}");
}

#[test]
fn fewer_threads_may_help_if_there_are_several() {
    let mut random = fastrand::Rng::with_seed(5);
    let shape = TwoLevel {
        name: "",
        shifts: Shifts::Normal(0.08),
        noise: Noise::Normal(0.001),
    };
    let mut advice = |threads| {
        let [before, after] = [(); 2].map(|()| {
            let mut side = passed("axpy", &shape.side(&mut random, 20, 20, 1e5));
            side.environment.threads = threads;
            side
        });
        alternating_row(before, after).remark.unwrap().contains("`--threads 1`")
    };
    assert_eq!([None, Some(1), Some(2)].map(&mut advice), [false, false, true]);
}

#[test]
fn a_reference_that_the_candidate_fails_too_is_no_judge_of_the_baseline() {
    let row = alternating_row(result("axpy", Verdict::WrongOutput), result("axpy", Verdict::Crashed));
    assert_eq!(remark(&row), "the baseline ended in `wrong-output`");
}
