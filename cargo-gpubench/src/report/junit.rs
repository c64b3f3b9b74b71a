//! Results as JUnit's XML, which most CI services show: a suite for every package, a test case for every case.
//!
//! The elements and attributes are those that Jenkins' schema of the format has.

use super::xml::{attribute, content};
use super::{
    BenchmarkComplete, BenchmarkStarted, Device, DeviceKind, Output, OutputError, Reporter, RunEnd, RunFinished,
    RunStarted,
};
use crate::units::{percent, time};
use crate::verdict::Verdict;

/// Writes the whole report when the run has ended: the counts stand at its head.
pub struct JunitReporter {
    output: Output,
    device: Option<Device>,
    started_at: String,
    cases: Vec<BenchmarkStarted>,
    results: Vec<BenchmarkComplete>,
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
        }
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

    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError> {
        let suites = self.suites(finished.end);
        let all: Vec<_> = suites.iter().flat_map(|suite| &suite.cases).collect();
        let head = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cargo gpubench\" {} time=\"{}\">\n",
            counts(&all),
            seconds(finished.wall_ns)
        );
        let body: String = suites
            .iter()
            .map(|suite| suite.element(&self.started_at, self.device.as_ref()))
            .collect();
        self.output.print(&format!("{head}{body}</testsuites>\n"))
    }
}

impl JunitReporter {
    fn suites(&self, end: RunEnd) -> Vec<Suite<'_>> {
        let mut suites: Vec<Suite<'_>> = Vec::new();
        for started in &self.cases {
            let result = self.results.iter().find(|result| result.index == started.index);
            let case = TestCase { started, result, end };
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
        let cases: String = self.cases.iter().map(TestCase::element).collect();
        format!(
            "  <testsuite name={} {} skipped=\"{}\" time=\"{}\" timestamp={}>\n{}{cases}  </testsuite>\n",
            attribute(self.package),
            counts(&self.cases.iter().collect::<Vec<_>>()),
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Skipped,
    Failed,
    /// The tool or the machine failed, not the benchmark.
    Error,
}

impl TestCase<'_> {
    fn outcome(&self) -> Outcome {
        match self.result.map(|result| result.verdict) {
            None | Some(Verdict::Skipped) => Outcome::Skipped,
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
            let head = format!("{}{cause}", result.verdict);
            format!(
                "      <{tag} message={} type={}>{}</{tag}>\n",
                attribute(&head),
                attribute(&result.verdict.to_string()),
                content(message)
            )
        };
        match self.outcome() {
            Outcome::Passed => figures(result)
                .map(|figures| format!("      <system-out>{}</system-out>\n", content(&figures)))
                .unwrap_or_default(),
            Outcome::Skipped => format!("      <skipped message={}/>\n", attribute(message)),
            Outcome::Failed => judged("failure"),
            Outcome::Error => judged("error"),
        }
    }
}

/// `median 3.552 µs ± 0.36%, cv 3.66%, n 100, grade sealed`.
fn figures(result: &BenchmarkComplete) -> Option<String> {
    let stats = result.stats.as_ref()?;
    let parts = [
        Some(match stats.relative_interval() {
            Some(interval) => format!("median {} ± {}", time(stats.median_ns), percent(interval)),
            None => format!("median {}", time(stats.median_ns)),
        }),
        stats.cv.map(|cv| format!("cv {}", percent(cv))),
        Some(format!("n {}", stats.n)),
        result.grade.map(|grade| format!("grade {grade}")),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn counts(cases: &[&TestCase<'_>]) -> String {
    let count = |outcome| cases.iter().filter(|case| case.outcome() == outcome).count();
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        cases.len(),
        count(Outcome::Failed),
        count(Outcome::Error)
    )
}

fn seconds(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use roxmltree::{Document, Node};

    use super::*;
    use crate::report::golden::written;
    use crate::report::samples::every_verdict;

    fn elements<'a>(of: Node<'a, 'a>, tag: &str) -> Vec<Node<'a, 'a>> {
        of.children().filter(|child| child.has_tag_name(tag)).collect()
    }

    #[test]
    fn the_report_has_the_form_that_ci_services_read() {
        insta::assert_snapshot!(written(&every_verdict(), JunitReporter::new));
    }

    #[test]
    fn counts_are_those_of_the_elements_below() {
        let text = written(&every_verdict(), JunitReporter::new);
        let document = Document::parse(&text).expect("well-formed");
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
