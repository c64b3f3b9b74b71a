//! The contents of a stored run.

use serde::{Deserialize, Serialize};

use gpubench_contract::{BenchmarkComplete, Revision, RunEnd, RunFinished, RunStarted};

/// The `format` of every stored run.
pub const FORMAT: &str = "gpubench-run";

/// The format version that this tool writes. It rejects files of other versions.
pub const FORMAT_VERSION: u64 = 2;

/// A stored run: the records of a run, and the revision of its sources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoredRun {
    /// [`FORMAT`].
    pub format: String,
    /// [`FORMAT_VERSION`].
    pub format_version: u64,
    /// When the file was written, as RFC 3339 in UTC.
    pub saved_at: String,
    /// Revision of the sources. `None` outside a git repository.
    pub revision: Option<Revision>,
    /// The run's first record: device, driver and tool.
    pub run: RunStarted,
    /// The results with their raw samples, in the order of the run.
    pub results: Vec<BenchmarkComplete>,
    /// The run's last record. `None` if the run did not finish.
    pub finished: Option<RunFinished>,
}

impl StoredRun {
    /// Creates a stored run with the current time.
    pub fn new(
        run: RunStarted,
        results: Vec<BenchmarkComplete>,
        finished: Option<RunFinished>,
        revision: Option<Revision>,
    ) -> StoredRun {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_complete_if_it_ended_by_itself() {
        use gpubench_contract::RunEnd::{Completed, FailedFast, Interrupted};
        for (end, is_complete) in [
            (Some(Completed), true),
            (Some(FailedFast), false),
            (Some(Interrupted), false),
            (None, false),
        ] {
            let sample = gpubench_testing::on_gpu();
            let finished = end.map(|end| RunFinished {
                end,
                ..sample.finished.clone()
            });
            let run = StoredRun::new(sample.started, sample.results, finished, None);
            assert_eq!(run.is_complete(), is_complete, "{end:?}");
        }
    }
}
