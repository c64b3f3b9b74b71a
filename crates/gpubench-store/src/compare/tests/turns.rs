//! Two sides that were measured in turns.

use super::*;

/// The only row of a comparison of two results that were measured in turns.
fn row_in_turns(baseline: BenchmarkComplete, candidate: BenchmarkComplete) -> ComparisonRow {
    row_in_turns_by(&Rules::default(), baseline, candidate)
}

fn row_in_turns_by(rules: &Rules, baseline: BenchmarkComplete, candidate: BenchmarkComplete) -> ComparisonRow {
    let (baseline, candidate) = (run(vec![baseline]), run(vec![candidate]));
    let named = |name, run| NamedRun { name, run };
    let (baseline, candidate) = (named("before", &baseline), named("after", &candidate));
    let mut rows = compare(baseline, candidate, Arrangement::Interleaved, rules).rows;
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

/// Results of some rounds on a machine that drifts, the second slower by `factor`.
fn drifting(rounds: usize, factor: f64) -> [BenchmarkComplete; 2] {
    let all = crate::testing::DRIFTS.last().unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let sides = all.sides(&QUIET, &mut random, (rounds, 20), (1e5, factor));
    sides.map(|workers| passed("axpy", &workers))
}

#[test]
fn results_that_were_measured_in_turns_are_compared_pair_by_pair() {
    let [before, after] = drifting(5, 1.03);
    let apart = row_of(before.clone(), after.clone(), &Rules::default());
    assert_eq!(apart.verdict, ChangeVerdict::Inconclusive);
    let in_turns = row_in_turns(before, after);
    assert_eq!((in_turns.verdict, &in_turns.remark), (ChangeVerdict::Regressed, &None));
    let change = in_turns.change.unwrap();
    let shown = in_turns.candidate.value.unwrap() / in_turns.baseline.value.unwrap();
    assert!((change.ratio - shown).abs() < 1e-12, "{change:?}");
    assert!(change.interval[0] <= 1.03 && 1.03 <= change.interval[1], "{change:?}");
    assert!(change.interval[0] <= shown && shown <= change.interval[1], "{change:?}");
    let [before, after] = drifting(5, 1.0);
    assert_eq!(row_in_turns(before, after).verdict, ChangeVerdict::NoChange);
}

#[test]
fn a_baseline_that_is_wrong_by_the_candidates_reference_says_whose_it_is() {
    let [_, after] = drifting(5, 1.0);
    let row = row_in_turns(result("axpy", Verdict::WrongOutput), after.clone());
    assert_eq!(row.verdict, ChangeVerdict::NotCompared);
    assert_eq!(
        remark(&row),
        "the baseline ended in `wrong-output` by the candidate's reference"
    );
    let row = row_of(result("axpy", Verdict::WrongOutput), after, &Rules::default());
    assert_eq!(remark(&row), "the baseline ended in `wrong-output`");
}

#[test]
fn sides_in_turns_that_do_not_fit_together_are_compared_as_if_apart_and_say_so() {
    let [before, _] = drifting(5, 1.03);
    let [_, after] = drifting(4, 1.03);
    let row = row_in_turns(before, after);
    assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
    assert!(
        remark(&row).ends_with("so drift between their samples counts as noise"),
        "{row:?}"
    );
}

#[test]
fn rounds_that_may_go_on_are_held_against_a_wider_interval_of_the_same_confidence() {
    let [before, after] = drifting(5, 1.03);
    let at = |analyses| {
        let rules = Rules {
            analyses: AnalysesTaken::from([(CaseKey::of(&after), analyses)]),
            ..Rules::default()
        };
        row_in_turns_by(&rules, before.clone(), after.clone()).change.unwrap()
    };
    let (once, again) = (at(InterimAnalyses::Once), at(InterimAnalyses::UntilDecided));
    assert_eq!((once.ratio, once.confidence), (again.ratio, again.confidence));
    assert!(again.interval[0] < once.interval[0] && once.interval[1] < again.interval[1]);
}

#[test]
fn rounds_that_do_not_decide_say_what_would() {
    let mut random = fastrand::Rng::with_seed(3);
    let spread = |shifts, noise| TwoLevel {
        name: "",
        shifts: Shifts::Normal(shifts),
        noise: Noise::Normal(noise),
    };
    let mut said = |shape: TwoLevel| {
        let [before, after] = [1e5, 1.03e5].map(|center| passed("axpy", &shape.side(&mut random, 20, 20, center)));
        let row = row_in_turns(before, after);
        assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
        row.remark.unwrap()
    };
    let processes = said(spread(0.08, 0.001));
    assert!(
        processes.contains(" after 20 rounds, since processes differ: a change by 5.00% cannot"),
        "{processes}"
    );
    assert!(processes.ends_with(" a quieter machine, `--workers 47`"), "{processes}");
    let samples = said(spread(0.0, 0.3));
    assert!(samples.contains("since samples spread"), "{samples}");
    assert!(samples.ends_with(", a longer `--max-time`"), "{samples}");
}

#[test]
fn two_rounds_are_too_few_as_two_workers_are() {
    let [before, after] = drifting(2, 1.03);
    let row = row_in_turns(before, after);
    assert_eq!(row.verdict, ChangeVerdict::Inconclusive);
    assert!(remark(&row).starts_with("two fresh workers a side"), "{row:?}");
    assert!(!remark(&row).contains("drift"), "{row:?}");
}
