//! The results that a run measures, one by one.

use std::collections::BTreeMap;

use crate::broker::audit::Doorbells;
use crate::broker::cases::Case;
use crate::broker::cases::run_names::RunNames;
use crate::broker::contest::Contests;
use crate::broker::file_names::plain;
use crate::broker::options::{CaseOptions, CaseOrder};
use crate::broker::recording::preparation::{Prepared, PreparedCase};
use crate::broker::recording::selected::Selected;
use crate::broker::settings::RunSettings;
use gpubench_contract::{BenchmarkStarted, ContestShare};
use gpubench_measure::clients::MetricRequest;

/// The longest name of a case in the name of a file, in characters.
const LONGEST_NAME: usize = 150;

/// A case to be measured for one of its results.
pub(in crate::broker) struct Job<'j> {
    /// Position of the case among the selected ones.
    pub(in crate::broker) position: usize,
    pub(in crate::broker) case: &'j Case,
    pub(in crate::broker) prepared: &'j Prepared,
    pub(in crate::broker) options: CaseOptions,
    pub(in crate::broker) announced: BenchmarkStarted,
    /// Number of times of the case that are measured after this result.
    pub(in crate::broker) timed_left: usize,
    /// The contest, if it is measured in one.
    pub(in crate::broker) contest: Option<ContestShare>,
}

/// A case that can be measured.
pub(in crate::broker) struct Entry<'e, 'j> {
    pub(in crate::broker) job: &'e Job<'j>,
    pub(in crate::broker) prepared: &'j PreparedCase,
    /// Position of its job.
    pub(in crate::broker) position: usize,
    /// The contest that it is measured in.
    pub(in crate::broker) contest: Option<ContestShare>,
}

/// What a case is measured for.
#[derive(Clone, Copy)]
pub(in crate::broker) enum Purpose<'r> {
    /// Its times.
    Times,
    /// Its counts.
    Counts(MetricRequest<'r>),
    /// Nothing but its verdict.
    Verdict,
    /// What its calls ask of the driver, and submit.
    Audit(&'r Doorbells<'r>),
}

impl Entry<'_, '_> {
    /// Whether the calls of the case have nothing to write. It is then checked and not measured.
    pub(in crate::broker) fn writes_nothing(&self) -> bool {
        self.prepared.recorded.recording.writes_nothing()
    }
}

impl<'j> Job<'j> {
    /// Returns the jobs of a run, in the order of its results. `prepared` has the preparation of
    /// each selected case.
    pub(in crate::broker) fn all(
        selected: Selected<'j>,
        prepared: &'j [Prepared],
        names: &RunNames,
        settings: &RunSettings<'_>,
    ) -> Vec<Job<'j>> {
        let measurement = &settings.options.measurement;
        let contests = match settings.options.order {
            CaseOrder::OneByOne => Contests::default(),
            CaseOrder::InContests => Contests::among(selected.cases, |case| selected.benchmark(case)),
        };
        let announced = announced(names, selected.cases);
        let cases = selected.cases.iter().zip(prepared).zip(announced).enumerate();
        let of_case = |(position, ((case, prepared), announced)): (_, ((_, _), Vec<BenchmarkStarted>))| {
            let contest = contests.contest_of(position);
            let mut timed_left = announced.iter().filter(|started| started.metric.is_time()).count();
            announced.into_iter().map(move |announced| {
                timed_left -= usize::from(announced.metric.is_time());
                let options = measurement.of_result(case, selected.own_settings(case), &announced.metric);
                Job {
                    position,
                    case,
                    prepared,
                    contest: contest
                        .filter(|_| announced.metric.is_time())
                        .map(|number| settings.contest_share(number, &options)),
                    options,
                    announced,
                    timed_left,
                }
            })
        };
        let mut jobs: Vec<Job<'_>> = cases.flat_map(of_case).collect();
        let mut firsts: BTreeMap<u64, u64> = BTreeMap::new();
        for job in &mut jobs {
            if let Some(contest) = &mut job.contest {
                contest.number = *firsts.entry(contest.number).or_insert(job.announced.index);
            }
        }
        jobs
    }

    /// Returns the same job with the preparation of its case.
    pub(in crate::broker) fn prepared_as<'p>(&self, prepared: &'p Prepared) -> Job<'p>
    where
        'j: 'p,
    {
        Job {
            prepared,
            options: self.options.clone(),
            announced: self.announced.clone(),
            contest: self.contest.clone(),
            ..*self
        }
    }

    /// Returns the same job with a single call.
    pub(in crate::broker) fn once(&self) -> Job<'j> {
        Job {
            options: self.options.once(),
            announced: self.announced.clone(),
            timed_left: 0,
            contest: None,
            ..*self
        }
    }

    /// Divides jobs into those that are measured together: one alone, or those of a contest.
    pub(in crate::broker) fn together<'r>(jobs: &'r [Job<'j>]) -> Vec<Vec<&'r Job<'j>>> {
        let mut groups: Vec<Vec<&Job<'_>>> = Vec::new();
        for job in jobs {
            match groups.iter_mut().find(|group| group[0].competes_with(job)) {
                Some(group) => group.push(job),
                None => groups.push(vec![job]),
            }
        }
        groups
    }

    fn competes_with(&self, other: &Job<'_>) -> bool {
        let [own, others] = [self, other].map(|job| job.contest.as_ref().map(|contest| contest.number));
        own.is_some() && own == others
    }

    /// Returns what messages call the case and its reading.
    pub(super) fn label(&self) -> String {
        self.announced.reading().label(&self.case.full_name())
    }

    /// Returns the beginning of the names of files about the result. The number tells apart cases
    /// whose names differ only in characters that file names should not have.
    pub(super) fn file_name(&self) -> String {
        let name = self.case.full_name().replace("::", ".");
        format!("{}.{}", self.announced.index, plain(&name, LONGEST_NAME))
    }

    /// Returns whether another job is of the same case.
    pub(in crate::broker) fn is_of_case_of(&self, other: &Job<'_>) -> bool {
        std::ptr::eq(self.case, other.case)
    }

    /// Returns whether no result of the case is a time.
    pub(in crate::broker) fn is_only_counted(&self) -> bool {
        !self.case.metrics.times()
    }
}

/// Returns the first records of each case's results.
pub(in crate::broker) fn announced(names: &RunNames, cases: &[Case]) -> Vec<Vec<BenchmarkStarted>> {
    let mut index = 0;
    let mut announce = |case| {
        let announced = names.announce(case, index);
        index += announced.len();
        announced
    };
    cases.iter().map(&mut announce).collect()
}
