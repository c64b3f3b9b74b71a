//! The gate as a case of the report.

use super::{Compared, attribute, content};
use crate::report::{ComparisonComplete, Gate};

/// A gate that stops a run for what none of its cases failed by.
pub(super) struct ClosedGate<'a> {
    pub(super) gate: Gate,
    pub(super) comparison: &'a ComparisonComplete,
}

impl ClosedGate<'_> {
    /// A suite with the gate as its case.
    pub(super) fn element(&self, started_at: &str) -> String {
        let baseline = &self.comparison.baseline.name;
        let why = self
            .comparison
            .undecided()
            .unwrap_or_else(|| format!("not every benchmark was judged against `{baseline}`"));
        let stopped = self.comparison.rows.iter();
        let stopped = stopped.filter(|row| self.gate.stops(row, self.comparison));
        let told = stopped.map(|row| {
            let words = Compared {
                row,
                baseline,
                is_stopped: true,
            }
            .in_words();
            format!("\n{}: {words}", row.case)
        });
        format!(
            "  <testsuite name=\"comparison\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"0.000\" timestamp={}>\n    \
             <testcase name=\"--fail-on-inconclusive\" classname=\"comparison\" time=\"0.000\">\n      \
             <failure message={} type=\"inconclusive\">{}</failure>\n    </testcase>\n  </testsuite>\n",
            attribute(started_at),
            attribute(&why),
            content(&format!("{why}{}", told.collect::<String>())),
        )
    }
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;
    use crate::report::comparison_samples::compared_run;
    use crate::report::golden::written;
    use crate::report::junit::tests::{counts_add_up, said};
    use crate::report::samples::{SampleRun, all_passed};
    use crate::report::{ChangeVerdict, JunitReporter, OnInconclusive};
    use gpubench_contract::Verdict;

    /// A run whose benchmarks all passed, and a comparison with rows of some of them.
    fn passed_and_compared(rows: impl Fn(&mut ComparisonComplete)) -> SampleRun {
        let mut run = all_passed();
        let mut comparison = compared_run().comparison.expect("it was compared");
        rows(&mut comparison);
        run.comparison = Some(comparison);
        run
    }

    #[test]
    fn a_run_that_a_gate_stops_has_a_failed_case_though_none_of_its_own_is_to_blame() {
        let only_new = passed_and_compared(|comparison| {
            comparison.rows.clear();
            comparison.removed.clear();
            comparison.new = vec!["axpy".to_owned(), "scan".to_owned()];
        });
        let behind = |on_inconclusive| {
            let gate = Gate {
                on_inconclusive,
                ..Gate::default()
            };
            written(&only_new, |output| JunitReporter::new(output).behind(gate))
        };
        for on_inconclusive in [OnInconclusive::FailForAll, OnInconclusive::FailForAny] {
            let text = behind(on_inconclusive);
            counts_add_up(&text);
            let document = Document::parse(&text).expect("well-formed");
            assert_eq!(
                said(&document, "--fail-on-inconclusive", "failure"),
                [(
                    Some("inconclusive"),
                    Some("no benchmark was judged against `main`: 2 new")
                )]
            );
            assert_eq!(document.root_element().attribute("failures"), Some("1"));
        }
        assert!(!behind(OnInconclusive::Show).contains("<failure"));
    }

    #[test]
    fn the_failed_gate_names_the_benchmarks_that_were_not_judged_and_did_not_run() {
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
        let text = written(&run, |output| JunitReporter::new(output).behind(gate));
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
