//! Contests: cases of one problem that were measured alternately, and their ranking.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Cause, Grade, Metric, Mode, Params, Reading, SchemaVersion, Verdict};

/// The contest that a result was measured in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ContestShare {
    /// Number of the contest: the position in the run of its first result. Results with the same
    /// number were measured alternately, window by window.
    pub number: u64,
    /// Confidence level of the ranking, as a fraction. All of its intervals hold at once with this
    /// confidence.
    pub confidence: f64,
    /// Largest number of times that the rounds were analysed to decide whether more are needed.
    /// The intervals account for it.
    pub analyses: u64,
}

/// How a case failed when it alternated with others. Their code could have caused it: the case
/// passed alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct FailedAlternating {
    /// One of the others, for people: `the candidate`, or the name of a case.
    pub rival: String,
    /// How the case ended.
    pub verdict: Verdict,
    /// Why it did not pass.
    pub cause: Option<Cause>,
    /// What went wrong and where, for people.
    pub message: Option<String>,
}

/// The ranking of a contest: of the cases of one problem with the same arguments, or of a problem
/// over several arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ContestComplete {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// ID of the run.
    pub run_id: String,
    /// Package of the problem.
    pub package: String,
    /// The problem.
    pub problem: String,
    /// Values of the axes that all contestants have. Empty in the ranking over several arguments.
    pub params: Params,
    /// Number of arguments that the ranking covers. If there are several, ratios are their
    /// geometric means.
    pub arguments: u64,
    /// How each call was measured.
    pub mode: Mode,
    /// What the samples measure.
    pub metric: Metric,
    /// Confidence level, as a fraction. All intervals and ranks hold at once with this confidence.
    pub confidence: f64,
    /// The contestants, best first, then those that dropped out.
    pub contestants: Vec<Contestant>,
    /// Why there is no ranking. Null if there is one.
    pub remark: Option<String>,
    /// What code of a contestant could have done to the others, for people. Missing if all kernels
    /// ran only in their own windows, or in records of older versions of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// A contestant of a ranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Contestant {
    /// Module path and function.
    pub benchmark: String,
    /// Values of the axes that not all contestants have.
    pub params: Params,
    /// Positions of its results in the run, one for each of the arguments.
    pub results: Vec<u64>,
    /// How it ended: the first failure if there are several arguments.
    pub verdict: Verdict,
    /// How it failed in alternation, if it passed alone. It then has no rank. Missing otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_alternating: Option<Verdict>,
    /// How far its times can be trusted: the lowest grade if there are several arguments. Null if
    /// there are none.
    pub grade: Option<Grade>,
    /// Its value, in the unit of the metric. Null if it did not pass, and over several arguments.
    pub value: Option<f64>,
    /// The best and the worst rank that the samples leave possible, from 1. Null without a ranking.
    pub ranks: Option<[u64; 2]>,
    /// Ratio to the winner: the geometric mean over the rounds of the median ratio of neighbouring
    /// samples. Null without a ranking.
    pub ratio: Option<f64>,
    /// Bounds of the confidence interval of `ratio`. Null without a ranking.
    pub interval: Option<[f64; 2]>,
    /// Contestants that it may equal, because the interval of their ratio contains 1: the names of
    /// their benchmarks, with the values of their own axes.
    pub ties: Vec<String>,
}

impl ContestComplete {
    /// Returns how the results were measured.
    pub fn reading(&self) -> Reading {
        Reading::new(self.mode, &self.metric)
    }

    /// Returns the winner, if there is a ranking.
    pub fn winner(&self) -> Option<&Contestant> {
        self.contestants.first().filter(|first| first.ranks.is_some())
    }
}

impl Contestant {
    /// Returns the benchmark, with the values of the axes that not all contestants have.
    pub fn name(&self) -> String {
        format!("{} {}", self.benchmark, self.params).trim_end().to_owned()
    }

    /// Returns its rank for people: `1`, or `2–3` if the samples do not decide it.
    pub fn rank(&self) -> Option<Rank> {
        self.ranks.map(|[best, worst]| Rank { best, worst })
    }
}

/// A rank for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    best: u64,
    worst: u64,
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.best == self.worst {
            f.pad(&self.best.to_string())
        } else {
            f.pad(&format!("{}–{}", self.best, self.worst))
        }
    }
}
