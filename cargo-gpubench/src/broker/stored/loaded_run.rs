//! `--load-baseline`: shows and compares stored results like new ones.

use std::collections::BTreeSet;

use camino::Utf8Path;

use super::bookkeeping::{Origin, ResultTargets};
use super::noise_floors::NoiseFloors;
use super::saving::replaced_by_loaded;
use super::stored_cases::{case_of, chosen};
use crate::broker::BaselineError;
use crate::broker::cases::{NamePattern, Naming};
use crate::broker::choice::chosen::ChosenCases;
use crate::broker::options::RunOptions;
use crate::broker::places::Places;
use crate::broker::reporting::Reporting;
use crate::broker::status::{moment, status};
use gpubench_contract::{BenchmarkComplete, BenchmarkStarted, RunEnd, RunFinished, SchemaVersion, Verdict};
use gpubench_diagnostic::{ExitCode, Failure, print_warning};
use gpubench_store::{Merged, Part, RunName, StoredRun, load, merge};

/// Most names of parts in the name of a run.
const MOST_NAMES: usize = 3;

/// Reports the records of a stored run, or of a run of several parts, that the filters select.
///
/// # Errors
/// A run cannot be read, the parts do not make one run, no result is selected, or something cannot
/// be written.
pub(crate) fn show_loaded_run(
    first: &RunName,
    others: &[RunName],
    options: &RunOptions,
    places: &Places,
    targets: ResultTargets,
) -> Result<ExitCode, Failure> {
    let StoredRun {
        mut run,
        results,
        finished,
        revision,
        ..
    } = merged(first, others, places)?;
    let name = name_of(first, others);
    let names = &options.cases.names;
    let results = chosen(results, names, Naming::for_packages(run.packages.len()));
    if results.is_empty() {
        let mut filters = names.filters.iter().map(NamePattern::text);
        let file = filters
            .find(|filter| Utf8Path::new(filter).is_file())
            .map(str::to_owned);
        return Err(BaselineError::NothingFits { stored: name, file }.into());
    }
    let ours = ChosenCases {
        packages: run.packages.clone(),
        cases: results.iter().map(case_of).collect(),
        left_out: Vec::new(),
    };
    run.revision.clone_from(&revision);
    let origin = Origin {
        name: name.clone(),
        revision,
    };
    let floors = NoiseFloors::new(&options.measurement.cases, &[]);
    let plan = targets.of_cases(names, &ours, replaced_by_loaded(names), Some(origin), floors)?;
    let finished = finished_of(&results, finished, &run.run_id);
    run.cases = results.len() as u64 + finished.not_run;
    let announced: Vec<BenchmarkStarted> = results.iter().map(BenchmarkComplete::announcement).collect();
    let when = moment(&run.started_at);
    let what = format_args!("`{name}`, measured {when}; nothing is run");
    status(options.output.verbosity, "Loaded", what);
    let mut reporting = Reporting::begin(options, plan, run, &announced, None, None)?;
    for (started, result) in announced.iter().zip(&results) {
        reporting.benchmark_started(started);
        reporting.benchmark_complete(result.clone());
    }
    reporting.conclude(finished, None)
}

/// Reads a run, or the run of several parts.
fn merged(first: &RunName, others: &[RunName], places: &Places) -> Result<StoredRun, Failure> {
    let part = |name: &RunName| {
        load(name, places.home()).map(|run| Part {
            name: name.to_string(),
            run,
        })
    };
    let others: Vec<Part> = others.iter().map(part).collect::<Result<_, _>>()?;
    let Merged { run, lacks } = merge(part(first)?, others)?;
    lacks.iter().for_each(|lack| print_warning(lack));
    Ok(run)
}

/// Returns the name of a run of these parts, the same for every order: `a.jsonl + b.jsonl`.
fn name_of(first: &RunName, others: &[RunName]) -> String {
    let names: BTreeSet<String> = others.iter().chain([first]).map(RunName::to_string).collect();
    let mut shown: Vec<String> = names.iter().take(MOST_NAMES).cloned().collect();
    if names.len() > MOST_NAMES {
        shown.push(format!("{} more", names.len() - MOST_NAMES));
    }
    shown.join(" + ")
}

/// Returns the last record of the selected results. A run without a last record was killed.
fn finished_of(results: &[BenchmarkComplete], finished: Option<RunFinished>, run_id: &str) -> RunFinished {
    let count =
        |is_counted: fn(Verdict) -> bool| results.iter().filter(|result| is_counted(result.verdict)).count() as u64;
    let last = finished.unwrap_or_else(|| RunFinished {
        schema_version: SchemaVersion,
        run_id: run_id.to_owned(),
        passed: 0,
        failed: 0,
        skipped: 0,
        not_run: 0,
        seed: String::new(),
        end: RunEnd::Interrupted,
        wall_ns: results.iter().map(|result| result.wall_ns).sum(),
    });
    RunFinished {
        passed: count(|verdict| verdict == Verdict::Pass),
        failed: count(Verdict::is_failure),
        skipped: count(|verdict| verdict == Verdict::Skipped),
        ..last
    }
}
