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
