//! One run in a history.

use serde::{Deserialize, Serialize};

use crate::StoredRun;
use gpubench_contract::{BenchmarkComplete, Metric, Revision, Verdict};

/// One run in a history: a line of its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryEntry {
    /// Names the run.
    pub run_id: String,
    /// When it began, as RFC 3339 in UTC.
    pub started_at: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Where the sources stood; null outside of a git repository.
    pub revision: Option<Revision>,
    /// The cases that passed.
    pub cases: Vec<HistoryCase>,
}

/// What a history keeps of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryCase {
    /// Its name with its package in front.
    pub case: String,
    /// What its value is a value of; left out where that is [`Metric::time`].
    #[serde(default = "Metric::time", skip_serializing_if = "is_time")]
    pub metric: Metric,
    /// Its `value`.
    pub value: f64,
    /// Bounds of the 95 % interval of that.
    pub ci95: [f64; 2],
    /// Number of samples.
    pub n: u64,
    /// Number of fresh workers that they come from.
    pub workers: u64,
}

fn is_time(metric: &Metric) -> bool {
    *metric == Metric::time()
}

impl HistoryEntry {
    /// What is kept of a run.
    pub fn of(stored: &StoredRun) -> HistoryEntry {
        HistoryEntry {
            run_id: stored.run.run_id.clone(),
            started_at: stored.run.started_at.clone(),
            tool_version: stored.run.tool_version.clone(),
            revision: stored.revision.clone(),
            cases: stored.results.iter().filter_map(HistoryCase::of).collect(),
        }
    }
}

impl HistoryCase {
    /// What is kept of a case; nothing of one that did not pass.
    fn of(result: &BenchmarkComplete) -> Option<HistoryCase> {
        let stats = result.stats.as_ref().filter(|_| result.verdict == Verdict::Pass)?;
        Some(HistoryCase {
            case: result.full_name(),
            metric: result.metric.clone(),
            value: stats.value,
            ci95: stats.ci95,
            n: stats.n,
            workers: result.workers.len() as u64,
        })
    }
}
