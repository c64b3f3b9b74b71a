//! A closed gate as a case of the report.

use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestSuite};

use super::{Compared, empty_suite, failed};
use crate::Gate;
use gpubench_contract::ComparisonComplete;

/// Returns a suite with the gate as its only case, for a gate that stops a run in which no case
/// failed.
pub(super) fn suite(gate: Gate, comparison: &ComparisonComplete, started_at: &str) -> TestSuite {
    let baseline = &comparison.baseline.name;
    let why = comparison
        .undecided()
        .unwrap_or_else(|| format!("not every benchmark was judged against `{baseline}`"));
    let stopped = comparison.rows.iter().filter(|row| gate.stops(row, comparison));
    let details = stopped.map(|row| {
        let compared = Compared {
            row,
            baseline,
            is_stopped: true,
        };
        format!("\n{}: {}", row.label(), compared.in_words())
    });
    let details = format!("{why}{}", details.collect::<String>());
    let status = failed(NonSuccessKind::Failure, "inconclusive", &why, &details);
    let mut case = TestCase::new("--fail-on-inconclusive", status);
    case.set_classname("comparison").set_time(Duration::ZERO);
    let mut suite = empty_suite("comparison", started_at);
    suite.add_test_case(case);
    suite
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;
    use crate::junit::tests::{child_of, counts_add_up};
    use crate::tests::written;
    use crate::{JunitReporter, OnInconclusive};
    use gpubench_contract::{ChangeVerdict, Verdict};
    use gpubench_testing::{SampleRun, all_passed, compared_run};

    /// A run whose benchmarks all passed, and a comparison with rows for some of them.
    fn passed_and_compared(rows: impl Fn(&mut ComparisonComplete)) -> SampleRun {
        let mut run = all_passed();
        let mut comparison = compared_run().comparison.expect("it was compared");
        rows(&mut comparison);
        run.comparison = Some(comparison);
        run
    }

    #[test]
    fn a_run_that_a_gate_stops_has_a_failed_case_even_if_no_benchmark_failed() {
        let only_new = passed_and_compared(|comparison| {
            comparison.rows.clear();
            comparison.removed.clear();
            comparison.new = vec!["axpy".to_owned(), "scan".to_owned()];
        });
        let with_gate = |on_inconclusive| {
            let gate = Gate {
                on_inconclusive,
                ..Gate::default()
            };
            written(&only_new, |output| JunitReporter::new(output).with_gate(gate))
        };
        for on_inconclusive in [OnInconclusive::FailForAll, OnInconclusive::FailForAny] {
            let text = with_gate(on_inconclusive);
            counts_add_up(&text);
            let document = Document::parse(&text).expect("well-formed");
            assert_eq!(
                child_of(&document, "--fail-on-inconclusive", "failure"),
                [(
                    Some("inconclusive"),
                    Some("no benchmark was judged against `main`: 2 new")
                )]
            );
            assert_eq!(document.root_element().attribute("failures"), Some("1"));
        }
        assert!(!with_gate(OnInconclusive::Show).contains("<failure"));
    }

    #[test]
    fn the_failed_gate_names_the_benchmarks_that_were_not_judged() {
        let mut run = passed_and_compared(|comparison| {
            comparison.rows.truncate(2);
            comparison.rows[0].verdict = ChangeVerdict::NoChange;
            comparison.rows[1].verdict = ChangeVerdict::NotCompared;
            comparison.rows[1].change = None;
            comparison.rows[1].remark = Some("the candidate was skipped".to_owned());
        });
        let skipped = run.comparison.as_ref().expect("it was compared").rows[1].case.clone();
        run.results
            .iter_mut()
            .filter(|result| result.case == skipped)
            .for_each(|result| result.verdict = Verdict::Skipped);
        let gate = Gate {
            on_inconclusive: OnInconclusive::FailForAny,
            ..Gate::default()
        };
        let text = written(&run, |output| JunitReporter::new(output).with_gate(gate));
        counts_add_up(&text);
        assert!(
            text.contains(&format!(
                "type=\"inconclusive\">not every benchmark was judged against `main`\n{skipped}: \
                 not compared against `main`: the candidate was skipped</failure>"
            )),
            "{text}"
        );
    }
}
