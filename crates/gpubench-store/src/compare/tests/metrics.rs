//! Values of another metric than time.

use super::*;

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
