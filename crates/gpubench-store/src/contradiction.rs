//! What every reader of a stored run relies on, and lines without a checksum may get wrong.

use std::collections::HashSet;

use thiserror::Error;

use super::StoredRun;
use gpubench_contract::BenchmarkComplete;

/// Something in a stored run that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Contradiction {
    /// The same case twice.
    #[error("`{case}` is in it twice")]
    Twice {
        /// The case.
        case: String,
    },
    /// A count that is not that of the samples.
    #[error("{what} of `{case}` count {said} samples, and it has {samples}")]
    Samples {
        /// The case.
        case: String,
        /// What counts them.
        what: &'static str,
        /// How many there are by that.
        said: u64,
        /// How many there are.
        samples: u64,
    },
}

/// Looks for what cannot be. Numbers are finite: JSON has no others.
///
/// # Errors
/// The first that is found.
pub(super) fn check(stored: &StoredRun) -> Result<(), Contradiction> {
    let mut seen = HashSet::new();
    for result in &stored.results {
        if !seen.insert(result.full_name()) {
            return Err(Contradiction::Twice {
                case: result.case.clone(),
            });
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
    match counts.into_iter().find(|(_, said)| *said != samples) {
        None => Ok(()),
        Some((what, said)) => Err(Contradiction::Samples {
            case: result.case.clone(),
            what,
            said,
            samples,
        }),
    }
}
