//! Results as JUnit XML, for CI services: one suite per package, one test case per case.
//!
//! A case that passed but regressed is a failure of type `regressed`. All other results of a
//! comparison go to `system-out`. If a gate stops the run but no case is at fault, because too few
//! were judged, the gate is a failed case itself.
//!
//! The elements and attributes follow Jenkins' schema.

use std::collections::HashMap;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::wording::{interval, level};
use super::{Gate, GateResult, Output, OutputError, Reporter};
use gpubench_contract::units::{change, listed, percent};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, ChangeVerdict, ComparisonComplete, ComparisonRow, Device, RunEnd, RunFinished,
    RunStarted, ThresholdSource, Verdict,
};
use gpubench_diagnostic::{printable, printable_line};

mod closed_gate;

/// Writes the whole report at the end of the run, because the counts come first.
pub struct JunitReporter {
    output: Output,
    device: Option<Device>,
    started_at: String,
    cases: Vec<BenchmarkStarted>,
    results: Vec<BenchmarkComplete>,
    comparison: Option<ComparisonComplete>,
    gate: Gate,
}

impl JunitReporter {
    /// Returns a reporter that writes to `output`.
    pub fn new(output: Output) -> JunitReporter {
        JunitReporter {
            output,
            device: None,
            started_at: String::new(),
            cases: Vec::new(),
            results: Vec::new(),
            comparison: None,
            gate: Gate::default(),
        }
    }

    /// Reports what this gate stops as failed.
    pub fn with_gate(self, gate: Gate) -> JunitReporter {
        JunitReporter { gate, ..self }
    }
}

impl Reporter for JunitReporter {
    fn run_started(&mut self, run: &RunStarted, cases: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.device = Some(run.device.clone());
        self.started_at = run.started_at.clone();
        self.cases = cases.to_vec();
        Ok(())
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        self.results.push(result.clone());
        Ok(())
    }

    fn comparison_complete(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        self.comparison = Some(comparison.clone());
        Ok(())
    }

    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError> {
        let mut report = Report::new("cargo gpubench");
        report.set_time(Duration::from_nanos(finished.wall_ns));
        report.add_test_suites(self.suites(finished.end));
        if let Some(comparison) = self.closing_comparison(&report) {
            report.add_test_suite(closed_gate::suite(self.gate, comparison, &self.started_at));
        }
        let text = report.to_string().expect("memory takes any text");
        self.output.print(&text)
    }
}

impl JunitReporter {
    fn suites(&self, end: RunEnd) -> Vec<TestSuite> {
        let mut suites: Vec<(&str, TestSuite)> = Vec::new();
        let results: HashMap<u64, &BenchmarkComplete> =
            self.results.iter().map(|result| (result.index, result)).collect();
        let comparison = self.comparison.as_ref();
        let rows = comparison.map(ComparisonComplete::rows_by_result).unwrap_or_default();
        for started in &self.cases {
            let case = Case {
                started,
                result: results.get(&started.index).copied(),
                end,
                compared: rows
                    .get(&started.key())
                    .zip(comparison)
                    .map(|(row, comparison)| Compared {
                        row,
                        baseline: &comparison.baseline.name,
                        is_stopped: self.gate.stops(row, comparison),
                    }),
            };
            let known = suites.iter().position(|(package, _)| *package == started.package);
            let position = known.unwrap_or_else(|| {
                let mut suite = empty_suite(&started.package, &self.started_at);
                suite.add_properties(self.device.iter().flat_map(properties));
                suites.push((&started.package, suite));
                suites.len() - 1
            });
            let suite = &mut suites[position].1;
            *suite.time.get_or_insert_default() += case.wall_time();
            suite.add_test_case(case.element());
        }
        suites.into_iter().map(|(_, suite)| suite).collect()
    }

    /// Returns the comparison if a gate stops the run but no case shows why. A run without results
    /// is not judged.
    fn closing_comparison(&self, report: &Report) -> Option<&ComparisonComplete> {
        let comparison = self.comparison.as_ref()?;
        let is_closed = self.gate.passage(comparison) != GateResult::Open;
        (is_closed && !self.results.is_empty() && report.failures + report.errors == 0).then_some(comparison)
    }
}

/// Returns an empty suite with the run's start time.
fn empty_suite(name: &str, started_at: &str) -> TestSuite {
    let mut suite = TestSuite::new(printable_line(name));
    suite.timestamp = started_at.parse().ok();
    suite.set_time(Duration::ZERO);
    suite
}

fn properties(device: &Device) -> [(String, String); 2] {
    [
        ("device", printable_line(&device.name)),
        ("device-kind", device.kind.words().word.to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
}

/// A case, with its result if it has one.
struct Case<'a> {
    started: &'a BenchmarkStarted,
    result: Option<&'a BenchmarkComplete>,
    end: RunEnd,
    compared: Option<Compared<'a>>,
}

/// The comparison of a case.
struct Compared<'a> {
    row: &'a ComparisonRow,
    baseline: &'a str,
    is_stopped: bool,
}

impl Case<'_> {
    fn wall_time(&self) -> Duration {
        Duration::from_nanos(self.result.map_or(0, |result| result.wall_ns))
    }

    fn element(&self) -> TestCase {
        let started = self.started;
        let module = started.benchmark.rsplit_once("::");
        let module = module.map(|(module, _)| format!("::{module}"));
        let class = format!("{}{}", started.package, module.unwrap_or_default());
        let (status, output) = self.outcome();
        let mut element = TestCase::new(printable_line(&started.label()), status);
        element.set_classname(printable_line(&class)).set_time(self.wall_time());
        if !output.is_empty() {
            element.set_system_out(printable(&output.join("\n")));
        }
        element
    }

    /// Returns the case's status and its lines of `system-out`.
    fn outcome(&self) -> (TestCaseStatus, Vec<String>) {
        let Some(result) = self.result else {
            let why = match self.end {
                RunEnd::FailedFast => "not run: another case failed",
                RunEnd::Interrupted => "not run: the run was interrupted",
                RunEnd::Completed => "not run",
            };
            return (skipped(why), Vec::new());
        };
        let message = result.message.as_deref().unwrap_or_default();
        let compared = self.compared.as_ref();
        let kind = match result.verdict {
            Verdict::Skipped => return (skipped(message), Vec::new()),
            Verdict::Pass => {
                let words = compared.map(Compared::in_words);
                return match compared.filter(|compared| compared.is_stopped) {
                    None => {
                        let output = figures(result).into_iter().chain(words);
                        (TestCaseStatus::success(), output.collect())
                    }
                    Some(Compared { row, .. }) => {
                        let words = words.unwrap_or_default();
                        let status = failed(NonSuccessKind::Failure, row.verdict.as_str(), &words, &words);
                        (status, figures(result).into_iter().collect())
                    }
                };
            }
            // An error: the tool or the machine failed, not the benchmark.
            Verdict::Error => NonSuccessKind::Error,
            _ => NonSuccessKind::Failure,
        };
        let cause = result.cause.map(|cause| format!(": {cause}")).unwrap_or_default();
        let since = compared.filter(|compared| compared.row.verdict == ChangeVerdict::NowFails);
        let since = since.map(|compared| format!(", but passed in the baseline `{}`", compared.baseline));
        let head = format!("{}{cause}{}", result.verdict, since.unwrap_or_default());
        (failed(kind, &result.verdict.to_string(), &head, message), Vec::new())
    }
}

fn skipped(why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(printable_line(why));
    status
}

/// Returns a failure or an error, with the verdict as its type.
fn failed(kind: NonSuccessKind, verdict: &str, head: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_type(verdict)
        .set_message(printable_line(head))
        .set_description(printable(message));
    status
}

impl Compared<'_> {
    /// `regressed against `main`: +3.04%, 99% interval +2.10% to +3.90%, threshold 1.00%`.
    fn in_words(&self) -> String {
        let ComparisonRow {
            verdict,
            change: figures,
            remark,
            ..
        } = self.row;
        let figures = figures.as_ref().map(|figures| {
            let source = match figures.threshold_source {
                ThresholdSource::Floor => "",
                ThresholdSource::History => " from the history",
            };
            format!(
                "{}, {} interval {}, threshold {}{source}",
                change(figures.ratio),
                level(figures.confidence),
                interval(figures.interval),
                percent(figures.threshold)
            )
        });
        let details: Vec<String> = figures.into_iter().chain(remark.clone()).collect();
        let details = if details.is_empty() {
            String::new()
        } else {
            format!(": {}", details.join("; "))
        };
        format!("{verdict} against `{}`{details}", self.baseline)
    }
}

/// `time 3.552 µs ± 0.36%, cv 3.66%, n 100, grade sealed`.
fn figures(result: &BenchmarkComplete) -> Option<String> {
    let stats = result.stats.as_ref()?;
    let (name, value) = (&result.metric.name, result.metric.quantity(stats.value));
    let parts = [
        Some(match stats.relative_interval() {
            Some(interval) => format!("{name} {value} ± {}", percent(interval)),
            None => format!("{name} {value}"),
        }),
        stats.cv.map(|cv| format!("cv {}", percent(cv))),
        Some(format!("n {}", stats.n)),
        result.grade.map(|grade| format!("grade {grade}")),
    ];
    Some(listed(parts))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roxmltree::{Document, Node};

    use super::*;
    use crate::tests::written;
    use crate::{OnInconclusive, OnRegression};
    use gpubench_testing::{compared_run, every_verdict};

    fn elements<'a>(of: Node<'a, 'a>, tag: &str) -> Vec<Node<'a, 'a>> {
        of.children().filter(|child| child.has_tag_name(tag)).collect()
    }

    #[test]
    fn the_report_has_the_form_that_ci_services_read() {
        insta::assert_snapshot!(written(&every_verdict(), JunitReporter::new));
    }

    /// Returns the only child with one of these tags of each case, by case name.
    pub(super) fn child_of<'a>(
        document: &'a Document<'a>,
        case: &str,
        tag: &str,
    ) -> Vec<(Option<&'a str>, Option<&'a str>)> {
        let cases = document
            .descendants()
            .filter(|node| node.attribute("name") == Some(case));
        let children = cases.flat_map(|node| elements(node, tag));
        children
            .map(|child| (child.attribute("type"), child.attribute("message")))
            .collect()
    }

    fn with_gate(on_regression: OnRegression, on_inconclusive: OnInconclusive) -> String {
        let gate = Gate {
            on_regression,
            on_inconclusive,
        };
        written(&compared_run(), |output| JunitReporter::new(output).with_gate(gate))
    }

    #[test]
    fn the_report_of_a_run_that_was_compared() {
        insta::assert_snapshot!(written(&compared_run(), JunitReporter::new));
    }

    #[test]
    fn a_regression_is_a_failure_unless_the_option_only_shows_it() {
        let run = compared_run();
        let regressed = &run.comparison.as_ref().unwrap().rows[0].case;
        let text = with_gate(OnRegression::Fail, OnInconclusive::Show);
        let document = Document::parse(&text).expect("well-formed");
        assert_eq!(
            child_of(&document, regressed, "failure"),
            [(
                Some("regressed"),
                Some("regressed against `main`: +3.04%, 99% interval +1.82% to +4.28%, threshold 1.00%")
            )]
        );
        let text = with_gate(OnRegression::Show, OnInconclusive::Show);
        let document = Document::parse(&text).expect("well-formed");
        assert!(child_of(&document, regressed, "failure").is_empty());
        assert!(text.contains("regressed against `main`: +3.04%"), "{text}");
    }

    #[test]
    fn a_failure_that_passed_in_the_baseline_says_so() {
        let text = with_gate(OnRegression::Show, OnInconclusive::Show);
        assert!(text.contains(", but passed in the baseline `main`\" type="), "{text}");
    }

    #[test]
    fn an_unjudged_comparison_is_a_failure_if_the_option_is_set() {
        let types = |text: &str| {
            let document = Document::parse(text).expect("well-formed");
            let failures = document.descendants().filter(|node| node.has_tag_name("failure"));
            failures
                .filter(|node| node.attribute("type") == Some("inconclusive"))
                .count()
        };
        assert_eq!(types(&with_gate(OnRegression::Show, OnInconclusive::FailForAny)), 1);
        assert_eq!(types(&with_gate(OnRegression::Show, OnInconclusive::FailForAll)), 0);
    }

    #[test]
    fn counts_are_those_of_the_elements_below() {
        counts_add_up(&written(&every_verdict(), JunitReporter::new));
        counts_add_up(&written(&compared_run(), JunitReporter::new));
    }

    pub(super) fn counts_add_up(text: &str) {
        let document = Document::parse(text).expect("well-formed");
        let root = document.root_element();
        let mut all = 0;
        for suite in elements(root, "testsuite") {
            let cases = elements(suite, "testcase");
            let with = |tag: &str| {
                let count = cases.iter().filter(|case| !elements(**case, tag).is_empty()).count();
                count.to_string()
            };
            assert_eq!(suite.attribute("tests"), Some(&*cases.len().to_string()));
            assert_eq!(suite.attribute("failures"), Some(&*with("failure")));
            assert_eq!(suite.attribute("errors"), Some(&*with("error")));
            assert_eq!(suite.attribute("skipped"), Some(&*with("skipped")));
            all += cases.len();
        }
        assert_eq!(root.attribute("tests"), Some(&*all.to_string()));
        let failures = document
            .descendants()
            .filter(|node| node.has_tag_name("failure"))
            .count();
        assert_eq!(root.attribute("failures"), Some(&*failures.to_string()));
    }

    #[test]
    fn cases_that_were_not_run_are_skipped_with_the_reason() {
        let mut run = every_verdict();
        run.results.truncate(1);
        run.finished.end = RunEnd::FailedFast;
        let text = written(&run, JunitReporter::new);
        assert!(
            text.contains("<skipped message=\"not run: another case failed\"/>"),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn any_text_survives_a_parser(name in any::<String>(), message in any::<String>()) {
            let mut run = every_verdict();
            let failed = run.results.iter().position(|result| result.verdict.is_failure()).unwrap();
            run.results[failed].message = Some(message.clone());
            let index = run.results[failed].index;
            let started = run.cases.iter_mut().find(|started| started.index == index).unwrap();
            started.case = name.clone();
            let text = written(&run, JunitReporter::new);
            let document = Document::parse(&text).expect("well-formed");
            let case = document
                .descendants()
                .find(|node| node.has_tag_name("testcase") && node.attribute("name") == Some(&printable_line(&name)))
                .expect("the case");
            let failure = case.first_element_child().expect("a failure");
            prop_assert_eq!(failure.text().unwrap_or_default(), printable(&message));
        }
    }

    #[test]
    fn untrusted_names_and_messages_cannot_break_the_document() {
        let mut run = every_verdict();
        let hostile = "\u{1b}[2J\"/><evil a='1'>\u{0}]]>&amp;\r\n\u{ffff}";
        for (started, result) in run.cases.iter_mut().zip(&mut run.results) {
            started.case = hostile.to_owned();
            started.package = hostile.to_owned();
            result.message = Some(hostile.to_owned());
        }
        let text = written(&run, JunitReporter::new);
        let document = Document::parse(&text).expect("well-formed");
        assert!(!document.descendants().any(|node| node.has_tag_name("evil")));
        assert!(!text.contains('\u{1b}'));
    }
}
