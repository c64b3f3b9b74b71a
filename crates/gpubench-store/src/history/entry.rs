//! One run in a history.

use serde::{Deserialize, Serialize};

use crate::StoredRun;
use gpubench_contract::{BenchmarkComplete, Metric, Mode, Reading, Revision, Verdict};

/// One run in a history, a line of its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryEntry {
    /// ID of the run.
    pub run_id: String,
    /// Start of the run, as RFC 3339 in UTC.
    pub started_at: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Revision of the sources. Null outside a git repository.
    pub revision: Option<Revision>,
    /// The results that passed.
    pub cases: Vec<HistoryCase>,
}

/// A result in a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryCase {
    /// Name of the case, with its package in front.
    pub case: String,
    /// How each call was measured. Missing if it is cold.
    #[serde(default = "cold", skip_serializing_if = "is_cold")]
    pub mode: Mode,
    /// What the value measures. Missing if it is [`Metric::time`].
    #[serde(default = "Metric::time", skip_serializing_if = "is_time")]
    pub metric: Metric,
    /// UUID of the GPU that measured it. Missing on the CPU device and in entries of older versions
    /// of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// The case's `value`.
    pub value: f64,
    /// The time of its twin, in nanoseconds. Missing if there was none, and in entries of older
    /// versions of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin_ns: Option<f64>,
    /// Bounds of the 95 % confidence interval of `value`.
    pub ci95: Option<[f64; 2]>,
    /// Number of samples.
    pub n: u64,
    /// Number of fresh workers that took the samples.
    pub workers: u64,
}

fn cold() -> Mode {
    Mode::Cold
}

fn is_cold(mode: &Mode) -> bool {
    *mode == cold()
}

fn is_time(metric: &Metric) -> bool {
    *metric == Metric::time()
}

impl HistoryEntry {
    /// Returns the entry for a run.
    pub fn from_run(stored: &StoredRun) -> HistoryEntry {
        HistoryEntry {
            run_id: stored.run.run_id.clone(),
            started_at: stored.run.started_at.clone(),
            tool_version: stored.run.tool_version.clone(),
            revision: stored.revision.clone(),
            cases: stored.results.iter().filter_map(HistoryCase::from_result).collect(),
        }
    }
}

impl HistoryEntry {
    /// Returns the commit, if the sources had no local changes.
    pub fn unmodified_commit(&self) -> Option<&str> {
        let revision = self.revision.as_ref().filter(|revision| !revision.modified);
        revision.map(|revision| revision.commit.as_str())
    }
}

impl HistoryCase {
    /// Returns how the value was measured.
    pub fn reading(&self) -> Reading {
        Reading::new(self.mode, &self.metric)
    }

    /// Returns the entry for a result. `None` if it did not pass.
    fn from_result(result: &BenchmarkComplete) -> Option<HistoryCase> {
        let stats = result.stats.as_ref().filter(|_| result.verdict == Verdict::Pass)?;
        Some(HistoryCase {
            case: result.full_name(),
            mode: result.mode,
            metric: result.metric.clone(),
            gpu: result.device.uuid.clone(),
            value: stats.value,
            twin_ns: result.twin.as_ref().map(|twin| twin.value_ns),
            ci95: stats.ci95,
            n: stats.n,
            workers: result.workers.len() as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use gpubench_testing::{competition, in_contests};

    use super::*;

    fn run() -> StoredRun {
        let run = in_contests(competition());
        StoredRun::new(run.started, run.results, Some(run.finished), None)
    }

    #[test]
    fn a_result_that_failed_is_in_no_history_though_it_has_statistics() {
        let all = HistoryEntry::from_run(&run()).cases;
        for verdict in [
            Verdict::TimeMismatch,
            Verdict::BelowFloor,
            Verdict::Error,
            Verdict::WrongOutput,
            Verdict::ProtocolViolation,
        ] {
            let mut run = run();
            assert!(run.results[0].stats.is_some());
            run.results[0].verdict = verdict;
            assert_eq!(HistoryEntry::from_run(&run).cases, all[1..], "{verdict}");
        }
    }

    #[test]
    fn an_entry_has_the_value_of_each_result_that_passed() {
        let run = run();
        let cases = HistoryEntry::from_run(&run).cases;
        let passed = run.results.iter().filter(|result| result.verdict == Verdict::Pass);
        for (case, result) in cases.iter().zip(passed.clone()) {
            let stats = result.stats.as_ref().unwrap();
            assert_eq!(
                (&case.case, case.value, case.ci95),
                (&result.full_name(), stats.value, stats.ci95)
            );
            assert_eq!((case.n, case.workers), (stats.n, result.workers.len() as u64));
        }
        assert_eq!(cases.len(), passed.count());
    }
}
