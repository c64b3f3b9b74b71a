//! One run of several parts, such as those of `--partition` on several machines.

mod error;
mod order;

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use sha2::{Digest, Sha256};

pub use error::{Lack, Lacking, MergeError};
use order::{Sequence, in_order};

use super::StoredRun;
use gpubench_contract::{
    BenchmarkComplete, Device, DeviceIdentity, Environment, ResultKey, Revision, RunEnd, RunFinished, RunStarted,
    SchemaVersion, UNKNOWN_REVISION, Verdict,
};

/// A part of a run.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name, for people.
    pub name: String,
    /// Its records.
    pub run: StoredRun,
}

/// One run of several parts.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The run. It is the same for every order of the parts.
    pub run: StoredRun,
    /// What it lacks.
    pub lacks: Vec<Lack>,
}

/// Makes one run of a part and others. A single one stays as it is.
///
/// # Errors
/// A part has not finished or has results of submissions, two have different results of a case, or
/// they differ in something that a run has only one of.
pub fn merge(first: Part, others: Vec<Part>) -> Result<Merged, MergeError> {
    let parts = distinct(std::iter::once(first).chain(others).collect());
    let parts = match <[Part; 1]>::try_from(parts) {
        Ok([Part { run, .. }]) => return Ok(Merged { run, lacks: Vec::new() }),
        Err(parts) => parts,
    };
    let ends = parts.iter().map(end_of).collect::<Result<Vec<_>, _>>()?;
    parts.windows(2).try_for_each(|pair| ensure_alike(&pair[0], &pair[1]))?;
    let differing = |what, differ: fn(&Part, &Part) -> bool| {
        let pair = parts.windows(2).find(|pair| differ(&pair[0], &pair[1]))?;
        let parts = [&pair[0], &pair[1]].map(|part| part.name.clone());
        Some(Lack { what, parts })
    };
    let seed = differing(Lacking::Seed, |one, other| {
        one.run.run.seed_commitment != other.run.run.seed_commitment
    });
    let options = differing(Lacking::Options, |one, other| {
        one.run.run.repeat != other.run.run.repeat
    });
    let run_id = run_id(&parts);
    let runs: Vec<&RunStarted> = parts.iter().map(|part| &part.run.run).collect();
    let mut run = started(&runs);
    run.run_id.clone_from(&run_id);
    let revision = revision(&parts);
    run.revision.clone_from(&revision);
    let mut finished = finished(&ends);
    finished.run_id.clone_from(&run_id);
    if seed.is_some() {
        run.seed_commitment.clear();
        finished.seed.clear();
    }
    run.repeat = run.repeat.filter(|_| options.is_none());
    let saved_at = parts.iter().map(|part| part.run.saved_at.clone()).max();
    let Sequence { packages, mut results } = in_order(once_each(parts)?);
    renumber(&mut results, &run_id);
    run.cases = results.len() as u64 + finished.not_run;
    run.packages = packages;
    let count = |counts: fn(Verdict) -> bool| results.iter().filter(|result| counts(result.verdict)).count() as u64;
    finished.passed = count(|verdict| verdict == Verdict::Pass);
    finished.failed = count(Verdict::is_failure);
    finished.skipped = count(|verdict| verdict == Verdict::Skipped);
    let stored = StoredRun::new(run, results, Some(finished), revision);
    Ok(Merged {
        run: StoredRun {
            saved_at: saved_at.unwrap_or_default(),
            ..stored
        },
        lacks: seed.into_iter().chain(options).collect(),
    })
}

/// Returns the parts in the order of their starts, those with the same contents once.
fn distinct(mut parts: Vec<Part>) -> Vec<Part> {
    parts.sort_by_cached_key(|part| {
        let run = &part.run.run;
        let began: Option<jiff::Timestamp> = run.started_at.parse().ok();
        (began, run.run_id.clone(), part.name.clone())
    });
    let mut distinct: Vec<Part> = Vec::new();
    for part in parts {
        let is_same = |other: &Part| {
            let (one, other) = (&other.run, &part.run);
            one.run == other.run && one.finished == other.finished && one.results == other.results
        };
        if !distinct.iter().any(is_same) {
            distinct.push(part);
        }
    }
    distinct
}

/// Returns the last record of a part that can be merged.
fn end_of(part: &Part) -> Result<RunFinished, MergeError> {
    let name = || part.name.clone();
    let mut results = part.run.results.iter();
    if part.run.run.grading.is_some() || results.any(|result| result.submission.is_some()) {
        return Err(MergeError::Graded { part: name() });
    }
    let finished = part.run.finished.clone();
    finished.ok_or_else(|| MergeError::Unfinished { part: name() })
}

/// Fails if two parts differ in what a run has only one of, or what changes all of its times.
fn ensure_alike(one: &Part, other: &Part) -> Result<(), MergeError> {
    let differs = |what, values| MergeError::Differs {
        what,
        parts: [one.name.clone(), other.name.clone()],
        values,
    };
    let parts = [one, other].map(|part| &part.run);
    let tools = parts.map(|part| part.run.tool_version.clone());
    if tools[0] != tools[1] {
        return Err(differs("version of the tool", tools));
    }
    let sources = parts.map(|part| {
        part.revision
            .as_ref()
            .map(|revision| (&revision.commit, revision.modified))
    });
    if sources[0] != sources[1] {
        let words = |part: &StoredRun| part.revision.as_ref().map(Revision::in_words);
        let revisions = parts.map(|part| words(part).unwrap_or_else(|| UNKNOWN_REVISION.to_owned()));
        return Err(differs("revision", revisions));
    }
    let [device, other_device] = parts.map(|part| DeviceIdentity::from_run(&part.run));
    let known = |value: String| Some(value).filter(|value| !value.is_empty());
    match device.difference(&other_device) {
        Some((what, own, others)) => {
            let values = [own, others].map(|value| known(value).unwrap_or_else(|| "not known".to_owned()));
            Err(differs(what, values))
        }
        None => Ok(()),
    }
}

/// Returns the ID of a run of these parts.
fn run_id(parts: &[Part]) -> String {
    let ids: BTreeSet<&String> = parts.iter().map(|part| &part.run.run.run_id).collect();
    if let (1, Some(id)) = (ids.len(), ids.first()) {
        return (*id).clone();
    }
    let mut hash = Sha256::new();
    for id in ids {
        hash.update((id.len() as u64).to_le_bytes());
        hash.update(id);
    }
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the value that all runs share.
fn shared<T: PartialEq>(runs: &[&RunStarted], of: impl Fn(&RunStarted) -> Option<T>) -> Option<T> {
    let mut values = runs.iter().map(|run| of(run));
    let first = values.next()??;
    values.all(|value| value.as_ref() == Some(&first)).then_some(first)
}

/// Returns the first record of a run of parts, without its cases. What the parts do not share is
/// not known of it.
fn started(runs: &[&RunStarted]) -> RunStarted {
    let first = runs[0];
    let ticks = runs.iter().filter_map(|run| run.device.clock_tick_ns);
    let uuids: BTreeSet<&String> = runs.iter().flat_map(|run| &run.device.uuids).collect();
    RunStarted {
        device: Device {
            l2_bytes: shared(runs, |run| run.device.l2_bytes),
            // No part resolves less than this.
            clock_tick_ns: ticks.reduce(f64::max),
            peak_bandwidth: shared(runs, |run| run.device.peak_bandwidth),
            peak_flops: shared(runs, |run| run.device.peak_flops),
            peak_arithmetic: shared(runs, |run| run.device.peak_arithmetic),
            uuids: uuids.into_iter().cloned().collect(),
            ..first.device.clone()
        },
        environment: Environment {
            host: shared(runs, |run| run.environment.host.clone()),
            kernel: shared(runs, |run| run.environment.kernel.clone()),
            cpu: shared(runs, |run| run.environment.cpu.clone()),
            cpus: shared(runs, |run| run.environment.cpus),
            load_1m: shared(runs, |run| run.environment.load_1m),
            memory_bytes: shared(runs, |run| run.environment.memory_bytes),
            compiler: shared(runs, |run| run.environment.compiler.clone()),
            driver: shared(runs, |run| run.environment.driver.clone()),
            threads: shared(runs, |run| run.environment.threads),
            flush_bytes: shared(runs, |run| run.environment.flush_bytes),
            flush: shared(runs, |run| run.environment.flush),
            locked_sm_clock_mhz: shared(runs, |run| run.environment.locked_sm_clock_mhz),
            clock_hz: shared(runs, |run| run.environment.clock_hz),
            throttle_reasons: shared(runs, |run| run.environment.throttle_reasons.clone()),
            gpu: shared(runs, |run| run.environment.gpu.clone()),
        },
        resumption: None,
        ..first.clone()
    }
}

/// Returns the revision of the parts. They may have checked out other branches of it.
fn revision(parts: &[Part]) -> Option<Revision> {
    let first = parts[0].run.revision.clone()?;
    let branches = parts.iter().map(|part| part.run.revision.as_ref()?.branch.clone());
    let is_shared = branches.into_iter().all(|branch| branch == first.branch);
    Some(Revision {
        branch: first.branch.filter(|_| is_shared),
        ..first
    })
}

/// Returns the last record of a run of parts, without its counts.
fn finished(ends: &[RunFinished]) -> RunFinished {
    let ended = |end| ends.iter().any(|finished| finished.end == end);
    RunFinished {
        schema_version: SchemaVersion,
        run_id: String::new(),
        passed: 0,
        failed: 0,
        skipped: 0,
        not_run: ends
            .iter()
            .map(|finished| finished.not_run)
            .fold(0, u64::saturating_add),
        seed: ends[0].seed.clone(),
        end: match () {
            () if ended(RunEnd::Interrupted) => RunEnd::Interrupted,
            () if ended(RunEnd::FailedFast) => RunEnd::FailedFast,
            () => RunEnd::Completed,
        },
        wall_ns: ends
            .iter()
            .map(|finished| finished.wall_ns)
            .fold(0, u64::saturating_add),
    }
}

/// Returns the results of each part, and each result once. The results of several packages have
/// the names of their packages.
fn once_each(parts: Vec<Part>) -> Result<Vec<Sequence>, MergeError> {
    let mut seen: HashMap<ResultKey, (&Part, &BenchmarkComplete)> = HashMap::new();
    let mut repeated: Vec<HashSet<usize>> = Vec::new();
    for part in &parts {
        let mut again = HashSet::new();
        for (place, result) in part.run.results.iter().enumerate() {
            match seen.entry(result.key()) {
                Entry::Vacant(entry) => {
                    entry.insert((part, result));
                }
                Entry::Occupied(earlier) if earlier.get().1 == result => {
                    again.insert(place);
                }
                Entry::Occupied(earlier) => {
                    return Err(MergeError::Twice {
                        case: result.reading().label(&result.full_name()),
                        one: earlier.get().0.name.clone(),
                        other: part.name.clone(),
                    });
                }
            }
        }
        repeated.push(again);
    }
    let packages: BTreeSet<String> = parts.iter().flat_map(|part| part.run.run.packages.clone()).collect();
    let sequence = |(Part { run, .. }, again): (Part, HashSet<usize>)| {
        let is_named_within = run.run.packages.len() < 2 && packages.len() > 1;
        let named = |mut result: BenchmarkComplete| {
            if is_named_within {
                result.case = format!("{}::{}", result.package, result.case);
            }
            result
        };
        let results = run.results.into_iter().enumerate();
        let once = results.filter(|(place, _)| !again.contains(place));
        Sequence {
            packages: run.run.packages,
            results: once.map(|(_, result)| named(result)).collect(),
        }
    };
    Ok(parts.into_iter().zip(repeated).map(sequence).collect())
}

/// Gives results their positions in the run. The number of a contest is that of its first result.
fn renumber(results: &mut [BenchmarkComplete], run_id: &str) {
    let mut contests: HashMap<(String, u64), u64> = HashMap::new();
    for (index, result) in (0..).zip(results) {
        result.index = index;
        let of = std::mem::replace(&mut result.run_id, run_id.to_owned());
        if let Some(contest) = &mut result.contest {
            contest.number = *contests.entry((of, contest.number)).or_insert(index);
        }
    }
}

#[cfg(test)]
mod tests;
