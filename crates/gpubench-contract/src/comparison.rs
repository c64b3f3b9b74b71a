//! The record of a comparison of two runs.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{
    BenchmarkComplete, Device, FunctionChange, Grade, MachineCodeChange, Metric, Mode, Params, Reading, ResultKey,
    Revision, SchemaVersion, Verdict,
};

/// A comparison of two runs. The tables and pages for people show nothing that is not in this
/// record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ComparisonComplete {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// The run that the candidate is compared with.
    pub baseline: ComparedRun,
    /// The run that is judged.
    pub candidate: ComparedRun,
    /// How the two runs were measured.
    pub arrangement: Arrangement,
    /// Differences between the setups of the two runs: device, driver, tool or `mode`. Because of
    /// such a difference, some or all results may not be compared.
    pub differences: Vec<String>,
    /// Benchmarks in both runs, in the candidate's order. Benchmarks that both runs skipped are
    /// left out.
    pub rows: Vec<ComparisonRow>,
    /// Results that only the candidate has: names of cases, with the mode if it is not `cold`, as
    /// in `image::blur [warm]`.
    pub new: Vec<String>,
    /// Results that only the baseline has, named in the same way.
    pub removed: Vec<String>,
    /// Benchmarks that `rows` leaves out because they changed too little. Null if none were left
    /// out.
    pub left_out: Option<LeftOut>,
}

/// Benchmarks that changed by less than `--threshold`. They still count in every total.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The smallest relative change that is shown, as a fraction.
    pub least_change: f64,
    /// Number of hidden benchmarks by verdict.
    pub verdicts: BTreeMap<ChangeVerdict, u64>,
}

/// One of the two runs of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// The name that the user gave: a baseline, a file or a revision.
    pub name: String,
    /// ID of the run.
    pub run_id: String,
    /// Start of the run, as RFC 3339 in UTC.
    pub started_at: String,
    /// Version of the tool.
    pub tool_version: String,
    /// The device.
    pub device: Device,
    /// Version of the device's driver.
    pub driver: Option<String>,
    /// Revision of the sources. Null outside a git repository.
    pub revision: Option<Revision>,
}

/// How two runs were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// One after the other. Drift between the two is part of the difference.
    Apart,
    /// Alternately, window by window, on the same device and with inputs from the same
    /// distributions.
    Interleaved,
}

/// A benchmark that both runs have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ComparisonRow {
    /// Package of the benchmark.
    pub package: String,
    /// Module path and function.
    pub benchmark: String,
    /// Axis values.
    pub params: Params,
    /// Name of the case in the candidate, with its package in front.
    pub case: String,
    /// Name of the case in the baseline, with its package in front. It differs from `case` if
    /// `--group` paired two names.
    pub baseline_case: String,
    /// How each call of the candidate was measured. Missing in records of older versions of the
    /// tool.
    #[serde(default = "Reading::first_mode")]
    pub mode: Mode,
    /// What the samples measure. Two results are compared only if they have the same metric.
    pub metric: Metric,
    /// The baseline's result.
    pub baseline: ComparedResult,
    /// The candidate's result.
    pub candidate: ComparedResult,
    /// How the result changed.
    pub verdict: ChangeVerdict,
    /// Why the verdict is inconclusive, or what else to know about it. Null if there is nothing to
    /// say.
    pub remark: Option<String>,
    /// The size of the change. Null if one side has no samples or the two cannot be compared.
    pub change: Option<Change>,
    /// The functions whose instructions changed, the largest difference first, in the last counted
    /// call of each side. Missing if there are none, or if the two cannot be compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionChange>,
    /// How the machine code of the kernels in `functions` differs. Missing where no side knows the
    /// machine code of its kernels or says why it does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine_code: Vec<MachineCodeChange>,
}

/// The result of one side of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ComparedResult {
    /// How the case ended.
    pub verdict: Verdict,
    /// How it failed in alternation, if it passed alone. Missing otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_alternating: Option<Verdict>,
    /// How far its times can be trusted.
    pub grade: Option<Grade>,
    /// The result's `value`, in the unit of its metric. Null if the case did not pass.
    pub value: Option<f64>,
    /// Number of samples.
    pub n: u64,
    /// Number of fresh workers that took the samples.
    pub workers: u64,
}

/// The size of a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Change {
    /// The candidate's `value` divided by the baseline's.
    pub ratio: f64,
    /// Drift of the machine between two separate runs: the time of the candidate's twin divided by
    /// that of the baseline's. Null if a run has no twin, or if the runs alternated.
    #[serde(default)]
    pub drift: Option<f64>,
    /// Bounds of the interval that decides the verdict. It always contains `ratio`. For separate
    /// runs it is the interval of `ratio / drift`, from the spread among the workers and the twins
    /// of both sides, extended by the drift in both directions. For alternating runs it is the
    /// interval of the ratios of neighbouring samples, which drift does not affect.
    pub interval: [f64; 2],
    /// Confidence level of the interval, as a fraction.
    pub confidence: f64,
    /// The relative change that still counts as noise, as a fraction.
    pub threshold: f64,
    /// Source of the threshold.
    pub threshold_source: ThresholdSource,
}

words! {
    /// Source of a noise threshold.
    pub enum ThresholdSource {
        /// The configured minimum.
        Floor = "floor",
        /// The changes between consecutive runs in the device's history.
        History = "history",
    }
}

words! {
    /// How a result changed. The most important verdict comes first.
    pub enum ChangeVerdict {
        /// The benchmark passed in the baseline and fails in the candidate.
        NowFails = "now-fails",
        /// The candidate is worse by more than noise.
        Regressed = "regressed",
        /// The candidate is better by more than noise.
        Improved = "improved",
        /// The samples do not decide it. The remark says what would help.
        Inconclusive = "inconclusive",
        /// The baseline failed, one side was skipped, or the two were measured differently.
        NotCompared = "not-compared",
        /// The change is real but smaller than the threshold.
        WithinNoise = "within-noise",
        /// No change was found.
        NoChange = "no-change",
    }
}

impl ComparisonComplete {
    /// Returns the rows by importance of the verdict, then by size of the change.
    pub fn by_relevance(&self) -> Vec<&ComparisonRow> {
        let mut rows: Vec<&ComparisonRow> = self.rows.iter().collect();
        let size = |row: &ComparisonRow| row.change.as_ref().map_or(0.0, |change| change.ratio.ln().abs());
        // The sort is stable: rows that tie keep the order of the run.
        rows.sort_by(|one, other| {
            let verdicts = one.verdict.cmp(&other.verdict);
            verdicts.then(size(other).total_cmp(&size(one)))
        });
        rows
    }

    /// Whether both sides are the same run, so that nothing differs. Two sides that were measured
    /// alternately share a run ID but are different runs.
    pub fn is_of_one_run(&self) -> bool {
        let differs = |row: &ComparisonRow| row.baseline.value != row.candidate.value;
        self.arrangement == Arrangement::Apart
            && self.baseline.run_id == self.candidate.run_id
            && !self.rows.iter().any(differs)
    }

    /// Returns the row of each of the candidate's results.
    pub fn rows_by_result(&self) -> HashMap<ResultKey, &ComparisonRow> {
        self.rows.iter().map(|row| (row.key(), row)).collect()
    }

    /// Returns the number of benchmarks with a verdict, including those that were left out.
    pub fn count(&self, verdict: ChangeVerdict) -> usize {
        let shown = self.rows.iter().filter(|row| row.verdict == verdict).count();
        shown + self.left_out.as_ref().map_or(0, |left_out| left_out.count(verdict))
    }

    /// Whether a benchmark that passed in the baseline failed.
    pub fn has_newly_failed(&self) -> bool {
        self.count(ChangeVerdict::NowFails) > 0
    }

    /// Whether a benchmark in the rows failed in the candidate.
    pub fn has_failed(&self) -> bool {
        self.rows.iter().any(ComparisonRow::has_failed)
    }

    /// Returns the number of benchmarks by verdict, and of those in only one of the runs:
    /// `1 regressed`, `12 no change`, `3 new`. Zeros are left out.
    pub fn counts(&self) -> Vec<String> {
        self.counts_shown(|_, count| count)
    }

    /// Returns the same counts, with each verdict's count passed through `shown`.
    pub fn counts_shown(&self, shown: impl Fn(ChangeVerdict, String) -> String) -> Vec<String> {
        let counted = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let verdicts = ChangeVerdict::ALL.iter().map(|verdict| {
            let count = counted(self.count(*verdict), &verdict.to_string())?;
            Some(shown(*verdict, count))
        });
        let one_sided = [counted(self.new.len(), "new"), counted(self.removed.len(), "removed")];
        verdicts.chain(one_sided).flatten().collect()
    }

    /// Returns a sentence with the counts if no benchmark was judged, else `None`.
    pub fn undecided(&self) -> Option<String> {
        if self.has_any(ChangeVerdict::is_decided) {
            return None;
        }
        let why = match self.counts() {
            none if none.is_empty() => "neither run measured one".to_owned(),
            counts => counts.join(", "),
        };
        Some(format!(
            "no benchmark was judged against `{}`: {why}",
            self.baseline.name
        ))
    }

    /// Whether a benchmark that both runs have was not judged.
    pub fn has_undecided_benchmarks(&self) -> bool {
        self.has_any(|verdict| !verdict.is_decided())
    }

    fn has_any(&self, of: impl Fn(ChangeVerdict) -> bool) -> bool {
        let mut verdicts = ChangeVerdict::ALL.iter().copied();
        verdicts.any(|verdict| of(verdict) && self.count(verdict) > 0)
    }

    /// Removes the rows that changed by less than `least`, a fraction, and counts them in
    /// `left_out`.
    pub fn keep_changes_of(&mut self, least: f64) {
        let is_large = |change: &Change| change.ratio.ln().abs() >= least.ln_1p();
        let mut verdicts = BTreeMap::new();
        self.rows.retain(|row| {
            let is_shown = row.change.as_ref().is_none_or(is_large);
            if !is_shown {
                *verdicts.entry(row.verdict).or_default() += 1;
            }
            is_shown
        });
        self.left_out = (!verdicts.is_empty()).then_some(LeftOut {
            least_change: least,
            verdicts,
        });
    }

    /// Whether a side failed in an alternating run, so that a change cannot be seen: the baseline,
    /// or one that passed alone. A candidate that fails has a verdict of its own.
    pub fn has_failed_side(&self, row: &ComparisonRow) -> bool {
        let alternating = [&row.baseline, &row.candidate].map(|side| side.failed_alternating);
        let has_failed = row.baseline.verdict.is_failure() || alternating.iter().any(Option::is_some);
        self.arrangement == Arrangement::Interleaved && has_failed && !row.candidate.verdict.is_failure()
    }

    /// Returns the rows in which a side failed in an alternating run.
    pub fn rows_with_failed_side(&self) -> impl Iterator<Item = &ComparisonRow> {
        self.rows.iter().filter(|row| self.has_failed_side(row))
    }

    /// Whether a benchmark regressed.
    pub fn has_regressed(&self) -> bool {
        self.count(ChangeVerdict::Regressed) > 0
    }
}

impl LeftOut {
    /// Returns the number of hidden benchmarks with a verdict.
    pub fn count(&self, verdict: ChangeVerdict) -> usize {
        let count = self.verdicts.get(&verdict).copied().unwrap_or(0);
        usize::try_from(count).unwrap_or(usize::MAX)
    }
}

impl ChangeVerdict {
    /// Whether the samples decided the verdict. A regression would have been found.
    pub fn is_decided(self) -> bool {
        !matches!(self, ChangeVerdict::Inconclusive | ChangeVerdict::NotCompared)
    }

    /// Whether there is nothing to act on: no change, or a change that counts as noise.
    pub fn is_quiet(self) -> bool {
        matches!(self, ChangeVerdict::WithinNoise | ChangeVerdict::NoChange)
    }
}

impl fmt::Display for ChangeVerdict {
    /// Writes the verdict for people: `within noise`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.as_str().replace('-', " "))
    }
}

impl ComparisonRow {
    /// Whether the row describes a result of the candidate.
    pub fn is_of(&self, result: &BenchmarkComplete) -> bool {
        (&self.package, &self.benchmark, &self.params) == (&result.package, &result.benchmark, &result.params)
            && self.reading() == result.reading()
    }

    /// Whether the candidate failed, regardless of the baseline.
    pub fn has_failed(&self) -> bool {
        self.candidate.verdict.is_failure()
    }

    /// Returns the baseline's name of the benchmark, if it differs from the candidate's.
    pub fn baseline_name(&self) -> Option<&str> {
        (self.baseline_case != self.case && !self.is_same_benchmark()).then_some(&self.baseline_case)
    }

    /// Whether both names are of one benchmark, with and without the package.
    fn is_same_benchmark(&self) -> bool {
        let full = |case: &str| format!("{}::{case}", self.package);
        full(&self.case) == self.baseline_case || full(&self.baseline_case) == self.case
    }
}
