//! Merging of a run into a stored run. Results of benchmarks that the new run did not measure stay,
//! and so do good results of benchmarks that failed in it. Each result keeps its run.

use std::collections::{HashMap, HashSet};

use camino::Utf8PathBuf;
use thiserror::Error;

use super::StoredRun;
use gpubench_contract::{BenchmarkComplete, DeviceIdentity, EarlierRun, ResultKey, RunStarted, Verdict};

/// Which stored results stay if the new run does not have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// None. The new run replaces the whole file.
    #[default]
    Go,
    /// All. The new run measured only some of the benchmarks.
    Stay,
    /// Results of other packages stay. Results of these packages go, except for cases that exist
    /// but were not selected.
    GoWithTheirBenchmarks {
        /// Packages whose cases were all selected.
        packages: HashSet<String>,
        /// Full names of cases that exist but were not selected, such as ignored ones.
        left_out: HashSet<String>,
    },
}

impl Others {
    /// Whether a result stays if the new run does not have it.
    fn keep(&self, result: &BenchmarkComplete) -> bool {
        match self {
            Others::Go => false,
            Others::Stay => true,
            Others::GoWithTheirBenchmarks { packages, left_out } => {
                !packages.contains(&result.package) || left_out.contains(&result.full_name())
            }
        }
    }

    /// Whether the new run replaces every result of the stored run.
    pub(super) fn is_replaced(&self, previous: &StoredRun, measured: &HashSet<ResultKey>) -> bool {
        *self != Others::Stay && !previous.results.iter().any(|result| self.stays(result, measured))
    }

    fn stays(&self, result: &BenchmarkComplete, measured: &HashSet<ResultKey>) -> bool {
        !measured.contains(&result.key()) && self.keep(result)
    }
}

/// The reason why results cannot share a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{difference}")]
pub struct SetupMismatch {
    /// Number of results that would stay.
    pub kept: usize,
    /// The difference between the setups.
    pub difference: String,
}

/// What happened to the results of a stored run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Number of results that stayed because the new run does not have them.
    pub kept: usize,
    /// Number of results that were removed without a replacement.
    pub gone: usize,
    /// Full names of cases that passed before and failed now, whose earlier results stayed, with
    /// their modes.
    pub spared: Vec<String>,
    /// Full names of cases that passed before and failed now, whose earlier results were removed
    /// because their setup differs, with their modes.
    pub lost: Vec<String>,
    /// The table of instructions next to the run. `None` if no instructions were counted.
    pub icounts: Option<Utf8PathBuf>,
}

/// Returns how many results of `previous` stay when a run with this device identity and these cases
/// is saved over it.
///
/// # Errors
/// They have another device or setup.
pub(super) fn count_kept(
    previous: &StoredRun,
    identity: &DeviceIdentity,
    measured: &HashSet<ResultKey>,
    others: &Others,
) -> Result<usize, SetupMismatch> {
    let stays = |result: &&BenchmarkComplete| others.stays(result, measured);
    let kept: Vec<&BenchmarkComplete> = previous.results.iter().filter(stays).collect();
    let difference = kept
        .iter()
        .find_map(|result| previous.origin_of(result).identity().difference(identity));
    match difference {
        None => Ok(kept.len()),
        Some(difference) => Err(SetupMismatch {
            kept: kept.len(),
            difference,
        }),
    }
}

/// Merges a run into `previous`. Its results replace those of the same cases, and new ones follow.
/// Also returns what happened to the results of `previous`.
///
/// # Errors
/// The results that would stay have another device or setup.
pub(super) fn merged(
    run: StoredRun,
    previous: StoredRun,
    others: &Others,
) -> Result<(StoredRun, Saved), SetupMismatch> {
    let measured: HashSet<ResultKey> = run.results.iter().map(BenchmarkComplete::key).collect();
    let kept = count_kept(&previous, &run.origin().identity(), &measured, others)?;
    let gone = previous
        .results
        .iter()
        .filter(|result| !measured.contains(&result.key()))
        .count()
        - kept;
    let (spared, lost) = earlier_good_results(&run, &previous, others);
    let saved = Saved {
        kept,
        gone,
        spared: labels(&spared),
        lost: labels(&lost),
        icounts: None,
    };
    let spared: HashSet<ResultKey> = spared.into_iter().map(BenchmarkComplete::key).collect();
    if kept == 0 && spared.is_empty() {
        return Ok((run, saved));
    }
    let earlier_runs = [
        run.run.earlier_runs.clone(),
        vec![previous.origin()],
        previous.run.earlier_runs,
    ]
    .concat();
    let places: HashMap<ResultKey, usize> = run
        .results
        .iter()
        .enumerate()
        .map(|(place, result)| (result.key(), place))
        .collect();
    let mut new_results: Vec<Option<BenchmarkComplete>> = run.results.into_iter().map(Some).collect();
    let mut results = Vec::with_capacity(new_results.len() + kept);
    for result in previous.results {
        let key = result.key();
        match places.get(&key) {
            Some(place) if spared.contains(&key) => {
                new_results[*place] = None;
                results.push(result);
            }
            Some(place) => results.extend(new_results[*place].take()),
            None if others.keep(&result) => results.push(result),
            None => {}
        }
    }
    results.extend(new_results.into_iter().flatten());
    let mut packages = run.run.packages;
    for result in &results {
        if !packages.contains(&result.package) {
            packages.push(result.package.clone());
        }
    }
    make_unique(&mut results, &packages);
    let count =
        |is_counted: fn(Verdict) -> bool| results.iter().filter(|result| is_counted(result.verdict)).count() as u64;
    let finished = run.finished.map(|mut finished| {
        finished.passed = count(|verdict| verdict == Verdict::Pass);
        finished.failed = count(Verdict::is_failure);
        finished.skipped = count(|verdict| verdict == Verdict::Skipped);
        finished
    });
    let run = StoredRun {
        run: RunStarted {
            packages,
            cases: results.len() as u64,
            earlier_runs: needed_runs(earlier_runs, &run.run.run_id, &results),
            ..run.run
        },
        results,
        finished,
        ..run
    };
    Ok((run, saved))
}

/// Returns the results that passed in `previous` and failed in `run`: those that can stay, and
/// those whose setup differs. A run that replaces the whole file is copied with its failures.
fn earlier_good_results<'a>(
    run: &StoredRun,
    previous: &'a StoredRun,
    others: &Others,
) -> (Vec<&'a BenchmarkComplete>, Vec<&'a BenchmarkComplete>) {
    if *others == Others::Go {
        return (Vec::new(), Vec::new());
    }
    let failed = run.results.iter().filter(|result| result.verdict.is_failure());
    let failed: HashSet<ResultKey> = failed.map(BenchmarkComplete::key).collect();
    let identity = run.origin().identity();
    let passed = previous.results.iter().filter(|result| result.verdict == Verdict::Pass);
    let good = passed.filter(|result| failed.contains(&result.key()));
    good.partition(|result| previous.origin_of(result).identity().difference(&identity).is_none())
}

/// Returns the full names of results, with their readings.
fn labels(results: &[&BenchmarkComplete]) -> Vec<String> {
    let label = |result: &&BenchmarkComplete| result.reading().label(&result.full_name());
    results.iter().map(label).collect()
}

/// Renumbers results of several runs and makes their names unique, because reports identify results
/// by them.
fn make_unique(results: &mut [BenchmarkComplete], packages: &[String]) {
    for (result, index) in results.iter_mut().zip(0..) {
        result.index = index;
        // In a run of one package, case names do not have the package.
        if packages.len() > 1 {
            result.case = result.full_name();
        }
    }
}

/// Returns the earlier runs that results belong to, each once.
pub(super) fn needed_runs(runs: Vec<EarlierRun>, run_id: &str, results: &[BenchmarkComplete]) -> Vec<EarlierRun> {
    let named: HashSet<&str> = results.iter().map(|result| result.run_id.as_str()).collect();
    let mut seen = HashSet::from([run_id.to_owned()]);
    let is_needed = |run: &EarlierRun| named.contains(run.run_id.as_str()) && seen.insert(run.run_id.clone());
    runs.into_iter().filter(is_needed).collect()
}

#[cfg(test)]
mod tests;
