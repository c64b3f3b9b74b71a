//! Which cases compete.

use std::collections::BTreeMap;

use gpubench::catalog::{AxisValue, Benchmark};

use super::error::ContestError;
use crate::broker::cases::{Case, Disposition};
use gpubench_contract::Mode;

/// The contests of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::broker) struct Contests {
    /// The positions of the contestants among the cases of the run, at least two for each contest.
    members: Vec<Vec<usize>>,
}

/// A case that may compete.
struct Candidate<'c> {
    position: usize,
    case: &'c Case,
    benchmark: &'c Benchmark,
}

/// What the cases of a contest have in common: package, problem, mode, and the values of the
/// problem's axes.
#[derive(PartialEq)]
struct Common<'c> {
    package: &'c str,
    problem: &'c str,
    mode: Mode,
    params: Vec<(&'c str, &'c AxisValue)>,
}

impl Contests {
    /// Returns the contests among the cases of a run, given the benchmark of each.
    pub(in crate::broker) fn among<'b>(
        cases: &[Case],
        benchmark_of: impl Fn(&Case) -> Option<&'b Benchmark>,
    ) -> Contests {
        let candidates = cases.iter().enumerate();
        let candidates = candidates.filter(|(_, case)| case.disposition == Disposition::Run);
        let candidates = candidates.filter_map(|(position, case)| {
            Some(Candidate {
                position,
                case,
                benchmark: benchmark_of(case)?,
            })
        });
        let candidates: Vec<Candidate<'_>> = candidates.collect();
        Contests {
            members: groups_of(&candidates),
        }
    }

    /// Checks that there is a contest, and that its cases can compete. `every_benchmark` are those
    /// of the libraries, selected or not.
    ///
    /// # Errors
    /// No case has a rival, or one cannot compete.
    pub(in crate::broker) fn check<'b>(
        &self,
        cases: &[Case],
        every_benchmark: impl Iterator<Item = &'b Benchmark>,
    ) -> Result<(), ContestError> {
        if self.members.is_empty() && !cases.is_empty() {
            let mut problems: BTreeMap<&str, usize> = BTreeMap::new();
            every_benchmark.for_each(|benchmark| *problems.entry(&benchmark.problem).or_default() += 1);
            let several = problems.into_iter().filter(|(_, benchmarks)| *benchmarks > 1);
            return Err(ContestError::NoRivals {
                problems: several
                    .map(|(problem, benchmarks)| (problem.to_owned(), benchmarks))
                    .collect(),
            });
        }
        let mut members = self.members.iter().flatten();
        members.try_for_each(|position| ensure_can_compete(&cases[*position]))
    }

    /// Returns the number of the contest that a case takes part in, by the case's position.
    pub(in crate::broker) fn contest_of(&self, position: usize) -> Option<usize> {
        self.members.iter().position(|members| members.contains(&position))
    }
}

fn groups_of(candidates: &[Candidate<'_>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Common<'_>, Vec<usize>)> = Vec::new();
    for candidate in candidates {
        let common = candidate.common();
        match groups.iter_mut().find(|(known, _)| *known == common) {
            Some((_, members)) => members.push(candidate.position),
            None => groups.push((common, vec![candidate.position])),
        }
    }
    let members = groups.into_iter().map(|(_, members)| members);
    members.filter(|members| members.len() > 1).collect()
}

impl<'c> Candidate<'c> {
    fn common(&self) -> Common<'c> {
        let params = self.case.params.iter();
        Common {
            package: &self.case.package,
            problem: &self.benchmark.problem,
            mode: self.case.modes.first(),
            params: params
                .filter(|(axis, _)| !self.benchmark.own_axes.contains(axis))
                .map(|(axis, value)| (axis.as_str(), value))
                .collect(),
        }
    }
}

fn ensure_can_compete(case: &Case) -> Result<(), ContestError> {
    let modes: Vec<String> = case.modes.iter().map(|mode| mode.to_string()).collect();
    if modes.len() > 1 {
        return Err(ContestError::SeveralModes {
            case: case.name(),
            modes,
        });
    }
    if case.metrics.times() {
        Ok(())
    } else {
        Err(ContestError::NoTimes { case: case.name() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Metrics, Modes};

    fn case(path: &str, params: &[(&str, i64)]) -> Case {
        let params = params
            .iter()
            .map(|(name, value)| ((*name).to_owned(), AxisValue::Int(*value)));
        Case {
            package: "suite".to_owned(),
            library: 0,
            benchmark: 0,
            path: path.to_owned(),
            params: params.collect(),
            modes: Modes::only(Mode::Cold),
            metrics: Metrics::TIME,
            counters: Vec::new(),
            disposition: Disposition::Run,
        }
    }

    fn benchmark(problem: &str) -> Benchmark {
        Benchmark {
            library: "suite".to_owned(),
            path: String::new(),
            problem: problem.to_owned(),
            file: String::new(),
            line: 1,
            selection: gpubench::catalog::Selection::Default,
            requirements: Vec::new(),
            axes: Vec::new(),
            own_axes: vec!["tile".to_owned()],
            counters: Vec::new(),
            device_axes: Vec::new(),
            settings: Vec::new(),
            own_library: None,
        }
    }

    /// Returns the contests of cases of one problem, but for those of `other`, which has its own.
    fn contests(cases: &[Case]) -> Contests {
        let (shared, own) = (benchmark("problem"), benchmark("other"));
        Contests::among(cases, |case| Some(if case.path == "other" { &own } else { &shared }))
    }

    #[test]
    fn cases_of_a_problem_compete_at_equal_arguments_of_its_axes() {
        let cases = [
            case("naive", &[("n", 64)]),
            case("naive", &[("n", 128)]),
            case("tiled", &[("n", 64), ("tile", 8)]),
            case("tiled", &[("n", 64), ("tile", 16)]),
            case("other", &[("n", 64)]),
        ];
        assert_eq!(contests(&cases).members, [[0, 2, 3]]);
        assert_eq!(
            [0, 1, 3, 4].map(|position| contests(&cases).contest_of(position)),
            [Some(0), None, Some(0), None]
        );
    }

    #[test]
    fn values_of_an_axis_that_benchmarks_add_compete() {
        let cases = [
            case("tiled", &[("n", 64), ("tile", 8)]),
            case("tiled", &[("n", 128), ("tile", 8)]),
            case("tiled", &[("n", 64), ("tile", 16)]),
            case("further", &[("n", 64), ("tile", 16)]),
        ];
        assert_eq!(contests(&cases[..3]).members, [[0, 2]]);
        assert_eq!(contests(&cases).members, [[0, 2, 3]]);
    }

    #[test]
    fn cases_of_other_modes_packages_or_devices_are_no_rivals() {
        let warm = Case {
            modes: Modes::only(Mode::Warm),
            ..case("warm", &[])
        };
        let foreign = Case {
            package: "foreign".to_owned(),
            ..case("foreign", &[])
        };
        let skipped = Case {
            disposition: Disposition::Skip("needs a CUDA device".to_owned()),
            ..case("skipped", &[])
        };
        let cases = [case("cold", &[]), warm, foreign, skipped];
        let alone = contests(&cases);
        assert_eq!(alone, Contests::default());
        let [one, two] = [benchmark("problem"), benchmark("problem")];
        let error = alone.check(&cases, [&one, &two].into_iter()).unwrap_err();
        assert!(matches!(error, ContestError::NoRivals { problems } if problems == [("problem".to_owned(), 2)]));
        assert!(
            alone.check(&[], std::iter::empty()).is_ok(),
            "a part of a partition may be empty"
        );
    }

    #[test]
    fn only_problems_of_several_benchmarks_are_named() {
        let cases = [case("naive", &[])];
        let benchmarks = ["one", "two", "two", "three"].map(benchmark);
        let error = contests(&cases).check(&cases, benchmarks.iter()).unwrap_err();
        assert!(matches!(error, ContestError::NoRivals { problems } if problems == [("two".to_owned(), 2)]));
    }

    #[test]
    fn every_member_of_every_contest_is_checked() {
        let both: Modes = "cold,warm".parse().unwrap();
        for position in 0..4 {
            let numbers = [1, 1, 2, 2];
            let mut cases: Vec<Case> = numbers.iter().map(|n| case("naive", &[("n", *n)])).collect();
            assert!(contests(&cases).check(&cases, std::iter::empty()).is_ok());
            cases[position].modes = both;
            let error = contests(&cases).check(&cases, std::iter::empty()).unwrap_err();
            assert!(matches!(error, ContestError::SeveralModes { .. }), "{position}");
        }
    }
}
