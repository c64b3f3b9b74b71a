//! Submissions to a problem: what was graded, and what its cases say together.

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{Cause, Grade, Metric, Mode, Reading, SchemaVersion, Verdict};

/// The submission that a result is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct SubmissionFacts {
    /// Where it came from, as it was named: a path, or `-` for standard input.
    pub place: String,
    /// SHA-256 of all that was graded: its description, its files with their paths, and its
    /// options. Null if it could not be read.
    pub sha256: Option<String>,
    /// Whether it was given with `--solution`. Missing if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_solution: bool,
    /// How its problem makes a score of the cases.
    pub score_rule: ScoreRule,
    /// Number of the hidden case, from 1. Such a result has a verdict and a grade, and nothing
    /// else of its case. Missing for public cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_case: Option<u64>,
}

/// What decides the verdicts of submissions besides themselves. Results of two runs that agree in
/// it, in the device and in the version of the tool can be ranked together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Grading {
    /// The problem.
    pub problem: String,
    /// SHA-256 of what states it: the library with the problem, or the definition, its workloads
    /// and their tensors.
    pub problem_sha256: String,
    /// SHA-256 of the settings that its results depend on. It belongs to the tool's version.
    pub settings_sha256: String,
    /// Earlier runs whose results it took over with `--resume`, oldest first. Missing without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<EarlierRun>,
}

/// An earlier run, some of whose results another one has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct EarlierRun {
    /// Its ID.
    pub run_id: String,
    /// Its start, as RFC 3339 in UTC.
    pub started_at: String,
    /// The commitment to its seed, as in its first record.
    pub seed_commitment: String,
    /// Its seed, as in its last record. Null if it was killed: nobody knows it any more.
    pub seed: Option<String>,
}

/// What the cases of a submission say together. Printed for each submission after the last case, in
/// the order in which they were given, and for each way of measuring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProblemComplete {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// ID of the run.
    pub run_id: String,
    /// Package of the problem.
    pub package: String,
    /// The problem.
    pub problem: String,
    /// Name of the submission: `benchmark` of its results.
    pub submission: String,
    /// Where it came from, and its digest.
    pub graded: SubmissionFacts,
    /// How each call was measured.
    pub mode: Mode,
    /// What the samples measure.
    pub metric: Metric,
    /// `pass` if all cases passed, else the verdict of the first that did not. `skipped` if all
    /// were skipped.
    pub verdict: Verdict,
    /// Why that case did not pass. Null if all passed.
    pub cause: Option<Cause>,
    /// The name of that case. Null if all passed.
    pub failed_case: Option<String>,
    /// Its public cases.
    pub public: PassedCases,
    /// Its hidden cases.
    pub hidden: PassedCases,
    /// How far its times can be trusted: the lowest grade of its cases. Null if there are none.
    pub grade: Option<Grade>,
    /// Its score. Null if a case failed, was skipped, or has no value.
    pub score: Option<Score>,
    /// Its place among the submissions with a score, from 1: by the speed-up over the reference if
    /// that is measured, else by the score. Null without one.
    pub rank: Option<u64>,
    /// Submissions whose scores, or speed-ups over the reference, have intervals that overlap its
    /// own.
    pub ties: Vec<String>,
}

/// How many cases there are, without skipped ones, and how many of them passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct PassedCases {
    /// Number of cases.
    pub cases: u64,
    /// Number of those that passed.
    pub passed: u64,
}

words! {
    /// How the results of the cases make one score.
    pub enum ScoreRule {
        /// The geometric mean of their values.
        GeometricMean = "geometric-mean",
        /// The arithmetic mean of their values.
        ArithmeticMean = "arithmetic-mean",
        /// The value of the last case.
        Last = "last",
    }
}

/// The score of a submission, from its public cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Score {
    /// How it is made of the cases' values.
    pub rule: ScoreRule,
    /// The score, in the unit of the metric.
    pub value: f64,
    /// Bounds of its 95 % confidence interval. Null if a case has none.
    pub ci95: Option<[f64; 2]>,
    /// Mean over the cases of the declared floating-point operations per second. Null if a case
    /// has none.
    pub mean_flops_per_s: Option<f64>,
    /// How it compares with what `--over` names. Null without that.
    pub speedup: Option<Speedup>,
    /// How it compares with what the device can do at most. Null if that is not known, and in
    /// records of older versions of the tool.
    #[serde(default)]
    pub speed_of_light: Option<SpeedOfLight>,
    /// Why `speed_of_light` is null. Missing if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_speed_of_light: Option<String>,
}

/// A submission's times and the least times that its device allows: those in which the bytes of a
/// case cross its memory interface at peak bandwidth, or its declared operations are done at peak
/// rate, whichever is longer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct SpeedOfLight {
    /// Geometric mean over the cases of the least time divided by its own.
    pub fraction: f64,
    /// The SOL score of SOL-ExecBench, averaged over the cases: 0.5 is as fast as what `--over`
    /// names, and 1 as fast as the device allows. Null without `--over`.
    pub sol_score: Option<f64>,
}

/// What `--over` calls the reference of the problem.
pub const OVER_REFERENCE: &str = "reference";

/// The reference of a problem, measured alternately with a case of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct MeasuredReference {
    /// Median of its samples, in the unit of the metric.
    pub value: f64,
    /// How many times as fast the submission is: the geometric mean over the workers of the median
    /// ratio of neighbouring samples.
    pub speedup: f64,
    /// Bounds of its 95 % confidence interval. Null if there are too few workers.
    pub ci95: Option<[f64; 2]>,
}

/// The speed-up of a submission over another, or over the reference of the problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Speedup {
    /// Name of the other submission, or `reference`: no submission is called that if the reference
    /// is measured.
    pub over: String,
    /// Geometric mean over the cases of the other's value divided by its own. With the rule `last`,
    /// it is that of the last case.
    pub ratio: f64,
    /// Bounds of its 95 % confidence interval. Null if a case has none.
    pub ci95: Option<[f64; 2]>,
    /// Share of the cases in which it is faster: fast_1 of KernelBench.
    pub fast_1: f64,
    /// Share of the cases in which it is more than twice as fast: fast_2.
    pub fast_2: f64,
}

impl ProblemComplete {
    /// Returns how the results were measured.
    pub fn reading(&self) -> Reading {
        Reading::new(self.mode, &self.metric)
    }
}
