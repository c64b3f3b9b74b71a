//! Recording every case twice, in two processes, and validating what was recorded.

use gpubench::catalog::{Catalog, RecordRequest, Recording};
use gpubench::codec;

use super::authors::Authors;
use super::cases::Case;
use super::failure::CaseFailure;
use crate::admission::{memory_needed, validate};
use crate::clients::{AuthorClient, AuthorProblem, Interrupt, RoleFailure};
use crate::device::Facts;
use crate::report::units::size;
use crate::verdict::Cause;
use crate::window::Duties;

/// A case with its validated recording.
#[derive(Debug)]
pub(super) struct RecordedCase {
    /// The encoded request it was recorded for.
    pub(super) request: Vec<u8>,
    /// What was recorded.
    pub(super) recording: Recording,
    /// Its encoding.
    pub(super) encoded: Vec<u8>,
}

/// The user wants the run to end.
#[derive(Debug)]
pub(super) struct Interrupted;

/// Records every case of one library. A case that cannot be recorded has its failure; the others go on.
pub(super) fn record_cases(
    cases: &[&Case],
    library: usize,
    catalog: &Catalog,
    facts: &Facts,
    authors: &mut Authors<'_>,
    interrupt: &Interrupt,
) -> Result<Vec<Result<RecordedCase, CaseFailure>>, Interrupted> {
    let mut second = None;
    cases
        .iter()
        .map(|case| {
            let request = RecordRequest {
                params: case.params.clone(),
                facts: facts.device.clone(),
            };
            let recorded = record_twice(case, &request, library, authors, &mut second, interrupt);
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
    validate(recording, catalog, &facts.device)
        .map_err(|invalid| CaseFailure::error(Cause::PlanInvalid, invalid.to_string()))?;
    let (needed, free) = (
        memory_needed(&Duties::new(recording, facts.kernels_run_in)),
        facts.free_memory.unwrap_or(u64::MAX),
    );
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
) -> Result<(Recording, Vec<u8>), RecordError> {
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
    if second.is_none() {
        *second = Some(authors.second(library).map_err(explain)?);
    }
    let again = match second {
        Some(author) => author.record(benchmark, request, interrupt),
        None => return Ok(first),
    };
    let again = again.map_err(|problem| {
        if matches!(problem, AuthorProblem::Role(_)) {
            *second = None;
        }
        explain(problem)
    })?;
    if first.1 != again.1 {
        let message = "a second process recorded another plan for the same case (hint: a benchmark function may depend on its axes and the \
                       device's facts alone, not on time, randomness, addresses or the environment)";
        return Err(RecordError::Failed(CaseFailure::error(Cause::NotReproducible, message)));
    }
    Ok(first)
}

fn explain(problem: AuthorProblem) -> RecordError {
    let cause = match &problem {
        AuthorProblem::Role(RoleFailure::Interrupted) => return RecordError::Interrupted,
        AuthorProblem::Role(RoleFailure::Silent { .. }) => Cause::RecordingTimeout,
        _ => Cause::RecordingFailed,
    };
    RecordError::Failed(CaseFailure::author(cause, &problem))
}
