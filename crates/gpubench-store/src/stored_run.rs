//! One run as it lies in a file.

use serde::{Deserialize, Serialize};

use super::kept::still_there;
use gpubench_contract::{BenchmarkComplete, Revision, RunEnd, RunFinished, RunStarted};

/// What every stored run says it is.
pub const FORMAT: &str = "gpubench-run";

/// The version of the format that this tool writes. Files of others are refused, not guessed at.
pub const FORMAT_VERSION: u64 = 2;

/// A run as it lies in a file: the records of the machine contract, with where the sources stood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoredRun {
    /// [`FORMAT`].
    pub format: String,
    /// [`FORMAT_VERSION`].
    pub format_version: u64,
    /// When it was written, as RFC 3339 in UTC.
    pub saved_at: String,
    /// Where the sources of the run stood; `None` outside of a git repository.
    pub revision: Option<Revision>,
    /// The run's first record: device, driver, tool; and the earlier runs that some of the results
    /// were kept from.
    pub run: RunStarted,
    /// The cases' results with their raw samples, in the order of the run; where there are kept
    /// ones, in that of the run that was saved first.
    pub results: Vec<BenchmarkComplete>,
    /// The run's last record; `None` where it never came to its end. Its counts are those of all
    /// results.
    pub finished: Option<RunFinished>,
}

impl StoredRun {
    /// A run to be stored now.
    pub fn of(
        mut run: RunStarted,
        results: Vec<BenchmarkComplete>,
        finished: Option<RunFinished>,
        revision: Option<Revision>,
    ) -> StoredRun {
        run.earlier_runs = still_there(run.earlier_runs, &run.run_id, &results);
        StoredRun {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            saved_at: jiff::Timestamp::now().to_string(),
            revision,
            run,
            results,
            finished,
        }
    }

    /// Whether every selected case has a result.
    pub fn is_complete(&self) -> bool {
        self.finished
            .as_ref()
            .is_some_and(|finished| finished.end == RunEnd::Completed)
    }
}
