//! The record of a comparison: two runs side by side, benchmark by benchmark.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{BenchmarkComplete, Device, Grade, Metric, Params, Revision, SchemaVersion, Verdict};

/// Two runs side by side. The views for people show nothing that is not in here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ComparisonComplete {
    /// Version of the contract.
    pub schema_version: SchemaVersion,
    /// The run that the other is held against.
    pub baseline: ComparedRun,
    /// The run that is judged.
    pub candidate: ComparedRun,
    /// How the two were measured.
    pub arrangement: Arrangement,
    /// What keeps the two from being compared at all or in part: another device, driver, tool or
    /// timing mode, in words.
    pub differences: Vec<String>,
    /// Benchmarks that both runs have and not both skipped, in the candidate's order.
    pub rows: Vec<ComparisonRow>,
    /// Benchmarks that only the candidate has.
    pub new: Vec<String>,
    /// Benchmarks that only the baseline has.
    pub removed: Vec<String>,
    /// What `rows` does not show because it changed by too little; null where nothing was left out.
    pub left_out: Option<LeftOut>,
}

/// Benchmarks that changed by less than a reader asked to see. They count as the rows do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The smallest relative change that is shown, as a fraction.
    pub least_change: f64,
    /// How many benchmarks of each verdict are not shown.
    pub verdicts: BTreeMap<ChangeVerdict, u64>,
}

/// One of the two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// The name it was asked for by: a baseline's, a file's, or a revision's.
    pub name: String,
    /// Names the run.
    pub run_id: String,
    /// When it began, as RFC 3339 in UTC.
    pub started_at: String,
    /// Version of the tool.
    pub tool_version: String,
    /// The device.
    pub device: Device,
    /// Version of the device's driver.
    pub driver: Option<String>,
    /// Where the sources stood.
    pub revision: Option<Revision>,
    /// How many of its results are of earlier runs: they were kept when a run of some benchmarks
    /// was saved. Left out where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub earlier_results: u64,
}

/// How two runs were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// One after the other: what drifted in between is part of the difference.
    Apart,
    /// Window by window in turns, on the same device, with inputs drawn from the same
    /// distributions.
    Interleaved,
}

/// A benchmark in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ComparisonRow {
    /// Package of the benchmark.
    pub package: String,
    /// Module path and function.
    pub benchmark: String,
    /// Axis values.
    pub params: Params,
    /// The candidate's full name.
    pub case: String,
    /// The baseline's full name; it differs where names were matched by groups.
    pub baseline_case: String,
    /// What the values of both are values of; they are compared only where it is the same.
    pub metric: Metric,
    /// What the baseline says.
    pub baseline: ComparedResult,
    /// What the candidate says.
    pub candidate: ComparedResult,
    /// What changed.
    pub verdict: ChangeVerdict,
    /// Why it is inconclusive, or what a reader should know of the verdict; null where there is
    /// nothing.
    pub remark: Option<String>,
    /// The change in figures; null where one side has no samples or the two must not be compared.
    pub change: Option<Change>,
}

/// One side of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ComparedResult {
    /// How it ended.
    pub verdict: Verdict,
    /// How far its times can be trusted.
    pub grade: Option<Grade>,
    /// The result's own `value`, in the unit of its metric. Null where it did not pass.
    pub value: Option<f64>,
    /// Number of samples.
    pub n: u64,
    /// Number of fresh workers that they come from.
    pub workers: u64,
    /// The run that it is of, where that is an earlier one than the run compared. Left out where it
    /// is that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_from: Option<KeptFrom>,
}

/// An earlier run that a result was kept from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct KeptFrom {
    /// Names the run.
    pub run_id: String,
    /// When it began, as RFC 3339 in UTC.
    pub started_at: String,
    /// Where the sources stood; null outside of a git repository.
    pub revision: Option<Revision>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A change in figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Change {
    /// The candidate's `value` over the baseline's.
    pub ratio: f64,
    /// By how much the machine drifted between two runs apart: what the candidate's twin took over
    /// what the baseline's did. Null where one of them has none, and for runs in turns.
    #[serde(default)]
    pub drift: Option<f64>,
    /// Bounds of the interval that the verdict goes by, wide enough for `ratio`. Of runs apart it
    /// is that of `ratio` over `drift`, by how far the workers and the twins of either side differ,
    /// and wider by the drift on either side; of runs in turns that of the ratios of neighbouring
    /// samples, which drift leaves alone.
    pub interval: [f64; 2],
    /// How sure the interval is, as a fraction.
    pub confidence: f64,
    /// The relative change that is taken for noise.
    pub threshold: f64,
    /// Where the threshold comes from.
    pub threshold_source: ThresholdSource,
}

words! {
    /// Where a noise threshold comes from.
    pub enum ThresholdSource {
        /// The floor that was asked for.
        Floor = "floor",
        /// The changes between neighbouring runs in the device's history.
        History = "history",
    }
}

words! {
    /// What changed between two results, what matters most first.
    pub enum ChangeVerdict {
        /// It passed in the baseline and fails in the candidate.
        NowFails = "now-fails",
        /// Worse, beyond noise.
        Regressed = "regressed",
        /// Better, beyond noise.
        Improved = "improved",
        /// The samples cannot tell; the remark says what would.
        Inconclusive = "inconclusive",
        /// The baseline failed, one side was skipped, or was measured otherwise.
        NotCompared = "not-compared",
        /// A change that is there, and smaller than the threshold.
        WithinNoise = "within-noise",
        /// No change can be seen.
        NoChange = "no-change",
    }
}

impl ComparisonComplete {
    /// The rows as a reader wants them: by how much each verdict matters, then by the size of the
    /// change.
    pub fn by_relevance(&self) -> Vec<&ComparisonRow> {
        let mut rows: Vec<&ComparisonRow> = self.rows.iter().collect();
        let size = |row: &ComparisonRow| row.change.as_ref().map_or(0.0, |change| change.ratio.ln().abs());
        // Stable: what matters alike stays in the order of the run.
        rows.sort_by(|one, other| {
            let verdicts = one.verdict.cmp(&other.verdict);
            verdicts.then(size(other).total_cmp(&size(one)))
        });
        rows
    }

    /// Whether both are the same run, so that nothing differs. Two sides that were measured in
    /// turns share a run and are none.
    pub fn is_of_one_run(&self) -> bool {
        let differs = |row: &ComparisonRow| row.baseline.value != row.candidate.value;
        self.arrangement == Arrangement::Apart
            && self.baseline.run_id == self.candidate.run_id
            && !self.rows.iter().any(differs)
    }

    /// The row of each of the candidate's cases, by its name.
    pub fn rows_by_case(&self) -> HashMap<&str, &ComparisonRow> {
        self.rows.iter().map(|row| (&*row.case, row)).collect()
    }

    /// How many benchmarks have a verdict, those that were left out among them.
    pub fn count(&self, verdict: ChangeVerdict) -> usize {
        let shown = self.rows.iter().filter(|row| row.verdict == verdict).count();
        shown + self.left_out.as_ref().map_or(0, |left_out| left_out.count(verdict))
    }

    /// Whether a benchmark failed that passed in the baseline.
    pub fn has_newly_failed(&self) -> bool {
        self.count(ChangeVerdict::NowFails) > 0
    }

    /// Whether a benchmark of the candidate failed that is compared, or would have been.
    pub fn has_failed(&self) -> bool {
        self.rows.iter().any(ComparisonRow::has_failed)
    }

    /// How many benchmarks there are of each verdict, and of each run alone: `1 regressed`,
    /// `12 no change`, `3 new`. Nothing is counted that is not there.
    pub fn counts(&self) -> Vec<String> {
        self.counts_shown(|_, count| count)
    }

    /// The same, with those of each verdict as `shown`.
    pub fn counts_shown(&self, shown: impl Fn(ChangeVerdict, String) -> String) -> Vec<String> {
        let told = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let verdicts = ChangeVerdict::ALL.iter().map(|verdict| {
            let count = told(self.count(*verdict), &verdict.to_string())?;
            Some(shown(*verdict, count))
        });
        let one_sided = [told(self.new.len(), "new"), told(self.removed.len(), "removed")];
        verdicts.chain(one_sided).flatten().collect()
    }

    /// That no benchmark was judged, in words, and what became of them; `None` where one was.
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

    /// Whether a benchmark that both runs have could not be judged.
    pub fn has_undecided_benchmarks(&self) -> bool {
        self.has_any(|verdict| !verdict.is_decided())
    }

    fn has_any(&self, of: impl Fn(ChangeVerdict) -> bool) -> bool {
        let mut verdicts = ChangeVerdict::ALL.iter().copied();
        verdicts.any(|verdict| of(verdict) && self.count(verdict) > 0)
    }

    /// Leaves out the benchmarks whose figures changed by less than `least`, a fraction, and counts
    /// them.
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

    /// Whether a benchmark regressed.
    pub fn has_regressed(&self) -> bool {
        self.count(ChangeVerdict::Regressed) > 0
    }
}

impl LeftOut {
    /// How many of a verdict are not shown.
    pub fn count(&self, verdict: ChangeVerdict) -> usize {
        let count = self.verdicts.get(&verdict).copied().unwrap_or(0);
        usize::try_from(count).unwrap_or(usize::MAX)
    }
}

impl ChangeVerdict {
    /// Whether the samples decided it: whatever it says, a regression would have been seen.
    pub fn is_decided(self) -> bool {
        !matches!(self, ChangeVerdict::Inconclusive | ChangeVerdict::NotCompared)
    }

    /// Whether there is nothing to act on: no change, or one that is taken for noise.
    pub fn is_quiet(self) -> bool {
        matches!(self, ChangeVerdict::WithinNoise | ChangeVerdict::NoChange)
    }
}

impl fmt::Display for ChangeVerdict {
    /// As people read it: `within noise`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.as_str().replace('-', " "))
    }
}

impl ComparisonRow {
    /// Whether it is about the case of a result of the candidate.
    pub fn is_of(&self, result: &BenchmarkComplete) -> bool {
        (&self.package, &self.benchmark, &self.params) == (&result.package, &result.benchmark, &result.params)
    }

    /// Whether the candidate failed, whatever is known of the baseline.
    pub fn has_failed(&self) -> bool {
        self.candidate.verdict.is_failure()
    }

    /// The name, with the baseline's where that is another one.
    pub fn baseline_name(&self) -> Option<&str> {
        (self.baseline_case != self.case && !self.is_same_benchmark()).then_some(&self.baseline_case)
    }

    /// Names may have another form, with the package in front or without it.
    fn is_same_benchmark(&self) -> bool {
        let full = |case: &str| format!("{}::{case}", self.package);
        full(&self.case) == self.baseline_case || full(&self.baseline_case) == self.case
    }
}
