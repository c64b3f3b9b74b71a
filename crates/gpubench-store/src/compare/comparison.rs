//! Comparison of two runs.

use super::pairing::Pairing;
use super::row::{RowContext, drift, row};
use super::{Rules, difference};
use crate::StoredRun;
use crate::nvbench::{CaseNames, adopt_nvbench, is_of_nvbench};
use gpubench_contract::{Arrangement, BenchmarkComplete, ComparedRun, ComparisonComplete, SchemaVersion};
use gpubench_stats::Drift;

/// A run with its name.
#[derive(Clone, Copy, Debug)]
pub struct NamedRun<'a> {
    /// The name that the user gave: a baseline, a file or a revision.
    pub name: &'a str,
    /// The run.
    pub run: &'a StoredRun,
}

/// Compares the candidate's results with the baseline's. The same runs and rules always give the
/// same record. Results of NVBench get the names of the candidate's cases.
pub fn compare(
    baseline: NamedRun<'_>,
    candidate: NamedRun<'_>,
    arrangement: Arrangement,
    rules: &Rules,
) -> ComparisonComplete {
    if is_of_nvbench(baseline.run) {
        let mut adopted = baseline.run.clone();
        let cases = candidate.run.results.iter();
        let cases = cases.map(|result| CaseNames {
            package: result.package.clone(),
            benchmark: result.benchmark.clone(),
            params: result.params.clone(),
        });
        let ambiguous = adopt_nvbench(&mut adopted, cases);
        let baseline = NamedRun {
            run: &adopted,
            ..baseline
        };
        let mut comparison = of_named(baseline, candidate, arrangement, rules);
        comparison.differences.extend(ambiguous);
        return comparison;
    }
    of_named(baseline, candidate, arrangement, rules)
}

/// Compares results with the same names.
fn of_named(
    baseline: NamedRun<'_>,
    candidate: NamedRun<'_>,
    arrangement: Arrangement,
    rules: &Rules,
) -> ComparisonComplete {
    let differences = difference::of_runs(&baseline.run.run, &candidate.run.run);
    let pairing = Pairing::new(&baseline.run.results, &candidate.run.results, &rules.matching);
    // If both sides are the same measurement, its twin says nothing about drift between them.
    let separate = pairing
        .both
        .iter()
        .filter(|pair| pair.baseline.twin != pair.candidate.twin);
    let drifts: Vec<Drift> = separate.filter_map(drift).collect();
    let context = RowContext {
        rules,
        arrangement,
        runs: [baseline.run, candidate.run],
        differences: &differences,
        tick: tick(&baseline).max(tick(&candidate)),
        drifted: Drift::typical(&drifts),
    };
    ComparisonComplete {
        schema_version: SchemaVersion,
        baseline: baseline.described(),
        candidate: candidate.described(),
        arrangement,
        differences: differences.iter().map(ToString::to_string).collect(),
        rows: pairing
            .both
            .iter()
            .filter(|pair| !pair.has_no_values())
            .map(|pair| row(pair, &context))
            .collect(),
        new: names(&pairing.new, &pairing.removed),
        removed: names(&pairing.removed, &pairing.new),
        left_out: None,
    }
}

/// Returns the step of the device's clock in nanoseconds, which is the resolution of its times.
fn tick(run: &NamedRun<'_>) -> f64 {
    run.run
        .run
        .device
        .clock_tick_ns
        .filter(|tick| tick.is_finite())
        .unwrap_or(0.0)
}

/// Returns the names of results. A name that the other run has, too, is of another package, which
/// is then named.
fn names(results: &[&BenchmarkComplete], others: &[&BenchmarkComplete]) -> Vec<String> {
    let name = |result: &&BenchmarkComplete| {
        let label = result.label();
        match others.iter().any(|other| other.label() == label) {
            true => format!("{} {label}", result.package),
            false => label,
        }
    };
    results.iter().map(name).collect()
}

impl NamedRun<'_> {
    /// Returns the part of the run that a comparison records.
    pub fn described(&self) -> ComparedRun {
        let StoredRun { run, revision, .. } = self.run;
        ComparedRun {
            name: self.name.to_owned(),
            run_id: run.run_id.clone(),
            started_at: run.started_at.clone(),
            tool_version: run.tool_version.clone(),
            device: run.device.clone(),
            driver: run.environment.driver.clone(),
            revision: revision.clone(),
        }
    }
}
