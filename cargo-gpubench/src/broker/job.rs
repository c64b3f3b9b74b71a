//! The results that a run measures, one by one.

use super::cases::Case;
use super::options::CaseOptions;
use super::recording::preparation::Prepared;
use super::run_names::RunNames;
use super::selected::Selected;
use super::settings::RunSettings;
use gpubench_contract::BenchmarkStarted;

/// A case to be measured for one of its results.
pub(super) struct Job<'j> {
    pub(super) case: &'j Case,
    pub(super) prepared: &'j Prepared,
    pub(super) options: CaseOptions,
    pub(super) announced: BenchmarkStarted,
    /// Number of times of the case that are measured after this result.
    pub(super) timed_left: usize,
}

impl<'j> Job<'j> {
    /// Returns the jobs of a run, in the order of its results. `prepared` has the preparation of
    /// each selected case.
    pub(super) fn all(
        selected: Selected<'j>,
        prepared: &'j [Prepared],
        names: &RunNames,
        settings: &RunSettings<'_>,
    ) -> Vec<Job<'j>> {
        let measurement = &settings.options.measurement;
        let announced = announced(names, selected.cases);
        let cases = selected.cases.iter().zip(prepared).zip(announced);
        let of_case = |((case, prepared), announced): ((&'j Case, &'j Prepared), Vec<BenchmarkStarted>)| {
            let mut timed_left = announced.iter().filter(|started| started.metric.is_time()).count();
            announced.into_iter().map(move |announced| {
                timed_left -= usize::from(announced.metric.is_time());
                Job {
                    case,
                    prepared,
                    options: measurement.of_result(case, selected.library(case).settings, &announced.metric),
                    announced,
                    timed_left,
                }
            })
        };
        cases.flat_map(of_case).collect()
    }

    /// Returns the same job with a single call.
    pub(super) fn once(&self) -> Job<'j> {
        Job {
            options: self.options.once(),
            announced: self.announced.clone(),
            timed_left: 0,
            ..*self
        }
    }

    /// Returns whether another job is of the same case.
    pub(super) fn is_of_case_of(&self, other: &Job<'_>) -> bool {
        std::ptr::eq(self.case, other.case)
    }

    /// Returns whether no result of the case is a time.
    pub(super) fn is_only_counted(&self) -> bool {
        !self.case.metrics.times()
    }
}

/// Returns the first records of each case's results.
pub(super) fn announced(names: &RunNames, cases: &[Case]) -> Vec<Vec<BenchmarkStarted>> {
    let mut index = 0;
    let mut announce = |case| {
        let announced = names.announce(case, index);
        index += announced.len();
        announced
    };
    cases.iter().map(&mut announce).collect()
}
