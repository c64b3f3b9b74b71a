//! The baseline of an interleaved run, and its cases.

use gpubench::catalog::Recording;

use super::other_revision::OtherRevision;
use super::results::OtherResults;
use crate::admission::memory_needed_in_turns;
use crate::broker::cases::{Case, Disposition, full_names};
use crate::broker::recording::preparation::{Prepared, PreparedCase, compile_errors};
use crate::broker::recording::same_tensors::difference;
use crate::broker::recording::selected::Side;
use gpubench_contract::ResultKey;
use gpubench_contract::units::size;
use gpubench_device::Facts;
use gpubench_diagnostic::print_warning;
use gpubench_measure::measurement::CaseFailure;
use gpubench_protocol::window::CodePlacement;

/// Cases of the baseline.
#[derive(Debug)]
pub(crate) struct OtherCases {
    /// Cases that the candidate also has.
    shared: Vec<Case>,
    /// Cases that the candidate lacks.
    only_in_baseline: Vec<Case>,
}

impl OtherCases {
    /// Separates the cases that the candidate also has from the rest. Drops the cases in
    /// `left_out`, which the candidate has but does not select.
    pub(crate) fn split(candidate: &[Case], left_out: &[Case], theirs: Vec<Case>) -> OtherCases {
        let (candidate, left_out) = (full_names(candidate), full_names(left_out));
        let theirs = theirs.into_iter().filter(|case| !left_out.contains(&case.full_name()));
        let (shared, only_in_baseline) = theirs.partition(|case| candidate.contains(&case.full_name()));
        OtherCases {
            shared,
            only_in_baseline,
        }
    }

    /// Returns the cases that the candidate also has.
    pub(crate) fn shared(&self) -> &[Case] {
        &self.shared
    }

    /// Returns whether there are cases, but none that the candidate has.
    pub(crate) fn share_none(&self) -> bool {
        self.shared.is_empty() && !self.only_in_baseline.is_empty()
    }
}

/// The baseline that the candidate alternates with.
pub(crate) struct BaselineRun<'a> {
    /// The libraries, and the cases that both sides have.
    pub(crate) side: Side<'a>,
    /// Cases that the candidate lacks.
    pub(crate) only_in_baseline: &'a [Case],
    /// The results so far.
    pub(crate) results: OtherResults,
}

/// The baseline's counterpart of a case.
pub(crate) enum BaselineCase<'p> {
    /// The baseline has no such case.
    Absent,
    /// The case can alternate with the candidate's.
    Ready(&'p PreparedCase),
    /// The case cannot alternate with the candidate's; the text says why.
    Unlike(String),
    /// The case could not be prepared.
    Failed(CaseFailure),
}

impl<'a> BaselineRun<'a> {
    /// Returns the baseline. Its side is on the candidate's device, with its cache of kernels.
    pub(crate) fn new(revision: &'a OtherRevision, cases: &'a OtherCases, side: Side<'a>) -> BaselineRun<'a> {
        BaselineRun {
            results: OtherResults::none_of(revision, &*side.compiler),
            side,
            only_in_baseline: &cases.only_in_baseline,
        }
    }

    /// Warns of kernels that do not compile. The reports show only compiler messages about the
    /// candidate.
    pub(crate) fn warn_of_compile_errors(&self, prepared: &[Prepared]) {
        let name = &self.results.name;
        for error in compile_errors(prepared) {
            print_warning(&format_args!(
                "the baseline `{name}` has a kernel that does not compile; cases that launch it are not compared: {error}"
            ));
        }
    }

    /// Returns whether the baseline has a case of the candidate but no result with this key, which
    /// is of the case.
    pub(crate) fn lacks_result_of(&self, candidate: &Case, key: &ResultKey) -> bool {
        let name = candidate.full_name();
        let has = self.side.selected.cases.iter().any(|case| case.full_name() == name);
        has && !self.results.has(key)
    }
}

impl<'p> BaselineCase<'p> {
    /// Returns the counterpart of a candidate's case among the `cases` of the baseline and their
    /// preparations, `prepared`.
    pub(crate) fn new(
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
                Disposition::Run => "it was not prepared in the baseline".to_owned(),
            }),
            Some(Err(failure)) => BaselineCase::Failed(failure.clone()),
            Some(Ok(_)) if recording.writes_nothing() => {
                BaselineCase::Unlike("all outputs of the candidate are empty, so it has no time to compare".to_owned())
            }
            Some(Ok(prepared)) => match difference(
                ("the baseline", &prepared.recorded.recording),
                ("the candidate", recording),
            ) {
                Some(reason) => BaselineCase::Unlike(reason),
                None => BaselineCase::Ready(prepared),
            },
        }
    }
}

impl<'p> BaselineCase<'p> {
    /// Returns the reference of a submission's problem as what its case alternates with.
    pub(crate) fn of_reference(submission: &Recording, reference: &'p PreparedCase, facts: &Facts) -> BaselineCase<'p> {
        let theirs = &reference.recorded.recording;
        let needed = memory_needed_in_turns(&CodePlacement::new(submission, facts.kernels_run_in), [theirs]);
        let free = facts.free_memory.unwrap_or(u64::MAX);
        if let Some(reason) = difference(("the reference", theirs), ("the submission", submission)) {
            BaselineCase::Unlike(reason)
        } else if needed > free {
            let (needed, free) = (size(needed), size(free));
            BaselineCase::Unlike(format!("both need {needed} of memory at once, and {free} are free"))
        } else {
            BaselineCase::Ready(reference)
        }
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::AxisValue;

    use super::*;
    use crate::config::{Metrics, Modes};
    use gpubench_contract::Mode;

    #[test]
    fn unselected_cases_do_not_count_as_removed() {
        let case = |n: i64| Case {
            package: "suite".to_owned(),
            library: 0,
            benchmark: 0,
            path: "axpy".to_owned(),
            params: [("n".to_owned(), AxisValue::Int(n))].into_iter().collect(),
            modes: Modes::only(Mode::Cold),
            metrics: Metrics::TIME,
            counters: Vec::new(),
            disposition: Disposition::Run,
        };
        let numbers = |cases: &[Case]| -> Vec<String> { cases.iter().map(Case::name).collect() };
        let OtherCases {
            shared,
            only_in_baseline,
        } = OtherCases::split(&[case(1), case(2)], &[case(3)], vec![case(2), case(3), case(4)]);
        assert_eq!(numbers(&shared), ["axpy::n=2"]);
        assert_eq!(numbers(&only_in_baseline), ["axpy::n=4"]);
    }
}
