//! What stays of a stored run when another is saved over it: the results of benchmarks that the
//! other did not measure, and the good ones of those that failed in it, each of its own run.

use std::collections::{HashMap, HashSet};

use thiserror::Error;

use super::StoredRun;
use gpubench_contract::{BenchmarkComplete, DeviceIdentity, EarlierRun, RunStarted, Verdict};

/// What becomes of results that the run which is saved over them does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// They go: the run takes the place of the whole file.
    #[default]
    Go,
    /// They stay: the run is of a part of the benchmarks.
    Stay,
    /// Those of these packages go unless they are among these cases, which there are and which were
    /// not selected. Those of other packages stay.
    GoWithTheirBenchmarks {
        /// Packages of which all was selected.
        packages: HashSet<String>,
        /// Full names of cases that were not selected all the same, as those that are ignored.
        left_out: HashSet<String>,
    },
}

impl Others {
    /// Whether a result stays that the run does not have.
    fn keep(&self, result: &BenchmarkComplete) -> bool {
        match self {
            Others::Go => false,
            Others::Stay => true,
            Others::GoWithTheirBenchmarks { packages, left_out } => {
                !packages.contains(&result.package) || left_out.contains(&result.full_name())
            }
        }
    }

    /// Whether nothing that a stored run says it has is outside of what was measured and what goes.
    pub(super) fn is_replaced(&self, previous: &StoredRun, measured: &HashSet<String>) -> bool {
        *self != Others::Stay && !previous.results.iter().any(|result| self.stays(result, measured))
    }

    fn stays(&self, result: &BenchmarkComplete, measured: &HashSet<String>) -> bool {
        !measured.contains(&result.full_name()) && self.keep(result)
    }
}

/// Why results cannot lie in one file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{difference}")]
pub struct NotAlike {
    /// How many would have to.
    pub kept: usize,
    /// What was not alike when they were measured.
    pub difference: String,
}

/// What became of a run that another was saved over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// How many results stayed that the other run does not have.
    pub kept: usize,
    /// How many went without another in their place.
    pub gone: usize,
    /// Full names of benchmarks that passed and now failed, whose earlier results stayed.
    pub spared: Vec<String>,
    /// Full names of benchmarks that passed and now failed, whose earlier results went, since they
    /// were measured otherwise.
    pub lost: Vec<String>,
}

/// How many results of `previous` stay when a run on a device of this identity with these cases is
/// saved over it.
///
/// # Errors
/// They are of another device, or were measured otherwise.
pub(super) fn count_kept(
    previous: &StoredRun,
    identity: &DeviceIdentity,
    measured: &HashSet<String>,
    others: &Others,
) -> Result<usize, NotAlike> {
    let stays = |result: &&BenchmarkComplete| others.stays(result, measured);
    let kept: Vec<&BenchmarkComplete> = previous.results.iter().filter(stays).collect();
    let difference = kept
        .iter()
        .find_map(|result| previous.origin_of(result).identity().difference(identity));
    match difference {
        None => Ok(kept.len()),
        Some(difference) => Err(NotAlike {
            kept: kept.len(),
            difference,
        }),
    }
}

/// A run as it is saved over `previous`, with what became of that: its results take the places of
/// those of the same cases, and new ones follow.
///
/// # Errors
/// What would stay is of another device, or was measured otherwise.
pub(super) fn merged(run: StoredRun, previous: StoredRun, others: &Others) -> Result<(StoredRun, Saved), NotAlike> {
    let measured: HashSet<String> = run.results.iter().map(BenchmarkComplete::full_name).collect();
    let kept = count_kept(&previous, &run.origin().identity(), &measured, others)?;
    let gone = previous
        .results
        .iter()
        .filter(|result| !measured.contains(&result.full_name()))
        .count()
        - kept;
    let (spared, lost) = good_before(&run, &previous, others);
    let became = Saved {
        kept,
        gone,
        spared,
        lost,
    };
    if kept == 0 && became.spared.is_empty() {
        return Ok((run, became));
    }
    let earlier_runs = [
        run.run.earlier_runs.clone(),
        vec![previous.origin()],
        previous.run.earlier_runs,
    ]
    .concat();
    let places: HashMap<String, usize> = run
        .results
        .iter()
        .enumerate()
        .map(|(place, result)| (result.full_name(), place))
        .collect();
    let mut own: Vec<Option<BenchmarkComplete>> = run.results.into_iter().map(Some).collect();
    let mut results = Vec::with_capacity(own.len() + kept);
    for result in previous.results {
        match places.get(&result.full_name()) {
            Some(place) if became.spared.contains(&result.full_name()) => {
                own[*place] = None;
                results.push(result);
            }
            Some(place) => results.extend(own[*place].take()),
            None if others.keep(&result) => results.push(result),
            None => {}
        }
    }
    results.extend(own.into_iter().flatten());
    let mut packages = run.run.packages;
    for result in &results {
        if !packages.contains(&result.package) {
            packages.push(result.package.clone());
        }
    }
    tell_apart(&mut results, &packages);
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
            earlier_runs: still_there(earlier_runs, &run.run.run_id, &results),
            ..run.run
        },
        results,
        finished,
        ..run
    };
    Ok((run, became))
}

/// Benchmarks that passed in `previous` and fail in a run that was measured: those whose earlier
/// results can lie in one file with it, and those whose cannot. A run that takes the place of the
/// whole file is a copy, failures and all.
fn good_before(run: &StoredRun, previous: &StoredRun, others: &Others) -> (Vec<String>, Vec<String>) {
    if *others == Others::Go {
        return (Vec::new(), Vec::new());
    }
    let failed = run.results.iter().filter(|result| result.verdict.is_failure());
    let failed: HashSet<String> = failed.map(BenchmarkComplete::full_name).collect();
    let identity = run.origin().identity();
    let passed = previous.results.iter().filter(|result| result.verdict == Verdict::Pass);
    let good = passed.filter(|result| failed.contains(&result.full_name()));
    let (spared, lost): (Vec<_>, Vec<_>) =
        good.partition(|result| previous.origin_of(result).identity().difference(&identity).is_none());
    let names = |results: Vec<&BenchmarkComplete>| results.into_iter().map(BenchmarkComplete::full_name).collect();
    (names(spared), names(lost))
}

/// Gives results of several runs the positions and names that those of one run have: no two the
/// same, which reports know them by.
fn tell_apart(results: &mut [BenchmarkComplete], packages: &[String]) {
    for (result, index) in results.iter_mut().zip(0..) {
        result.index = index;
        // A run of one package leaves the package away.
        if packages.len() > 1 {
            result.case = result.full_name();
        }
    }
}

/// Those of some earlier runs that results are of, each once.
pub(super) fn still_there(runs: Vec<EarlierRun>, own: &str, results: &[BenchmarkComplete]) -> Vec<EarlierRun> {
    let named: HashSet<&str> = results.iter().map(|result| result.run_id.as_str()).collect();
    let mut seen = HashSet::from([own.to_owned()]);
    let is_needed = |run: &EarlierRun| named.contains(run.run_id.as_str()) && seen.insert(run.run_id.clone());
    runs.into_iter().filter(is_needed).collect()
}

#[cfg(test)]
mod tests;
