//! Hidden cases that are public too.

use gpubench::catalog::{Catalog, DeviceKind, StatedProblem};

use super::allowed::allowed;
use super::session::Judged;
use crate::broker::cases::{CaseError, value_text};
use crate::broker::problems::hidden::left_out_cases;
use gpubench_contract::units::counted;
use gpubench_measure::lint::Rule;

/// What is wrong with the hidden cases of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HiddenFlaw {
    pub(super) problem: String,
    /// The file and the line of the attribute, as the compiler names them.
    pub(super) place: (String, u32),
    /// The values of the cases that are public.
    pub(super) cases: Vec<String>,
}

/// Returns the flaws of the problems of judged cases that no author accepts.
///
/// # Errors
/// A problem has too many cases.
pub(super) fn hidden_flaws(judged: &Judged, catalogs: &[Catalog]) -> Result<Vec<HiddenFlaw>, CaseError> {
    let mut flaws = Vec::new();
    for (library, catalog) in catalogs.iter().enumerate() {
        let is_judged = |problem: &&StatedProblem| {
            judged.cases.iter().filter(|case| case.library == library).any(|case| {
                let benchmark = catalog.benchmarks.get(case.benchmark);
                benchmark.is_some_and(|benchmark| benchmark.problem == problem.outline.problem)
            })
        };
        for problem in catalog.problems.iter().filter(is_judged) {
            if allowed(&problem.outline).contains(&Rule::HiddenIsPublic) {
                continue;
            }
            let cases = left_out_cases(problem, DeviceKind::Cpu)?;
            if cases.is_empty() {
                continue;
            }
            let values = |case: &gpubench::catalog::Params| {
                let values = case.iter().map(|(name, value)| format!("{name}={}", value_text(value)));
                values.collect::<Vec<_>>().join(",")
            };
            flaws.push(HiddenFlaw {
                problem: problem.outline.path.clone(),
                place: (problem.outline.file.clone(), problem.outline.line),
                cases: cases.iter().map(values).collect(),
            });
        }
    }
    Ok(flaws)
}

impl HiddenFlaw {
    /// Returns what is wrong, as a sentence.
    pub(super) fn headline(&self) -> String {
        format!(
            "{} has the values of a public one",
            counted(self.cases.len(), "hidden case")
        )
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{ALLOWED, Axis, AxisValue};

    use super::super::session::JudgedCase;
    use super::*;
    use crate::broker::problems::example;

    fn flaws(hidden: &[i64], allow: &str) -> Vec<HiddenFlaw> {
        let axis = |values: &[i64]| Axis::of("n", values.iter().copied().map(AxisValue::Int).collect());
        let mut problem = example("scan");
        problem.outline.axes = vec![axis(&[64, 128])];
        problem.outline.settings = vec![(ALLOWED.to_owned(), allow.to_owned())];
        problem.hidden.axes = vec![axis(hidden)];
        let catalog = Catalog {
            benchmarks: vec![problem.outline.clone()],
            problems: vec![problem],
            ..Catalog::default()
        };
        let judged = Judged {
            cases: vec![JudgedCase {
                name: "scan::n=64".to_owned(),
                library: 0,
                benchmark: 0,
                outputs: Vec::new(),
            }],
            ..Judged::default()
        };
        hidden_flaws(&judged, &[catalog]).expect("few cases")
    }

    #[test]
    fn a_hidden_case_with_the_values_of_a_public_one_is_found_unless_it_is_allowed() {
        let found = flaws(&[100, 128], Rule::TooStrict.name());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].cases, ["n=128"]);
        assert_eq!(found[0].headline(), "1 hidden case has the values of a public one");
        assert_eq!(flaws(&[100, 200], Rule::TooStrict.name()), []);
        assert_eq!(flaws(&[100, 128], Rule::HiddenIsPublic.name()), []);
    }
}
