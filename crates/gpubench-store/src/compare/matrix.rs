//! The results of several devices, next to each other.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use super::NamedRun;
use crate::nvbench::is_of_nvbench;
use gpubench_contract::units::listed;
use gpubench_contract::{
    BenchmarkComplete, BytesFrom, DeviceCell, DeviceColumn, DeviceIdentity, DeviceMatrix, DeviceRow, Flush,
    SchemaVersion, Standing, Stats, UNKNOWN_REVISION, Verdict,
};

/// Returns the results of runs next to each other. `None` if all runs are of one device. A run that
/// is named twice has one column. Files of NVBench have none.
pub fn device_matrix(runs: &[NamedRun<'_>]) -> Option<DeviceMatrix> {
    let mut distinct: Vec<NamedRun<'_>> = Vec::new();
    for run in runs.iter().filter(|run| !is_of_nvbench(run.run)) {
        let is_same = |other: &NamedRun<'_>| (&other.run.run, &other.run.results) == (&run.run.run, &run.run.results);
        if !distinct.iter().any(is_same) {
            distinct.push(*run);
        }
    }
    let device = |run: &NamedRun<'_>| run.run.run.device.clone();
    let first = device(distinct.first()?);
    if distinct.iter().all(|run| device(run).is_model_of(&first)) {
        return None;
    }
    let titles = titles(&distinct);
    let columns = distinct.iter().zip(&titles).map(|(run, title)| DeviceColumn {
        title: title.clone(),
        run: run.described(),
        host: host(run),
    });
    Some(DeviceMatrix {
        schema_version: SchemaVersion,
        columns: columns.collect(),
        differences: differences(&distinct.iter().map(setup).collect::<Vec<_>>(), &titles),
        rows: rows(&distinct, &titles),
    })
}

/// What tells runs on devices of one name apart, in the order in which it is tried.
const DISTINGUISHING: [fn(&NamedRun<'_>) -> Option<String>; 3] = [host, uuid, |run| Some(run.name.to_owned())];

fn titles(runs: &[NamedRun<'_>]) -> Vec<String> {
    let name = |run: &NamedRun<'_>| run.run.run.device.title();
    let title = |run: &NamedRun<'_>| {
        let alike: Vec<&NamedRun<'_>> = runs.iter().filter(|other| name(other) == name(run)).collect();
        let tells_apart = |of: &&fn(&NamedRun<'_>) -> Option<String>| {
            let values: BTreeSet<String> = alike.iter().filter_map(|run| of(run)).collect();
            values.len() == alike.len()
        };
        let own = DISTINGUISHING.iter().find(tells_apart).filter(|_| alike.len() > 1);
        listed([Some(name(run)), own.and_then(|of| of(run))])
    };
    runs.iter().map(title).collect()
}

fn host(run: &NamedRun<'_>) -> Option<String> {
    run.run.run.environment.host.clone()
}

/// Returns the UUID of the only GPU.
fn uuid(run: &NamedRun<'_>) -> Option<String> {
    run.run.run.device.short().uuid
}

/// A property that can differ: its name, and its value if known.
type Fact = (&'static str, Option<String>);

/// Returns what a run's times depend on, apart from the device.
fn setup(run: &NamedRun<'_>) -> Vec<Fact> {
    let (stored, started) = (run.run, &run.run.run);
    let identity = DeviceIdentity::from_run(started);
    let revision = stored.revision.as_ref().map(|revision| {
        let modified = revision.modified.then(|| "modified".to_owned());
        listed([Some(revision.short_commit()), modified])
    });
    let locked = identity.locked_sm_clock_mhz.map(|megahertz| format!("{megahertz} MHz"));
    vec![
        (
            "revision",
            Some(revision.unwrap_or_else(|| UNKNOWN_REVISION.to_owned())),
        ),
        ("version of the tool", Some(started.tool_version.clone())),
        ("driver", identity.driver),
        (
            "cache flush",
            identity.flush.map(|flush| Flush::as_str(flush).to_owned()),
        ),
        ("locked clock", Some(locked.unwrap_or_else(|| "none".to_owned()))),
        ("compiler", started.environment.compiler.clone()),
    ]
}

/// Returns what is known of the work of a call.
fn work(result: &BenchmarkComplete, stats: &Stats) -> Vec<Fact> {
    let throughput = &result.throughput;
    let amount = |per_s: Option<f64>| Some(whole(per_s? * stats.value * 1e-9));
    let kernels = result.kernels.as_ref().map(|kernels| {
        let names: BTreeSet<&str> = kernels.iter().map(|of| &*of.kernel).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    });
    let outputs = result.checks.iter();
    let outputs = outputs.map(|check| Some(format!("{} of {} elements", check.output, check.elements)));
    let counters = throughput.counters.iter();
    let counters = counters.map(|counter| Some(format!("{} {}", counter.amount, counter.name)));
    let declared = throughput.bytes_from == Some(BytesFrom::Declared);
    let is_time = result.metric.is_time();
    vec![
        (
            "execution",
            result.execution.map(|execution| execution.as_str().to_owned()),
        ),
        ("kernels", kernels),
        ("outputs", Some(listed(outputs))),
        ("counters", Some(listed(counters))),
        (
            "declared bytes",
            amount(throughput.bytes_per_s.filter(|_| declared && is_time)),
        ),
        (
            "declared operations",
            amount(throughput.flops_per_s.filter(|_| is_time)),
        ),
    ]
}

/// Returns an amount that was multiplied and divided by a time. Its last digits are rounded.
fn whole(amount: f64) -> String {
    let rounded: f64 = format!("{amount:.12e}").parse().unwrap_or(amount);
    format!("{rounded:.0}")
}

/// The number of columns from which on their titles are not listed.
const MANY: usize = 3;

/// Describes the facts that differ, each with the titles of the columns that have a value:
/// `driver: 570.86 (NVIDIA H100), 580.159 (NVIDIA H200)`. The value of most columns comes last,
/// with `the others` if they are many. All columns have the same facts.
fn differences(facts: &[Vec<Fact>], titles: &[String]) -> Vec<String> {
    let Some(first) = facts.first() else {
        return Vec::new();
    };
    let describe = |(position, (what, _)): (usize, &Fact)| {
        let mut values: Vec<(&str, Vec<&str>)> = Vec::new();
        for (facts, title) in facts.iter().zip(titles) {
            let value = match facts[position].1.as_deref() {
                None => "unknown",
                Some("") => "none",
                Some(value) => value,
            };
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, of)) => of.push(title),
                None => values.push((value, vec![title])),
            }
        }
        values.sort_by_key(|(_, of)| (of.len() >= MANY).then_some(of.len()));
        let last = values.len() - 1;
        let shown = values.iter().enumerate().map(|(place, (value, of))| match of.len() {
            MANY.. if place == last => format!("{value} (the others)"),
            _ => format!("{value} ({})", of.join("; ")),
        });
        (values.len() > 1).then(|| format!("{what}: {}", shown.collect::<Vec<_>>().join(", ")))
    };
    first.iter().enumerate().filter_map(describe).collect()
}

/// A result of each run, in the order of the runs.
type Line<'a> = Vec<Option<&'a BenchmarkComplete>>;

fn rows(runs: &[NamedRun<'_>], titles: &[String]) -> Vec<DeviceRow> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut known = HashMap::new();
    for (column, run) in runs.iter().enumerate() {
        for result in &run.run.results {
            let line = match known.entry((result.key(), &result.metric.unit)) {
                Entry::Occupied(line) => *line.get(),
                Entry::Vacant(line) => {
                    lines.push(vec![None; runs.len()]);
                    *line.insert(lines.len() - 1)
                }
            };
            lines[line][column] = Some(result);
        }
    }
    lines.iter().filter_map(|line| row(line, titles)).collect()
}

/// Returns a row. `None` if no run has a value or a failure.
fn row(line: &Line<'_>, titles: &[String]) -> Option<DeviceRow> {
    let has_anything = |result: &&BenchmarkComplete| result.verdict.is_failure() || stats_of(result).is_some();
    line.iter().flatten().find(|result| has_anything(result))?;
    let shown = *line.iter().flatten().next()?;
    let is_of_the_host = |result: &BenchmarkComplete| result.device.kind.words().is_the_host;
    let has_others = line.iter().flatten().any(|result| !is_of_the_host(result));
    // Times of the CPU device say nothing about a GPU, and a case that failed in alternation with
    // others has none.
    let compared =
        |result: &BenchmarkComplete| result.failed_alternating.is_none() && !(has_others && is_of_the_host(result));
    let values = line.iter().flatten().filter(|result| compared(result));
    let values: Vec<&Stats> = values.filter_map(|result| stats_of(result)).collect();
    let better = shown.metric.better;
    let best = values.iter().copied();
    let best = best.min_by(|one, other| better.order(one.value, other.value));
    let best = best.filter(|_| values.len() > 1);
    let cell = |result: &BenchmarkComplete| {
        let stats = stats_of(result);
        let pair = stats.zip(best).filter(|_| compared(result));
        DeviceCell {
            verdict: result.verdict,
            cause: result.cause,
            grade: result.grade,
            value: stats.map(|stats| stats.value),
            ci95: stats.and_then(|stats| stats.ci95),
            standing: pair.map(|(stats, best)| standing(stats, best)),
            ratio: pair
                .map(|(stats, best)| stats.value / best.value)
                .filter(|ratio| ratio.is_finite()),
        }
    };
    let measured = line.iter().zip(titles);
    let measured = measured.filter_map(|(result, title)| Some(((*result)?, title)));
    let measured = measured.filter_map(|(result, title)| Some((work(result, stats_of(result)?), title.clone())));
    let (facts, titles): (Vec<Vec<Fact>>, Vec<String>) = measured.unzip();
    let differences = differences(&facts, &titles);
    Some(DeviceRow {
        package: shown.package.clone(),
        benchmark: shown.benchmark.clone(),
        params: shown.params.clone(),
        case: shown.case.clone(),
        mode: shown.mode,
        metric: shown.metric.clone(),
        remark: (!differences.is_empty()).then(|| differences.join("; ")),
        cells: line.iter().map(|result| result.map(cell)).collect(),
    })
}

/// Returns the statistics of a result that passed. Those of others mean nothing.
fn stats_of(result: &BenchmarkComplete) -> Option<&Stats> {
    result.stats.as_ref().filter(|_| result.verdict == Verdict::Pass)
}

fn standing(stats: &Stats, best: &Stats) -> Standing {
    match std::ptr::eq(stats, best) {
        true => Standing::Best,
        false if stats.may_equal(best) => Standing::Tied,
        false => Standing::Worse,
    }
}
