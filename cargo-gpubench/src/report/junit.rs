//! Results as JUnit's XML, which most CI services show: a suite for every package, a test case for every case.
//!
//! A case that passed and regressed against a baseline is a failure of the type `regressed`; what else a comparison says stands in `system-out`. Where a gate stops the
//! run and no case of it is to blame, since too little could be judged, the gate itself is a failed case.
//!
//! The elements and attributes are those that Jenkins' schema of the format has.

use std::collections::HashMap;
use std::fmt;

use self::closed_gate::ClosedGate;
use super::terminal::{interval, level};
use super::xml;
use super::{
    BenchmarkComplete, BenchmarkStarted, ChangeVerdict, ComparisonComplete, ComparisonRow, Device, DeviceKind, Gate,
    Output, OutputError, Passage, Reporter, RunEnd, RunFinished, RunStarted, ThresholdSource,
};
use crate::printable::{printable, printable_line};
use crate::units::{change, percent};
use crate::verdict::Verdict;

mod closed_gate;

/// Writes the whole report when the run has ended: the counts stand at its head.
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
    /// Writes to `output`.
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

    /// Shows as failed what a gate stops.
    pub fn behind(self, gate: Gate) -> JunitReporter {
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
        let suites = self.suites(finished.end);
        let all: Vec<_> = suites.iter().flat_map(|suite| &suite.cases).collect();
        let counts = Counts::of(&all);
        let closed = self.closed_gate(&counts);
        let head = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cargo gpubench\" {} time=\"{}\">\n",
            match closed {
                None => counts,
                Some(_) => counts.with_a_failure(),
            },
            seconds(finished.wall_ns)
        );
        let body: String = suites
            .iter()
            .map(|suite| suite.element(&self.started_at, self.device.as_ref()))
            .collect();
        let gate = closed.map(|gate| gate.element(&self.started_at)).unwrap_or_default();
        self.output.print(&format!("{head}{body}{gate}</testsuites>\n"))
    }
}

impl JunitReporter {
    fn suites(&self, end: RunEnd) -> Vec<Suite<'_>> {
        let mut suites: Vec<Suite<'_>> = Vec::new();
        let results: HashMap<u64, &BenchmarkComplete> =
            self.results.iter().map(|result| (result.index, result)).collect();
        let comparison = self.comparison.as_ref();
        let rows = comparison.map(ComparisonComplete::rows_by_case).unwrap_or_default();
        for started in &self.cases {
            let case = TestCase {
                started,
                result: results.get(&started.index).copied(),
                end,
                compared: rows
                    .get(&*started.case)
                    .zip(comparison)
                    .map(|(row, comparison)| Compared {
                        row,
                        baseline: &comparison.baseline.name,
                        is_stopped: self.gate.stops(row, comparison),
                    }),
            };
            match suites.iter_mut().find(|suite| suite.package == started.package) {
                Some(suite) => suite.cases.push(case),
                None => suites.push(Suite {
                    package: &started.package,
                    cases: vec![case],
                }),
            }
        }
        suites
    }
}

impl JunitReporter {
    /// The gate, where it stops the run and no case tells why. A run without results is not judged.
    fn closed_gate(&self, counts: &Counts) -> Option<ClosedGate<'_>> {
        let comparison = self.comparison.as_ref()?;
        let is_closed = self.gate.passage(comparison) != Passage::Open;
        (is_closed && !self.results.is_empty() && !counts.have_a_failure()).then_some(ClosedGate {
            gate: self.gate,
            comparison,
        })
    }
}

/// The cases of a package.
struct Suite<'a> {
    package: &'a str,
    cases: Vec<TestCase<'a>>,
}

impl Suite<'_> {
    fn element(&self, started_at: &str, device: Option<&Device>) -> String {
        let cases: Vec<_> = self.cases.iter().collect();
        let wall_ns = cases
            .iter()
            .filter_map(|case| case.result)
            .map(|result| result.wall_ns)
            .sum();
        let elements: String = self.cases.iter().map(TestCase::element).collect();
        format!(
            "  <testsuite name={} {} skipped=\"{}\" time=\"{}\" timestamp={}>\n{}{elements}  </testsuite>\n",
            attribute(self.package),
            Counts::of(&cases),
            self.cases
                .iter()
                .filter(|case| case.outcome() == Outcome::Skipped)
                .count(),
            seconds(wall_ns),
            attribute(started_at),
            device.map(properties).unwrap_or_default(),
        )
    }
}

fn properties(device: &Device) -> String {
    let kind = match device.kind {
        DeviceKind::Cpu => "cpu",
        DeviceKind::Cuda => "cuda",
    };
    format!(
        "    <properties>\n      <property name=\"device\" value={}/>\n      <property name=\"device-kind\" value=\"{kind}\"/>\n    </properties>\n",
        attribute(&device.name)
    )
}

/// A case, with its result where it came to one.
struct TestCase<'a> {
    started: &'a BenchmarkStarted,
    result: Option<&'a BenchmarkComplete>,
    end: RunEnd,
    compared: Option<Compared<'a>>,
}

/// What a comparison says of a case.
struct Compared<'a> {
    row: &'a ComparisonRow,
    baseline: &'a str,
    is_stopped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Skipped,
    Failed,
    /// It passed, and what the comparison says of it makes the command fail.
    Stopped,
    /// The tool or the machine failed, not the benchmark.
    Error,
}

impl TestCase<'_> {
    fn outcome(&self) -> Outcome {
        match self.result.map(|result| result.verdict) {
            None | Some(Verdict::Skipped) => Outcome::Skipped,
            Some(Verdict::Pass) if self.compared.as_ref().is_some_and(|compared| compared.is_stopped) => {
                Outcome::Stopped
            }
            Some(Verdict::Pass) => Outcome::Passed,
            Some(Verdict::Error) => Outcome::Error,
            Some(_) => Outcome::Failed,
        }
    }

    fn element(&self) -> String {
        let BenchmarkStarted {
            package,
            benchmark,
            case,
            ..
        } = self.started;
        let module = benchmark.rsplit_once("::").map(|(module, _)| format!("::{module}"));
        let class = format!("{package}{}", module.unwrap_or_default());
        format!(
            "    <testcase name={} classname={} time=\"{}\">\n{}    </testcase>\n",
            attribute(case),
            attribute(&class),
            seconds(self.result.map_or(0, |result| result.wall_ns)),
            self.inside()
        )
    }

    fn inside(&self) -> String {
        let Some(result) = self.result else {
            let why = match self.end {
                RunEnd::FailedFast => "not run: another case had failed",
                RunEnd::Interrupted => "not run: the run was interrupted",
                RunEnd::Completed => "not run",
            };
            return format!("      <skipped message={}/>\n", attribute(why));
        };
        let message = result.message.as_deref().unwrap_or_default();
        let judged = |tag: &str| {
            let cause = result.cause.map(|cause| format!(": {cause}")).unwrap_or_default();
            let since = match &self.compared {
                Some(compared) if compared.row.verdict == ChangeVerdict::NowFails => {
                    format!(", and passed in the baseline `{}`", compared.baseline)
                }
                _ => String::new(),
            };
            let head = format!("{}{cause}{since}", result.verdict);
            format!(
                "      <{tag} message={} type={}>{}</{tag}>\n",
                attribute(&head),
                attribute(&result.verdict.to_string()),
                content(message)
            )
        };
        let out = |lines: [Option<String>; 2]| {
            let lines: Vec<String> = lines.into_iter().flatten().collect();
            match lines.is_empty() {
                true => String::new(),
                false => format!("      <system-out>{}</system-out>\n", content(&lines.join("\n"))),
            }
        };
        let compared = self.compared.as_ref();
        match self.outcome() {
            Outcome::Passed => out([figures(result), compared.map(Compared::in_words)]),
            Outcome::Stopped => {
                let verdict = compared.map_or("", |compared| compared.row.verdict.as_str());
                let words = compared.map(Compared::in_words).unwrap_or_default();
                let failure = format!(
                    "      <failure message={} type={}>{}</failure>\n",
                    attribute(&words),
                    attribute(verdict),
                    content(&words)
                );
                failure + &out([figures(result), None])
            }
            Outcome::Skipped => format!("      <skipped message={}/>\n", attribute(message)),
            Outcome::Failed => judged("failure"),
            Outcome::Error => judged("error"),
        }
    }
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
        let said: Vec<String> = figures.into_iter().chain(remark.clone()).collect();
        let said = match said.is_empty() {
            true => String::new(),
            false => format!(": {}", said.join("; ")),
        };
        format!("{verdict} against `{}`{said}", self.baseline)
    }
}

/// A text between tags, in which everything can be seen.
fn content(text: &str) -> String {
    xml::content(&printable(text))
}

/// The value of an attribute, on one line.
fn attribute(text: &str) -> String {
    xml::attribute(&printable_line(text))
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
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// How many cases there are and what became of them.
#[derive(Clone, Copy, Debug)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
}

impl Counts {
    fn of(cases: &[&TestCase<'_>]) -> Counts {
        let count = |outcome| cases.iter().filter(|case| case.outcome() == outcome).count();
        Counts {
            tests: cases.len(),
            failures: count(Outcome::Failed) + count(Outcome::Stopped),
            errors: count(Outcome::Error),
        }
    }

    fn have_a_failure(self) -> bool {
        self.failures + self.errors > 0
    }

    /// With another case, which failed.
    fn with_a_failure(self) -> Counts {
        Counts {
            tests: self.tests + 1,
            failures: self.failures + 1,
            ..self
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tests,
            failures,
            errors,
        } = self;
        write!(f, "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"")
    }
}

fn seconds(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use roxmltree::{Document, Node};

    use super::*;
    use crate::report::comparison_samples::compared_run;
    use crate::report::golden::written;
    use crate::report::samples::every_verdict;
    use crate::report::{OnInconclusive, OnRegression};

    fn elements<'a>(of: Node<'a, 'a>, tag: &str) -> Vec<Node<'a, 'a>> {
        of.children().filter(|child| child.has_tag_name(tag)).collect()
    }

    #[test]
    fn the_report_has_the_form_that_ci_services_read() {
        insta::assert_snapshot!(written(&every_verdict(), JunitReporter::new));
    }

    /// The only child of each case with one of these tags, by the case's name.
    pub(super) fn said<'a>(
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

    fn behind(on_regression: OnRegression, on_inconclusive: OnInconclusive) -> String {
        let gate = Gate {
            on_regression,
            on_inconclusive,
        };
        written(&compared_run(), |output| JunitReporter::new(output).behind(gate))
    }

    #[test]
    fn the_report_of_a_run_that_was_compared() {
        insta::assert_snapshot!(written(&compared_run(), JunitReporter::new));
    }

    #[test]
    fn a_regression_is_a_failure_unless_it_is_only_to_be_shown() {
        let run = compared_run();
        let regressed = &run.comparison.as_ref().unwrap().rows[0].case;
        let text = behind(OnRegression::Fail, OnInconclusive::Show);
        let document = Document::parse(&text).expect("well-formed");
        assert_eq!(
            said(&document, regressed, "failure"),
            [(
                Some("regressed"),
                Some("regressed against `main`: +3.04%, 99% interval +1.82% to +4.28%, threshold 1.00%")
            )]
        );
        let text = behind(OnRegression::Show, OnInconclusive::Show);
        let document = Document::parse(&text).expect("well-formed");
        assert!(said(&document, regressed, "failure").is_empty());
        assert!(text.contains("regressed against `main`: +3.04%"), "{text}");
    }

    #[test]
    fn what_failed_and_passed_in_the_baseline_says_so() {
        let text = behind(OnRegression::Show, OnInconclusive::Show);
        assert!(text.contains(", and passed in the baseline `main`\" type="), "{text}");
    }

    #[test]
    fn what_could_not_be_judged_is_a_failure_where_that_is_asked_for() {
        let types = |text: &str| {
            let document = Document::parse(text).expect("well-formed");
            let failures = document.descendants().filter(|node| node.has_tag_name("failure"));
            failures
                .filter(|node| node.attribute("type") == Some("inconclusive"))
                .count()
        };
        assert_eq!(types(&behind(OnRegression::Show, OnInconclusive::FailForAny)), 1);
        assert_eq!(types(&behind(OnRegression::Show, OnInconclusive::FailForAll)), 0);
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
            text.contains("<skipped message=\"not run: another case had failed\"/>"),
            "{text}"
        );
    }

    #[test]
    fn names_and_messages_of_others_cannot_break_the_document() {
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
