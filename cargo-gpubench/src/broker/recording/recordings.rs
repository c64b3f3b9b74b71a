//! Recording: every case twice, in two processes, and validation of the recordings.

use gpubench::catalog::{Catalog, OccupancyQuery, RecordRequest, Recording};
use gpubench::codec;
use gpubench::plan::Plan;

use super::selected::position_for_author;
use crate::admission::{memory_needed, validate, validate_problem};
use crate::broker::cases::Case;
use crate::broker::code::occupancy::{NoAnswer, Occupancies};
use crate::broker::dataset::Described;
use crate::broker::grading::Entrants;
use crate::broker::libraries::authors::Authors;
use gpubench_contract::Cause;
use gpubench_contract::units::size;
use gpubench_device::Facts;
use gpubench_diagnostic::Interrupted;
use gpubench_measure::clients::{AuthorClient, AuthorProblem, Recorded, RoleFailure};
use gpubench_measure::measurement::CaseFailure;
use gpubench_measure::timeline::{self, Track};
use gpubench_protocol::window::CodePlacement;
use gpubench_protocol::wire::AuthorFailure;

/// Most different occupancies that a plan may query.
const MOST_OCCUPANCIES: usize = 64;

/// A case with its validated recording.
#[derive(Debug)]
pub(crate) struct RecordedCase {
    /// The encoded request for the recording.
    pub(crate) request: Vec<u8>,
    /// The recording.
    pub(crate) recording: Recording,
    /// The encoded recording.
    pub(crate) encoded: Vec<u8>,
}

/// What the cases of a library are cases of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// Its benchmarks, which record their own plans.
    Benchmarks,
    /// Submissions, which complete the recordings of its problems.
    Submissions(&'a Entrants),
    /// Its problems. The recordings have no plan.
    Problems,
}

impl<'a> Subject<'a> {
    fn entrants(self) -> Option<&'a Entrants> {
        match self {
            Subject::Submissions(entrants) => Some(entrants),
            Subject::Benchmarks | Subject::Problems => None,
        }
    }
}

/// Records every case of one library. A case that cannot be recorded does not stop the others.
pub(crate) fn record_cases(
    cases: &[&Case],
    library: usize,
    facts: &Facts,
    authors: &mut Authors<'_>,
    occupancies: Occupancies<'_>,
    subject: Subject<'_>,
) -> Result<Vec<Result<RecordedCase, CaseFailure>>, Interrupted> {
    let mut recorder = Recorder {
        library,
        facts,
        authors,
        second: None,
        occupancies,
        subject,
    };
    let _records = timeline::span(Track::Command, "records the cases");
    let recorded = cases.iter().map(|case| match recorder.record(case) {
        Ok(recorded) => Ok(Ok(recorded)),
        Err(NoAnswer::Failed(failure)) => Ok(Err(failure)),
        Err(NoAnswer::Interrupted) => Err(Interrupted),
    });
    recorded.collect()
}

/// The processes and facts that record the cases of one library.
struct Recorder<'r, 'a, 'o> {
    library: usize,
    facts: &'r Facts,
    authors: &'r mut Authors<'a>,
    /// The second author of the library, started when it is first needed.
    second: Option<AuthorClient>,
    occupancies: Occupancies<'o>,
    subject: Subject<'r>,
}

/// Checks that a recording can be measured on the device.
fn admit(recording: &Recording, subject: Subject<'_>, catalog: &Catalog, facts: &Facts) -> Result<(), CaseFailure> {
    let placement = CodePlacement::new(recording, facts.kernels_run_in);
    let validate = match subject {
        Subject::Benchmarks | Subject::Submissions(_) => validate,
        Subject::Problems => validate_problem,
    };
    validate(&placement, catalog, &facts.device)
        .map_err(|invalid| CaseFailure::error(Cause::PlanInvalid, invalid.to_string()))?;
    let (needed, free) = (memory_needed(&placement), facts.free_memory.unwrap_or(u64::MAX));
    if needed > free {
        let message = format!(
            "it needs {} of memory, including the copies for checking, and {} are free (hint: choose a smaller size with `--axis`)",
            size(needed),
            size(free)
        );
        return Err(CaseFailure::error(Cause::OutOfMemory, message));
    }
    Ok(())
}

impl Recorder<'_, '_, '_> {
    fn record(&mut self, case: &Case) -> Result<RecordedCase, NoAnswer> {
        let entrants = self.subject.entrants();
        let described = entrants.and_then(|entrants| entrants.described(case));
        let Described { mut recording, request } = match described {
            Some(described) => described.map_err(NoAnswer::Failed)?,
            None => self.record_by_author(case)?,
        };
        match self.subject {
            Subject::Benchmarks => {}
            Subject::Submissions(entrants) => {
                let completed = entrants.complete(case, &mut recording, &self.facts.device);
                completed.map_err(NoAnswer::Failed)?;
            }
            Subject::Problems => recording.plan = Plan::default(),
        }
        admit(&recording, self.subject, self.occupancies.build.catalog, self.facts).map_err(NoAnswer::Failed)?;
        Ok(RecordedCase {
            request,
            encoded: codec::encode(&recording),
            recording,
        })
    }

    fn record_by_author(&mut self, case: &Case) -> Result<Described, NoAnswer> {
        let params = self
            .subject
            .entrants()
            .map_or(&case.params, |entrants| entrants.params(case));
        let mut request = RecordRequest {
            params: params.clone(),
            facts: self.facts.device.clone(),
            occupancies: Vec::new(),
        };
        loop {
            match self.record_twice(case, &request)? {
                Recorded::Recording(recording, _) => {
                    return Ok(Described {
                        recording: *recording,
                        request: codec::encode(&request),
                    });
                }
                Recorded::NeedsOccupancy(query) => self.add_occupancy(&mut request, &query)?,
            }
        }
    }

    fn record_twice(&mut self, case: &Case, request: &RecordRequest) -> Result<Recorded, NoAnswer> {
        let (library, interrupt) = (self.library, self.occupancies.build.interrupt);
        let Recorder { authors, second, .. } = self;
        let benchmark = position_for_author(self.subject.entrants(), case);
        let first = authors
            .client(library)
            .and_then(|author| author.record(benchmark, request, interrupt));
        let first = first.map_err(|problem| {
            if matches!(problem, AuthorProblem::Role(_)) {
                authors.retire(library);
            }
            explain(problem)
        })?;
        let Recorded::Recording(recording, encoded) = first else {
            return Ok(first);
        };
        if second.is_none() {
            *second = Some(authors.second(library).map_err(explain)?);
        }
        let again = match second {
            Some(author) => author.record(benchmark, request, interrupt),
            None => return Ok(Recorded::Recording(recording, encoded)),
        };
        let again = again.map_err(|problem| {
            if matches!(problem, AuthorProblem::Role(_)) {
                *second = None;
            }
            explain(problem)
        })?;
        let same = matches!(&again, Recorded::Recording(_, again) if *again == encoded);
        if !same {
            let message = "a second process recorded a different launch plan for this case (hint: let the benchmark function depend only on its axes and the \
                       device facts, not on time, randomness, addresses or the environment)";
            return Err(NoAnswer::Failed(CaseFailure::error(Cause::NotReproducible, message)));
        }
        Ok(Recorded::Recording(recording, encoded))
    }

    /// Adds the answer to a query to the request.
    fn add_occupancy(&mut self, request: &mut RecordRequest, query: &OccupancyQuery) -> Result<(), NoAnswer> {
        may_ask(request, query).map_err(NoAnswer::Failed)?;
        request.occupancies.push(self.occupancies.answer(query)?);
        Ok(())
    }
}

/// Checks that a plan may query another occupancy.
fn may_ask(request: &RecordRequest, query: &OccupancyQuery) -> Result<(), CaseFailure> {
    let known = request.occupancies.iter().any(|known| known.query == *query);
    if known || request.occupancies.len() >= MOST_OCCUPANCIES {
        let message = format!(
            "it calls `occupancy` too often, last for kernel `{}` (hint: use at most {MOST_OCCUPANCIES} combinations of kernel, threads and shared memory)",
            query.kernel
        );
        return Err(CaseFailure::error(Cause::RecordingFailed, message));
    }
    Ok(())
}

fn explain(problem: AuthorProblem) -> NoAnswer {
    let cause = match &problem {
        AuthorProblem::Refused {
            failure: AuthorFailure::Skipped,
            message,
        } => return NoAnswer::Failed(CaseFailure::skipped(message.clone())),
        AuthorProblem::Role(RoleFailure::Interrupted) => return NoAnswer::Interrupted,
        AuthorProblem::Role(RoleFailure::Silent { .. }) => Cause::RecordingTimeout,
        _ => Cause::RecordingFailed,
    };
    NoAnswer::Failed(CaseFailure::author(cause, &problem))
}

#[cfg(test)]
mod tests;
