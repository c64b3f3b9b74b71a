//! One benchmark in both runs.

use std::cmp::Ordering;

use super::difference::{self, Difference, Weight};
use super::judgement::{NOISY_HISTORY, judge, ruled_out};
use super::pairing::Pair;
use super::{Rules, Setups, Threshold};
use super::{counts, functions, machine_code};
use crate::StoredRun;
use crate::nvbench::is_of_nvbench;
use gpubench_contract::units::{self, percent};
use gpubench_contract::{
    Arrangement, BenchmarkComplete, Change, ChangeVerdict, ComparedResult, ComparisonRow, FailedAlternating, Grade,
    Metric, SampleFlagKind, ThresholdSource, Verdict,
};
use gpubench_diagnostic::in_backticks;
use gpubench_stats::{Drift, Estimate, FEWEST_WORKERS, Interval, MOST_WORKERS, Paired, Ratio, Spread};

/// The inputs of a row other than its two results.
pub(super) struct RowContext<'a> {
    pub rules: &'a Rules,
    pub arrangement: Arrangement,
    /// The baseline and the candidate.
    pub runs: [&'a StoredRun; 2],
    /// The differences between the runs.
    pub differences: &'a [Difference],
    /// The larger step of the two devices' clocks, in nanoseconds.
    pub tick: f64,
    /// The typical drift between the runs over all cases, from [`Drift::typical`].
    pub drifted: f64,
}

/// The verdict, change and remarks of a row.
pub(super) struct Finding {
    pub(super) verdict: ChangeVerdict,
    pub(super) change: Option<Change>,
    pub(super) remarks: Vec<String>,
}

pub(super) fn row(pair: &Pair<'_>, context: &RowContext<'_>) -> ComparisonRow {
    let (before, after) = (pair.baseline, pair.candidate);
    let sides = [before, after].map(side);
    let of_results = difference::of_results(before, after);
    let differences = [context.differences, &of_results].concat();
    let finding = match obstacle(pair, context, &differences) {
        Some(reason) => without_change(pair, reason),
        None if is_one_measurement(pair, context) => same(pair, context),
        None if after.metric.is_count() => counts::compared(pair, context, &differences),
        None => compared(pair, &sides, context, &differences),
    };
    let functions = match finding.change {
        Some(_) => functions::changes(pair),
        None => Vec::new(),
    };
    ComparisonRow {
        package: after.package.clone(),
        benchmark: after.benchmark.clone(),
        params: after.params.clone(),
        case: after.case.clone(),
        baseline_case: before.case.clone(),
        mode: after.mode,
        metric: after.metric.clone(),
        baseline: compared_result(before, sides[0].as_ref()),
        candidate: compared_result(after, sides[1].as_ref()),
        verdict: finding.verdict,
        remark: (!finding.remarks.is_empty()).then(|| finding.remarks.join("; ")),
        machine_code: machine_code::changes(pair, &functions),
        functions,
        change: finding.change,
    }
}

/// Returns the estimate of a result that passed. The samples of other results mean nothing. Of
/// NVBench's samples, only the statistics are known.
fn side(result: &BenchmarkComplete) -> Option<Estimate> {
    if result.verdict != Verdict::Pass {
        return None;
    }
    match result.stats.as_ref().filter(|_| has_only_statistics(result)) {
        Some(stats) => Estimate::of_one_process(stats.mean, stats.stddev.unwrap_or(0.0), stats.n),
        None => Estimate::from_workers(&result.samples_by_worker()),
    }
}

fn has_only_statistics(result: &BenchmarkComplete) -> bool {
    samples_of(result) > result.samples.len() as u64
}

/// Returns the number of samples, known or not.
fn samples_of(result: &BenchmarkComplete) -> u64 {
    let known = result.samples.len() as u64;
    result.stats.as_ref().map_or(known, |stats| stats.n.max(known))
}

fn compared_result(result: &BenchmarkComplete, side: Option<&Estimate>) -> ComparedResult {
    ComparedResult {
        verdict: result.verdict,
        failed_alternating: result
            .failed_alternating
            .as_ref()
            .map(|alternating| alternating.verdict),
        grade: result.grade,
        value: side.map(Estimate::value),
        n: samples_of(result),
        workers: side.map_or(0, |side| side.workers() as u64),
    }
}

/// Returns why two results cannot be compared, if they cannot.
fn obstacle(pair: &Pair<'_>, context: &RowContext<'_>, differences: &[Difference]) -> Option<String> {
    ambiguity(pair)
        .or_else(|| failed_without_baseline(pair))
        .or_else(|| failed_alternating(pair))
        .or_else(|| wrong_by_candidates_reference(pair, context))
        .or_else(|| ended(pair.baseline, "baseline"))
        .or_else(|| ended(pair.candidate, "candidate"))
        .or_else(|| other_metric(pair))
        .or_else(|| match context.rules.setups {
            Setups::MayDiffer => None,
            Setups::MustAgree => {
                let decides = |difference: &&Difference| difference.weight == Weight::Decides;
                differences
                    .iter()
                    .find(decides)
                    .map(|first| format!("measured differently: {first}"))
            }
        })
}

/// Returns a finding without a change. A kernel that became wrong is reported even if the setups
/// differ.
pub(super) fn without_change(pair: &Pair<'_>, reason: String) -> Finding {
    let newly_failed = pair.baseline.verdict == Verdict::Pass && pair.candidate.verdict.is_failure();
    Finding {
        verdict: if newly_failed {
            ChangeVerdict::NowFails
        } else {
            ChangeVerdict::NotCompared
        },
        change: None,
        remarks: vec![reason],
    }
}

fn ambiguity(pair: &Pair<'_>) -> Option<String> {
    let names = in_backticks(pair.ambiguous.iter().map(|result| &result.case));
    (!names.is_empty()).then(|| {
        format!("the groups of `-g` capture the same text from {names}; change the expression to distinguish them")
    })
}

/// If the baseline was skipped and the candidate failed, reports the candidate. In an alternating
/// run, its failure can be the reason for the skip.
fn failed_without_baseline(pair: &Pair<'_>) -> Option<String> {
    let is_first = pair.baseline.verdict == Verdict::Skipped && pair.candidate.verdict.is_failure();
    is_first.then(|| ended(pair.candidate, "candidate"))?
}

/// A side that failed in alternation and passed alone has no times to compare.
fn failed_alternating(pair: &Pair<'_>) -> Option<String> {
    let sides = [("baseline", pair.baseline), ("candidate", pair.candidate)];
    sides.into_iter().find_map(|(side, result)| {
        let FailedAlternating { rival, verdict, .. } = result.failed_alternating.as_ref()?;
        Some(format!(
            "the {side} ended in `{verdict}` when it alternated with {rival}, and passes alone"
        ))
    })
}

/// In an alternating run, the candidate's reference checks both sides. If only the baseline is
/// wrong, the two references may differ.
fn wrong_by_candidates_reference(pair: &Pair<'_>, context: &RowContext<'_>) -> Option<String> {
    let is_judge = context.arrangement == Arrangement::Interleaved && pair.candidate.verdict == Verdict::Pass;
    let is_wrong = pair.baseline.verdict == Verdict::WrongOutput;
    (is_judge && is_wrong)
        .then(|| "the baseline ended in `wrong-output` when checked against the candidate's reference".to_owned())
}

/// Different metrics have no ratio, even if setups may differ.
fn other_metric(pair: &Pair<'_>) -> Option<String> {
    let [baseline, candidate] = [pair.baseline, pair.candidate].map(|result| &result.metric);
    let named = |metric: &Metric| format!("{} in {}", metric.name, metric.unit);
    (baseline != candidate).then(|| {
        let (baseline, candidate) = (named(baseline), named(candidate));
        format!("different metrics: {baseline} in the baseline, {candidate} in the candidate")
    })
}

fn ended(result: &BenchmarkComplete, side: &str) -> Option<String> {
    match result.verdict {
        Verdict::Pass => result
            .samples
            .is_empty()
            .then(|| format!("the {side} has no {}", result.metric.name)),
        Verdict::Skipped => Some(match &result.message {
            None => format!("the {side} was skipped"),
            Some(reason) => format!("the {side} was skipped: {reason}"),
        }),
        failure => Some(match result.cause.filter(|_| failure == Verdict::Error) {
            None => format!("the {side} ended in `{failure}`"),
            Some(cause) => format!("the {side} ended in `{failure}: {cause}`"),
        }),
    }
}

/// Whether both sides are the same measurement: the same run, case and samples. The samples of an
/// edited file differ.
fn is_one_measurement(pair: &Pair<'_>, context: &RowContext<'_>) -> bool {
    let [baseline, candidate] = context.runs.map(|run| &run.run.run_id);
    context.arrangement == Arrangement::Apart
        && baseline == candidate
        && pair.baseline.key() == pair.candidate.key()
        && pair.baseline.samples == pair.candidate.samples
}

/// Returns the finding for a measurement that is compared with itself.
fn same(pair: &Pair<'_>, context: &RowContext<'_>) -> Finding {
    let threshold = context.rules.threshold(&pair.candidate.key());
    let ratio = Ratio {
        estimate: 1.0,
        interval: Interval { low: 1.0, high: 1.0 },
    };
    Finding {
        verdict: ChangeVerdict::NoChange,
        change: Some(change(&ratio, threshold, context.rules)),
        // The report has a note of this.
        remarks: Vec::new(),
    }
}

pub(super) fn change(ratio: &Ratio, threshold: Threshold, rules: &Rules) -> Change {
    Change {
        ratio: ratio.estimate,
        drift: None,
        interval: [ratio.interval.low, ratio.interval.high],
        confidence: rules.confidence.fraction(),
        threshold: threshold.value,
        threshold_source: threshold.source,
    }
}

fn compared(
    pair: &Pair<'_>,
    sides: &[Option<Estimate>; 2],
    context: &RowContext<'_>,
    differences: &[Difference],
) -> Finding {
    let metric = &pair.candidate.metric;
    let [Some(baseline), Some(candidate)] = sides else {
        return without_change(pair, format!("a {} of zero or less has no ratio", metric.name));
    };
    let Some(ratios) = Ratios::new([baseline, candidate], pair, context) else {
        return without_change(pair, format!("a {} of zero or less has no ratio", metric.name));
    };
    let threshold = context.rules.threshold(&pair.candidate.key());
    let workers = [baseline.workers(), candidate.workers()];
    let are_too_few = workers.iter().any(|workers| *workers < FEWEST_WORKERS);
    let (verdict, reason) = if is_of_nvbench(context.runs[0]) {
        (ChangeVerdict::Inconclusive, Some(OF_NVBENCH.to_owned()))
    } else if are_too_few {
        (ChangeVerdict::Inconclusive, Some(too_few(workers)))
    } else if needs_twins(pair, context) && ratios.drift.is_none() {
        (ChangeVerdict::Inconclusive, Some(NO_TWIN.to_owned()))
    } else {
        let verdict = judge(&ratios.deciding, threshold, metric.better);
        let is_open = verdict == ChangeVerdict::Inconclusive;
        (verdict, is_open.then(|| ratios.too_wide(threshold, workers, pair)))
    };
    let is_alternating = context.arrangement == Arrangement::Interleaved;
    let unpaired = is_alternating && ratios.paired.is_none() && !are_too_few;
    let of_pairs = ratios.paired.is_some() && !are_too_few;
    let differs_from_shown = of_pairs && judge(&ratios.shown, threshold, metric.better) != verdict;
    Finding {
        verdict,
        change: Some(Change {
            drift: ratios.drift.map(|drift| drift.factor),
            ..change(&ratios.shown, threshold, context.rules)
        }),
        remarks: reason
            .into_iter()
            .chain(too_noisy(threshold))
            .chain(unpaired.then(|| UNPAIRED.to_owned()))
            .chain(differs_from_shown.then(|| by_pairs(&ratios.deciding)))
            .chain(doubts(pair, context, differences))
            .collect(),
    }
}

/// The remark on a change since NVBench's result.
const OF_NVBENCH: &str = "NVBench measures in one process, whose spread says nothing about that between processes, so \
                          the change is shown and not judged";

/// The ratios of two results.
struct Ratios {
    of_values: Ratio,
    /// This one decides. Drift does not affect the ratios of pairs, but it moves the values of both
    /// sides.
    deciding: Ratio,
    /// This one is shown: it is the ratio of the two values in the table.
    shown: Ratio,
    paired: Option<Paired>,
    drift: Option<Drift>,
}

impl Ratios {
    /// Returns nothing if a value is zero or less.
    fn new([baseline, candidate]: [&Estimate; 2], pair: &Pair<'_>, context: &RowContext<'_>) -> Option<Ratios> {
        let step = if pair.candidate.metric.is_time() {
            context.tick
        } else {
            0.0
        };
        let confidence = context.rules.confidence;
        let of_values = Ratio::from_estimates(baseline, candidate, confidence, step)?;
        let analyses = context.rules.analyses.get(&pair.candidate.key());
        let analyses = analyses.copied().unwrap_or_default();
        let paired = match context.arrangement {
            Arrangement::Apart => None,
            Arrangement::Interleaved => {
                Paired::new(&pair.baseline.samples_by_worker(), &pair.candidate.samples_by_worker())
            }
        };
        let of_pairs = paired
            .as_ref()
            .map(|paired| paired.ratio(analyses.confidence(confidence), step));
        let drift = drift(pair).filter(|_| needs_twins(pair, context));
        let deciding = match drift {
            Some(drift) => of_values.relative_to(drift, context.drifted),
            None => of_pairs.unwrap_or(of_values),
        };
        Some(Ratios {
            of_values,
            deciding,
            shown: Ratio {
                estimate: of_values.estimate,
                ..deciding.reaching(of_values.estimate)
            },
            paired,
            drift,
        })
    }

    /// Returns why the deciding ratio is too wide to judge.
    fn too_wide(&self, threshold: Threshold, workers: [usize; 2], pair: &Pair<'_>) -> String {
        match (&self.paired, self.drift) {
            (Some(paired), _) => too_wide_alternating(threshold, &self.deciding, paired, pair.candidate),
            (None, Some(drift)) if self.deciding.reach() > 2.0 * self.of_values.reach() => {
                too_much_drift(threshold, drift)
            }
            (None, _) => too_wide(threshold, workers),
        }
    }
}

/// Whether drift between the sides can be part of their ratio.
fn needs_twins(pair: &Pair<'_>, context: &RowContext<'_>) -> bool {
    context.arrangement == Arrangement::Apart && pair.candidate.metric.is_time()
}

/// Returns the drift between the sides. `None` if one of them has no twin.
pub(super) fn drift(pair: &Pair<'_>) -> Option<Drift> {
    Drift::between(pair.baseline.twin.as_ref()?, pair.candidate.twin.as_ref()?)
}

/// The remark for separate runs if one has no twin.
const NO_TWIN: &str = "the drift between the runs is unknown, because one of them has no twin (the tool's own fixed job); use `--against REVISION` to decide";

/// Returns the remark for separate runs whose drift leaves the ratio open.
fn too_much_drift(threshold: Threshold, drift: Drift) -> String {
    format!(
        "the machine drifted by {} between the runs, so a change beyond {} cannot be ruled out; use `--against REVISION` to decide",
        units::change(drift.factor),
        percent(ruled_out(threshold))
    )
}

/// The remark for alternating sides that cannot be paired.
const UNPAIRED: &str = "the rounds of the two sides do not match, so drift between their samples counts as noise";

/// Returns the remark for a verdict that differs from what the shown values suggest.
fn by_pairs(ratio: &Ratio) -> String {
    let Interval { low, high } = ratio.interval;
    let [ratio, low, high] = [ratio.estimate, low, high].map(units::change);
    format!(
        "judged by pairs of neighbouring samples: {ratio} ({low} to {high}), because drift moved the values of both sides"
    )
}

fn too_few([baseline, candidate]: [usize; 2]) -> String {
    let fewest = if baseline.min(candidate) == 1 {
        "one fresh worker"
    } else {
        "two fresh workers"
    };
    let (side, again) = match [baseline, candidate].map(|workers| workers < FEWEST_WORKERS) {
        [true, false] => (" in the baseline", " the baseline again"),
        [false, true] => (" in the candidate", " the candidate again"),
        _ => (" per side", ""),
    };
    format!(
        "{fewest}{side} cannot distinguish a change from variation between processes; measure{again} with at least `--workers {FEWEST_WORKERS}`"
    )
}

fn too_wide(threshold: Threshold, workers: [usize; 2]) -> String {
    format!(
        "the samples cannot rule out a change beyond {}; {}",
        percent(ruled_out(threshold)),
        more_workers(workers)
    )
}

/// Returns why alternating sides leave the ratio open and what may help, which depends on what
/// varies.
fn too_wide_alternating(threshold: Threshold, ratio: &Ratio, paired: &Paired, candidate: &BenchmarkComplete) -> String {
    let rounds = paired.rounds();
    let known = percent(ratio.reach().exp_m1());
    let ruled_out = ruled_out(threshold);
    // The width of the interval falls with the square root of the rounds.
    let enough = (rounds as f64 * (ratio.reach() / ruled_out.ln_1p()).powi(2)).ceil() as usize;
    let workers = enough.max(2 * rounds);
    let more_rounds = (workers <= MOST_WORKERS).then(|| format!("`--workers {workers}`"));
    let more_samples = (paired.wide_for() == Spread::WithinRounds).then(|| "a longer `--max-time`".to_owned());
    let fewer_threads = candidate.environment.threads.is_some_and(|threads| threads > 1);
    let fewer_threads = fewer_threads.then(|| "`--threads 1`".to_owned());
    let quieter = Some("a quieter machine".to_owned());
    let remedies = units::listed([quieter, more_rounds, more_samples, fewer_threads]);
    let because = match paired.wide_for() {
        Spread::AmongRounds => "processes differ",
        Spread::WithinRounds => "samples vary",
    };
    format!(
        "the change is known only to ±{known} after {rounds} rounds, because {because}: a change of {} cannot be ruled out; try {remedies}",
        percent(ruled_out)
    )
}

/// Returns the advice on workers: measure the side with fewer again, or both with twice as many.
fn more_workers([baseline, candidate]: [usize; 2]) -> String {
    match baseline.cmp(&candidate) {
        Ordering::Less => format!("measure the baseline again with `--workers {candidate}`"),
        Ordering::Greater => format!("measure the candidate again with `--workers {baseline}`"),
        Ordering::Equal if baseline >= MOST_WORKERS => {
            "both runs already have the maximum number of workers".to_owned()
        }
        Ordering::Equal => format!(
            "measure both with more workers, such as `--workers {}`",
            (2 * baseline).min(MOST_WORKERS)
        ),
    }
}

/// A threshold this wide hides regressions, so a remark must say so.
fn too_noisy(threshold: Threshold) -> Option<String> {
    let noisy = threshold.source == ThresholdSource::History && threshold.value > NOISY_HISTORY;
    noisy.then(|| {
        format!(
            "the history is too noisy to detect changes below {}",
            percent(threshold.value)
        )
    })
}

/// Returns the remarks on a compared result that the comparison of the runs does not already have.
pub(super) fn doubts(pair: &Pair<'_>, context: &RowContext<'_>, differences: &[Difference]) -> Vec<String> {
    let differences = differences
        .iter()
        .filter(|difference| !context.differences.contains(difference));
    let sides = [(pair.baseline, "baseline"), (pair.candidate, "candidate")];
    let throttled = sides.iter().filter_map(|(result, side)| {
        let flags = result.sample_flags.iter();
        let samples = flags.filter(|flag| flag.flag == SampleFlagKind::Throttled).count();
        let all = result.samples.len();
        (samples > 0).then(|| format!("the GPU throttled in {samples} of {all} samples of the {side}"))
    });
    // If all results of a device are unverified, the report says so once.
    let unverified = sides
        .iter()
        .all(|(result, _)| result.grade == Some(Grade::Unverified) && result.device.kind.words().unverified.is_none())
        .then(|| "unverified in both runs".to_owned());
    differences
        .map(ToString::to_string)
        .chain(throttled)
        .chain(unverified)
        .collect()
}
