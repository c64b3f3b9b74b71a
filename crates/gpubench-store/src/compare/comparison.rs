//! Two runs side by side.

use super::pairing::Pairing;
use super::row::{RowContext, drift, row};
use super::{Rules, difference};
use crate::StoredRun;
use gpubench_contract::{Arrangement, BenchmarkComplete, ComparedRun, ComparisonComplete, SchemaVersion};
use gpubench_stats::Drift;

/// A run and what it was asked for by.
#[derive(Clone, Copy, Debug)]
pub struct NamedRun<'a> {
    /// A baseline's name, a file's or a revision's.
    pub name: &'a str,
    /// The run.
    pub run: &'a StoredRun,
}

/// Compares what `candidate` measured with what `baseline` did. The same runs and rules always give
/// the same record.
pub fn compare(
    baseline: NamedRun<'_>,
    candidate: NamedRun<'_>,
    arrangement: Arrangement,
    rules: &Rules,
) -> ComparisonComplete {
    let differences = difference::of_runs(&baseline.run.origin(), &candidate.run.origin());
    let pairing = Pairing::of(&baseline.run.results, &candidate.run.results, &rules.matching);
    // A measurement that both runs have kept says nothing of what the machine did between them.
    let apart = pairing
        .both
        .iter()
        .filter(|pair| pair.baseline.twin != pair.candidate.twin);
    let drifts: Vec<Drift> = apart.filter_map(drift).collect();
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
            .filter(|pair| !pair.is_skipped())
            .map(|pair| row(pair, &context))
            .collect(),
        new: names(&pairing.new),
        removed: names(&pairing.removed),
        left_out: None,
    }
}

/// The step of the device's clock in nanoseconds, which is the step of times.
fn tick(contestant: &NamedRun<'_>) -> f64 {
    contestant
        .run
        .run
        .device
        .clock_tick_ns
        .filter(|tick| tick.is_finite())
        .unwrap_or(0.0)
}

fn names(results: &[&BenchmarkComplete]) -> Vec<String> {
    results.iter().map(|result| result.case.clone()).collect()
}

impl NamedRun<'_> {
    /// What a comparison says of the run.
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
            earlier_results: self.run.kept().count() as u64,
        }
    }
}
