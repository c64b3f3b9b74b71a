//! The other revision of a run against one, and its cases.

use std::rc::Rc;

use gpubench::catalog::{Catalog, Fill, Recording, Tensor};

use super::other_revision::OtherRevision;
use super::results::OtherResults;
use crate::broker::cases::{Case, Disposition, full_names};
use crate::broker::recording::authors::Authors;
use crate::broker::recording::preparation::{Prepared, PreparedCase, compile_errors};
use crate::broker::selected::{Selected, Side};
use gpubench_device::compilers::Compiler;
use gpubench_diagnostic::print_warning;
use gpubench_measure::measurement::CaseFailure;

/// Cases of the other revision.
#[derive(Debug)]
pub(crate) struct OtherCases {
    /// Those that the candidate has as well, and that can run.
    shared: Vec<Case>,
    /// The others.
    only_there: Vec<Case>,
}

impl OtherCases {
    /// Tells those that the candidate has from others. Those that it has and that are not selected,
    /// `left_out`, take no part.
    pub(crate) fn beside(candidate: &[Case], left_out: &[Case], theirs: Vec<Case>) -> OtherCases {
        let (candidate, left_out) = (full_names(candidate), full_names(left_out));
        let theirs = theirs.into_iter().filter(|case| !left_out.contains(&case.full_name()));
        let (shared, only_there) = theirs.partition(|case| candidate.contains(&case.full_name()));
        OtherCases { shared, only_there }
    }

    /// Whether there are cases, and none that the candidate has.
    pub(crate) fn are_all_strange(&self) -> bool {
        self.shared.is_empty() && !self.only_there.is_empty()
    }
}

/// What the candidate is measured in turns with.
pub(crate) struct BaselineRun<'a> {
    /// The cases that both have.
    pub(crate) side: Side<'a>,
    /// Cases that the candidate lacks.
    pub(crate) only_there: &'a [Case],
    /// What came of them so far.
    pub(crate) results: OtherResults,
}

/// What there is of a case in the other revision.
pub(crate) enum BaselineCase<'p> {
    /// It has no such case.
    Absent,
    /// It can be measured in turns.
    Ready(&'p PreparedCase),
    /// It has the case, which cannot be measured with this one, for the reason given.
    Unlike(String),
    /// It could not be prepared.
    Failed(CaseFailure),
}

impl<'a> BaselineRun<'a> {
    /// The other revision on the device and with the kernels' cache of the candidate.
    pub(crate) fn new(
        revision: &'a OtherRevision,
        cases: &'a OtherCases,
        catalogs: &'a [Catalog],
        authors: Authors<'a>,
        compiler: Rc<dyn Compiler>,
        candidate: Selected<'a>,
    ) -> BaselineRun<'a> {
        BaselineRun {
            results: OtherResults::none_of(revision, &*compiler),
            side: Side {
                selected: Selected {
                    libraries: &revision.built().libraries,
                    catalogs,
                    cases: &cases.shared,
                    ..candidate
                },
                authors,
                compiler,
            },
            only_there: &cases.only_there,
        }
    }

    /// Compilers' messages about its cases are not reported: only those about the candidate are.
    pub(crate) fn warn_of_compile_errors(&self, prepared: &[Prepared]) {
        let name = &self.results.name;
        for error in compile_errors(prepared) {
            print_warning(&format_args!(
                "the baseline, `{name}`, has a kernel that does not compile, and its benchmarks are not compared: {error}"
            ));
        }
    }

    /// Whether it has a case of the candidate's and no result of it.
    pub(crate) fn owes(&self, candidate: &Case) -> bool {
        let name = candidate.full_name();
        let has = self.side.selected.cases.iter().any(|case| case.full_name() == name);
        has && !self.results.has(candidate)
    }
}

impl<'p> BaselineCase<'p> {
    /// What the other revision, whose `cases` are `prepared`, has of a case of the candidate's.
    pub(crate) fn of(
        candidate: &Case,
        recording: &Recording,
        cases: &'p [Case],
        prepared: &'p [Prepared],
    ) -> BaselineCase<'p> {
        let name = candidate.full_name();
        let mut cases = cases.iter().zip(prepared);
        let Some((case, prepared)) = cases.find(|(case, _)| case.full_name() == name) else {
            return BaselineCase::Absent;
        };
        match prepared {
            None => BaselineCase::Unlike(match &case.disposition {
                Disposition::Skip(reason) => reason.clone(),
                Disposition::Run => "it was not prepared".to_owned(),
            }),
            Some(Err(failure)) => BaselineCase::Failed(failure.clone()),
            Some(Ok(prepared)) => match difference(&prepared.recorded.recording.tensors, &recording.tensors) {
                Some(reason) => BaselineCase::Unlike(reason),
                None => BaselineCase::Ready(prepared),
            },
        }
    }
}

/// Why two cases cannot share buffers, inputs and a reference, if they cannot.
fn difference(theirs: &[Tensor], ours: &[Tensor]) -> Option<String> {
    if theirs.len() != ours.len() {
        let (theirs, ours) = (theirs.len(), ours.len());
        return Some(format!("it has {theirs} tensors there and {ours} here"));
    }
    let is_other = |theirs: &Tensor, ours: &Tensor| {
        !has_same_inputs(theirs, ours)
            || Tensor {
                fill: ours.fill.clone(),
                ..theirs.clone()
            } != *ours
    };
    let (theirs, ours) = theirs.iter().zip(ours).find(|(theirs, ours)| is_other(theirs, ours))?;
    let name = &ours.name;
    let what = if theirs.name != ours.name {
        return Some(format!("`{name}` is called `{}` there", theirs.name));
    } else if (theirs.dtype, &theirs.shape) != (ours.dtype, &ours.shape) {
        "another type or shape"
    } else if theirs.role != ours.role {
        "another role"
    } else if !has_same_inputs(theirs, ours) {
        "other inputs"
    } else {
        "another tolerance"
    };
    Some(format!("`{name}` has {what} there"))
}

/// Generator kernels are the candidate's on both sides, and their sources may be numbered otherwise
/// there.
fn has_same_inputs(theirs: &Tensor, ours: &Tensor) -> bool {
    theirs.fill == ours.fill || matches!((&theirs.fill, &ours.fill), (Fill::Kernel(_), Fill::Kernel(_)))
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{AxisValue, DType, Role, Tolerance};

    use super::*;

    fn tensor(name: &str) -> Tensor {
        Tensor {
            name: name.to_owned(),
            dtype: DType::F32,
            shape: vec![600],
            role: Role::Output,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
        }
    }

    #[test]
    fn what_is_not_selected_here_is_not_called_removed() {
        let case = |n: i64| Case {
            package: "suite".to_owned(),
            benchmark: 0,
            path: "axpy".to_owned(),
            params: [("n".to_owned(), AxisValue::Int(n))].into_iter().collect(),
            disposition: Disposition::Run,
        };
        let numbers = |cases: &[Case]| -> Vec<String> { cases.iter().map(Case::name).collect() };
        let OtherCases { shared, only_there } =
            OtherCases::beside(&[case(1), case(2)], &[case(3)], vec![case(2), case(3), case(4)]);
        assert_eq!(numbers(&shared), ["axpy::n=2"]);
        assert_eq!(numbers(&only_there), ["axpy::n=4"]);
    }

    #[test]
    fn what_keeps_two_cases_apart_is_named() {
        let ours = [tensor("x"), tensor("y")];
        let said = |theirs: &[Tensor]| difference(theirs, &ours);
        assert_eq!(said(&ours), None);
        assert_eq!(said(&ours[..1]).unwrap(), "it has 1 tensors there and 2 here");
        assert_eq!(said(&[tensor("x"), tensor("z")]).unwrap(), "`y` is called `z` there");
        let larger = Tensor {
            shape: vec![601],
            ..tensor("y")
        };
        assert_eq!(
            said(&[tensor("x"), larger]).unwrap(),
            "`y` has another type or shape there"
        );
        let input = Tensor {
            role: Role::InOut,
            ..tensor("y")
        };
        assert_eq!(said(&[tensor("x"), input]).unwrap(), "`y` has another role there");
        let lenient = Tensor {
            tolerance: Tolerance::Close { rtol: 0.1, atol: 0.0 },
            ..tensor("y")
        };
        assert_eq!(
            said(&[tensor("x"), lenient]).unwrap(),
            "`y` has another tolerance there"
        );
    }
}
