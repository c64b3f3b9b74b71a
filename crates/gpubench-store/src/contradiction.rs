//! Checks of a stored run that its readers rely on. JSON lines have no checksum that would catch
//! them.

use std::collections::HashSet;

use thiserror::Error;

use super::StoredRun;
use gpubench_contract::BenchmarkComplete;

/// A contradiction in a stored run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Contradiction {
    /// A result appears twice.
    #[error("`{case}` appears twice")]
    Twice {
        /// The case, with its mode.
        case: String,
    },
    /// A count differs from the number of samples.
    #[error("{what} of `{case}` count {counted} samples, but it has {samples}")]
    Samples {
        /// The case.
        case: String,
        /// The field that has the count.
        what: &'static str,
        /// The count.
        counted: u64,
        /// The number of samples.
        samples: u64,
    },
}

/// Checks a run for contradictions. Numbers need no check: JSON has only finite ones.
///
/// # Errors
/// The first contradiction.
pub(super) fn check(stored: &StoredRun) -> Result<(), Contradiction> {
    let mut seen = HashSet::new();
    for result in &stored.results {
        if !seen.insert(result.key()) {
            return Err(Contradiction::Twice { case: result.label() });
        }
        check_counts(result)?;
    }
    Ok(())
}

fn check_counts(result: &BenchmarkComplete) -> Result<(), Contradiction> {
    let samples = result.samples.len() as u64;
    let of_workers = result.workers.iter().map(|worker| worker.samples);
    let counts = [
        ("the statistics", result.stats.as_ref().map_or(0, |stats| stats.n)),
        (
            "the workers",
            match &result.workers[..] {
                [] => samples,
                _ => of_workers.fold(0, u64::saturating_add),
            },
        ),
    ];
    match counts.into_iter().find(|(_, counted)| *counted != samples) {
        None => Ok(()),
        Some((what, counted)) => Err(Contradiction::Samples {
            case: result.case.clone(),
            what,
            counted,
            samples,
        }),
    }
}
