//! One run in a history.

use serde::{Deserialize, Serialize};

use crate::StoredRun;
use gpubench_contract::BenchmarkComplete;
use gpubench_contract::Revision;
use gpubench_contract::Verdict;

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
    /// Median in nanoseconds.
    pub median_ns: f64,
    /// Bounds of the 95 % interval of the median, as wide as the workers differ.
    pub ci95_ns: [f64; 2],
    /// Number of samples.
    pub n: u64,
    /// Number of fresh workers that they come from.
    pub workers: u64,
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
            median_ns: stats.median_ns,
            ci95_ns: stats.interval_ns(),
            n: stats.n,
            // Tools that did not tell workers apart had one.
            workers: result.workers.len().max(1) as u64,
        })
    }
}
