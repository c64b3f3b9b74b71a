//! Recording every case twice, in two processes, and validating what was recorded.

use gpubench::catalog::{Catalog, OccupancyQuery, RecordRequest, Recording};
use gpubench::codec;

use super::authors::Authors;
use crate::admission::{memory_needed, validate};
use crate::broker::cases::Case;
use crate::broker::code::occupancy::{NoAnswer, Occupancies};
use gpubench_contract::Cause;
use gpubench_contract::units::size;
use gpubench_device::Facts;
use gpubench_diagnostic::Interrupted;
use gpubench_measure::clients::{AuthorClient, AuthorProblem, Interrupt, Recorded, RoleFailure};
use gpubench_measure::measurement::CaseFailure;
use gpubench_protocol::window::Duties;

/// Most different occupancies that a plan may depend on.
const MOST_OCCUPANCIES: usize = 64;

/// A case with its validated recording.
#[derive(Debug)]
pub(crate) struct RecordedCase {
    /// The encoded request it was recorded for.
    pub(crate) request: Vec<u8>,
    /// What was recorded.
    pub(crate) recording: Recording,
    /// Its encoding.
    pub(crate) encoded: Vec<u8>,
}

/// Records every case of one library. A case that cannot be recorded has its failure; the others go on.
pub(crate) fn record_cases(
    cases: &[&Case],
    library: usize,
    catalog: &Catalog,
    facts: &Facts,
    authors: &mut Authors<'_>,
    occupancies: &mut Occupancies<'_>,
    interrupt: &Interrupt,
) -> Result<Vec<Result<RecordedCase, CaseFailure>>, Interrupted> {
    let mut second = None;
    cases
        .iter()
        .map(|case| {
            let mut request = RecordRequest {
                params: case.params.clone(),
                facts: facts.device.clone(),
                occupancies: Vec::new(),
            };
            let recorded = loop {
                match record_twice(case, &request, library, authors, &mut second, interrupt) {
                    Ok(Recorded::Recording(recording, encoded)) => break Ok((recording, encoded)),
                    Ok(Recorded::NeedsOccupancy(query)) => {
                        if let Err(error) = add_occupancy(&mut request, &query, occupancies) {
                            break Err(error);
                        }
                    }
                    Err(error) => break Err(error),
                }
            };
            match recorded {
                Err(RecordError::Interrupted) => Err(Interrupted),
                Err(RecordError::Failed(failure)) => Ok(Err(failure)),
                Ok((recording, encoded)) => Ok(admit(&recording, catalog, facts).map(|()| RecordedCase {
                    request: codec::encode(&request),
                    recording,
                    encoded,
                })),
            }
        })
        .collect()
}

/// Whether a recording can be measured on the device.
fn admit(recording: &Recording, catalog: &Catalog, facts: &Facts) -> Result<(), CaseFailure> {
    let duties = Duties::new(recording, facts.kernels_run_in);
    validate(&duties, catalog, &facts.device)
        .map_err(|invalid| CaseFailure::error(Cause::PlanInvalid, invalid.to_string()))?;
    let (needed, free) = (memory_needed(&duties), facts.free_memory.unwrap_or(u64::MAX));
    if needed > free {
        let message = format!(
            "it takes {} of memory with the copies that checking needs, and {} are free (hint: `--axis` chooses a smaller size)",
            size(needed),
            size(free)
        );
        return Err(CaseFailure::error(Cause::OutOfMemory, message));
    }
    Ok(())
}

enum RecordError {
    Interrupted,
    Failed(CaseFailure),
}

fn record_twice(
    case: &Case,
    request: &RecordRequest,
    library: usize,
    authors: &mut Authors<'_>,
    second: &mut Option<AuthorClient>,
    interrupt: &Interrupt,
) -> Result<Recorded, RecordError> {
    let benchmark = case.benchmark as u32;
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
        let message = "a second process recorded another plan for the same case (hint: a benchmark function may depend on its axes and the \
                       device's facts alone, not on time, randomness, addresses or the environment)";
        return Err(RecordError::Failed(CaseFailure::error(Cause::NotReproducible, message)));
    }
    Ok(Recorded::Recording(recording, encoded))
}

/// Puts the answer to a query into the request.
fn add_occupancy(
    request: &mut RecordRequest,
    query: &OccupancyQuery,
    occupancies: &mut Occupancies<'_>,
) -> Result<(), RecordError> {
    let known = request.occupancies.iter().any(|known| known.query == *query);
    if known || request.occupancies.len() == MOST_OCCUPANCIES {
        let message = format!(
            "it asks for the occupancy of `{}` again and again (hint: a plan may ask for {MOST_OCCUPANCIES} different ones)",
            query.kernel
        );
        return Err(RecordError::Failed(CaseFailure::error(Cause::RecordingFailed, message)));
    }
    match occupancies.answer(query) {
        Ok(occupancy) => {
            request.occupancies.push(occupancy);
            Ok(())
        }
        Err(NoAnswer::Interrupted) => Err(RecordError::Interrupted),
        Err(NoAnswer::Failed(failure)) => Err(RecordError::Failed(failure)),
    }
}

fn explain(problem: AuthorProblem) -> RecordError {
    let cause = match &problem {
        AuthorProblem::Role(RoleFailure::Interrupted) => return RecordError::Interrupted,
        AuthorProblem::Role(RoleFailure::Silent { .. }) => Cause::RecordingTimeout,
        _ => Cause::RecordingFailed,
    };
    RecordError::Failed(CaseFailure::author(cause, &problem))
}
