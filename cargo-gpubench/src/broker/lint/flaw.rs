//! Findings, grouped by the problem and the output that they are about.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use gpubench::catalog::{Catalog, Tolerance};

use super::allowed::allowed;
use super::place::{Attribute, Numbers, find_attribute};
use super::session::{Judged, JudgedCase};
use crate::cdylibs::Built;
use gpubench_measure::lint::{Finding, Judge, OutputReport, Rule};

/// What is wrong with an output of a problem.
#[derive(Clone, Debug)]
pub(super) struct Flaw {
    /// The problem, as in the catalog.
    pub(super) problem: String,
    pub(super) output: String,
    /// In the first case.
    pub(super) tolerance: Tolerance,
    pub(super) judge: Judge,
    /// By rule, the gravest first.
    pub(super) broken: Vec<BrokenRule>,
    /// The file and the line of a benchmark's attribute, as the compiler names them.
    pub(super) named: (String, u32),
    /// The folder of the package.
    pub(super) root: Utf8PathBuf,
    /// The attribute with the tolerance, if it was found.
    pub(super) attribute: Option<Attribute>,
    /// By which power of ten the tolerance can shrink so that all of this ends; negative if it must
    /// grow. `None` if no tolerance is known that does.
    pub(super) shrink: Option<i32>,
    /// Whether all cases of the problem have this tolerance.
    pub(super) has_one_tolerance: bool,
    /// Whether the other outputs with this tolerance can have the better one, too.
    pub(super) suits_others: bool,
}

/// A rule that cases break.
#[derive(Clone, Debug)]
pub(super) struct BrokenRule {
    pub(super) rule: Rule,
    /// In the first case.
    pub(super) finding: Finding,
    /// The names of the cases.
    pub(super) cases: Vec<String>,
}

/// A case, and what was found out about one of its outputs.
type OfCase<'a> = (&'a JudgedCase, &'a OutputReport);

/// Returns the flaws that no author accepts.
pub(super) fn flaws(judged: &Judged, built: &Built, catalogs: &[Catalog]) -> Vec<Flaw> {
    let mut groups: BTreeMap<(usize, &str, &str), Vec<OfCase<'_>>> = BTreeMap::new();
    for case in &judged.cases {
        let Some(benchmark) = catalogs[case.library].benchmarks.get(case.benchmark) else {
            continue;
        };
        for output in &case.outputs {
            let key = (case.library, &*benchmark.problem, &*output.output);
            groups.entry(key).or_default().push((case, output));
        }
    }
    let mut flaws = Vec::new();
    for ((library, problem, output), cases) in groups {
        let (first, report) = cases[0];
        let Some(benchmark) = catalogs[library].benchmarks.get(first.benchmark) else {
            continue;
        };
        let accepted = allowed(benchmark);
        let broken: Vec<BrokenRule> = Rule::ALL
            .iter()
            .filter(|rule| !accepted.contains(rule))
            .filter_map(|rule| broken_rule(*rule, &cases))
            .collect();
        if !broken.is_empty() {
            let shrink = shrink(&broken, &cases);
            let of_problem = judged.cases.iter().filter(|case| {
                let of_library = case.library == library;
                let benchmark = catalogs[library].benchmarks.get(case.benchmark);
                of_library && benchmark.is_some_and(|benchmark| benchmark.problem == problem)
            });
            let mut others = of_problem
                .flat_map(|case| &case.outputs)
                .filter(|other| other.output != output && other.tolerance == report.tolerance);
            flaws.push(Flaw {
                suits_others: shrink.is_none_or(|shrink| others.all(|other| suits(shrink, other))),
                problem: problem.to_owned(),
                output: output.to_owned(),
                tolerance: report.tolerance,
                judge: report.judge,
                shrink,
                broken,
                named: (benchmark.file.clone(), benchmark.line),
                root: built.libraries[library].root.clone(),
                attribute: None,
                has_one_tolerance: cases.iter().all(|(_, other)| other.tolerance == report.tolerance),
            });
        }
    }
    flaws
}

fn broken_rule(rule: Rule, cases: &[OfCase<'_>]) -> Option<BrokenRule> {
    let found = cases.iter().filter_map(|(case, output)| {
        let finding = output.findings.iter().find(|finding| finding.rule == rule)?;
        Some((case.name.clone(), finding))
    });
    let (cases, findings): (Vec<String>, Vec<&Finding>) = found.unzip();
    Some(BrokenRule {
        rule,
        finding: (*findings.first()?).clone(),
        cases,
    })
}

/// Returns the power of ten for all cases together.
fn shrink(broken: &[BrokenRule], cases: &[OfCase<'_>]) -> Option<i32> {
    let of_broken = |finding: &&Finding| broken.iter().any(|broken| broken.rule == finding.rule);
    let findings: Vec<&Finding> = cases
        .iter()
        .flat_map(|(_, output)| output.findings.iter().filter(of_broken))
        .collect();
    let shrinks: Vec<i32> = findings.iter().map(|finding| finding.shrink).collect::<Option<_>>()?;
    let (least, most) = (shrinks.iter().min()?, shrinks.iter().max()?);
    if *most < 0 {
        return Some(*least);
    }
    // A tolerance that is too strict here and too wide there cannot be mended by a factor.
    let room = cases.iter().map(|(_, output)| output.room).min()?;
    (*least > 0 && *most <= room).then_some(*most)
}

/// Whether an output can have a tolerance that is mended for another one.
fn suits(shrink: i32, output: &OutputReport) -> bool {
    if shrink > 0 {
        output.room >= shrink
    } else {
        output.findings.iter().any(|finding| finding.rule == Rule::TooStrict)
    }
}

impl Flaw {
    /// Looks for the attribute in the sources.
    pub(super) fn locate(&mut self) {
        self.attribute = find_attribute(&self.root, &self.named.0, self.named.1);
    }

    /// Returns the file and the line to show.
    pub(super) fn place(&self) -> (&str, u32) {
        match &self.attribute {
            Some(attribute) => (&attribute.shown, attribute.line),
            None => (&self.named.0, self.named.1),
        }
    }

    /// Returns the written numbers that a better tolerance can replace.
    pub(super) fn numbers(&self) -> Option<&Numbers> {
        self.better()?;
        let attribute = self.attribute.as_ref()?;
        let can_change = self.suits_others || attribute.has_own(&self.output);
        attribute
            .numbers_of(&self.output, self.tolerance.bounds()?)
            .filter(|_| can_change)
    }

    /// Returns `rtol` and `atol` that would end the flaw.
    pub(super) fn better(&self) -> Option<(f64, f64)> {
        let (rtol, atol) = self.tolerance.bounds().filter(|_| self.has_one_tolerance)?;
        let factor = 10f64.powi(-self.shrink?);
        Some((tidy(rtol * factor), tidy(atol * factor)))
    }
}

/// Rounds to six digits, so that `2e-2` over 10 is `2e-3`.
fn tidy(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(room: i32, shrinks: &[(Rule, Option<i32>)]) -> OutputReport {
        let finding = |(rule, shrink): &(Rule, Option<i32>)| Finding {
            rule: *rule,
            what: "zeros".to_owned(),
            found: 4,
            tried: 4,
            shrink: *shrink,
        };
        OutputReport {
            output: "y".to_owned(),
            tolerance: Tolerance::Close { rtol: 2e-2, atol: 5e-3 },
            judge: Judge::Reference,
            findings: shrinks.iter().map(finding).collect(),
            room,
        }
    }

    fn shrink_of(outputs: &[OutputReport]) -> Option<i32> {
        let case = JudgedCase {
            name: "case".to_owned(),
            library: 0,
            benchmark: 0,
            outputs: Vec::new(),
        };
        let cases: Vec<_> = outputs.iter().map(|output| (&case, output)).collect();
        let broken: Vec<_> = Rule::ALL.iter().filter_map(|rule| broken_rule(*rule, &cases)).collect();
        shrink(&broken, &cases)
    }

    #[test]
    fn a_tolerance_shrinks_as_much_as_the_worst_case_needs_and_right_answers_allow() {
        let zeros = |room, shrink| output(room, &[(Rule::Zeros, shrink)]);
        assert_eq!(shrink_of(&[zeros(5, Some(1)), zeros(4, Some(3))]), Some(3));
        assert_eq!(shrink_of(&[zeros(5, Some(1)), zeros(2, Some(3))]), None);
        assert_eq!(shrink_of(&[zeros(5, None)]), None);
        let strict = |shrink| output(0, &[(Rule::TooStrict, Some(shrink))]);
        assert_eq!(shrink_of(&[strict(-1), strict(-2)]), Some(-2));
        assert_eq!(shrink_of(&[zeros(5, Some(1)), strict(-2)]), None);
    }

    #[test]
    fn another_output_with_the_tolerance_must_pass_right_answers_too() {
        assert!(suits(2, &output(2, &[])));
        assert!(!suits(3, &output(2, &[])));
        assert!(!suits(-2, &output(2, &[])), "a wider one may accept wrong answers");
        assert!(suits(-2, &output(0, &[(Rule::TooStrict, Some(-1))])));
    }

    #[test]
    fn numbers_stay_short() {
        assert_eq!(tidy(2e-2 * 10f64.powi(-2)), 2e-4);
    }
}
