//! NVBench's JSON as a baseline.
//!
//! A state of a benchmark is a result in the mode `cold`: its value is the mean of NVBench's cold
//! GPU times, with their standard deviation and number. It belongs to the benchmark of a candidate
//! whose name, or last part of the name, is NVBench's, and whose axes have the same names and
//! values. Nothing else of the file is used.

mod file;

use camino::Utf8Path;

use self::file::{Benchmark, Device, File, NamedValue, State};
use super::error::LEFT_ALONE;
use super::{StoreError, StoredRun};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, DeviceKind, DeviceName, Environment, Metric, Mode, ParamValue, Params, RunEnd,
    RunFinished, RunStarted, SchemaVersion, Stats, Verdict,
};

/// The name of the tool in front of its version, in [`RunStarted::tool_version`].
const TOOL: &str = "NVBench ";

/// The version of the format that is known.
const FORMAT_MAJOR: u64 = 1;

const MEAN: &str = "nv/cold/time/gpu/mean";
const RELATIVE_DEVIATION: &str = "nv/cold/time/gpu/stdev/relative";
const SAMPLES: &str = "nv/cold/sample_size";

/// Whether a run is from a file of NVBench.
pub(crate) fn is_of_nvbench(run: &StoredRun) -> bool {
    run.run.tool_version.starts_with(TOOL)
}

/// Reads a file of NVBench.
///
/// # Errors
/// It has another form or version, or results of several devices.
pub(super) fn parse(path: &Utf8Path, text: &[u8]) -> Result<StoredRun, StoreError> {
    let file: File =
        super::read::from_json(text).map_err(StoreError::refused_by_json(path, "does not match NVBench's format"))?;
    let versions = &file.meta.version;
    if versions.json.major != FORMAT_MAJOR {
        let how = format!(
            "has version {} of NVBench's format, but only version {FORMAT_MAJOR} is known",
            versions.json.major
        );
        return Err(StoreError::refused(
            path,
            how,
            "write it with another version of NVBench",
        ));
    }
    let benchmarks = file.benchmarks.as_deref().unwrap_or_default();
    let device = device(path, benchmarks, file.devices.as_deref().unwrap_or_default())?;
    let states = benchmarks
        .iter()
        .flat_map(|benchmark| benchmark.states.iter().flatten().map(move |state| (benchmark, state)));
    let results: Vec<BenchmarkComplete> = (0..)
        .zip(states)
        .map(|(index, (benchmark, state))| result(index, benchmark, state, device))
        .collect();
    Ok(run(&versions.nvbench.string, device, results))
}

/// Returns the device of all results.
fn device<'a>(path: &Utf8Path, benchmarks: &[Benchmark], devices: &'a [Device]) -> Result<&'a Device, StoreError> {
    let states = benchmarks
        .iter()
        .flat_map(|benchmark| benchmark.states.iter().flatten());
    let mut used: Vec<i64> = states.filter_map(|state| state.device).collect();
    used.sort_unstable();
    used.dedup();
    match used[..] {
        [id] => devices.iter().find(|device| device.id == id).ok_or_else(|| {
            let how = format!("names the device {id}, which is not in its list of devices");
            StoreError::refused(path, how, LEFT_ALONE)
        }),
        [] => {
            let hint = "write it with `--json FILE`, without `--list`, and on a GPU";
            Err(StoreError::refused(path, "has no results of a GPU", hint))
        }
        _ => {
            let how = format!("has results of {} devices", used.len());
            Err(StoreError::refused(
                path,
                how,
                "write one file for each, with NVBench's `--devices`",
            ))
        }
    }
}

fn run(version: &str, device: &Device, results: Vec<BenchmarkComplete>) -> StoredRun {
    let started = RunStarted {
        schema_version: SchemaVersion,
        run_id: String::new(),
        started_at: "unknown time".to_owned(),
        tool_version: format!("{TOOL}{version}"),
        seed_commitment: String::new(),
        revision: None,
        device: gpubench_contract::Device {
            uuids: Vec::new(),
            kind: DeviceKind::Cuda,
            name: device.name.clone(),
            multiprocessors: device.number_of_sms,
            // NVBench has 900 for 9.0, and records 90.
            capability: device.sm_version.map(|version| version / 10),
            l2_bytes: device.l2_cache_size,
            clock_tick_ns: None,
            peak_bandwidth: None,
            peak_flops: None,
            peak_arithmetic: None,
        },
        packages: Vec::new(),
        cases: results.len() as u64,
        environment: Environment::default(),
        repeat: None,
        grading: None,
        resumption: None,
    };
    let count = |verdict| results.iter().filter(|result| result.verdict == verdict).count() as u64;
    let finished = RunFinished {
        schema_version: SchemaVersion,
        run_id: String::new(),
        passed: count(Verdict::Pass),
        failed: 0,
        skipped: count(Verdict::Skipped),
        not_run: 0,
        seed: String::new(),
        end: RunEnd::Completed,
        wall_ns: 0,
    };
    StoredRun::new(started, results, Some(finished), None)
}

fn result(index: u64, benchmark: &Benchmark, state: &State, device: &Device) -> BenchmarkComplete {
    let values = state.axis_values.iter().flatten();
    let params = Params(
        values
            .map(|value| (axis(&value.name).to_owned(), param(value)))
            .collect(),
    );
    let case = match params.0.is_empty() {
        true => benchmark.name.clone(),
        false => format!("{}::{params}", benchmark.name),
    };
    let started = BenchmarkStarted {
        schema_version: SchemaVersion,
        run_id: String::new(),
        package: String::new(),
        benchmark: benchmark.name.clone(),
        params,
        case,
        mode: Mode::Cold,
        metric: Metric::time(),
        counters: Vec::new(),
        index,
    };
    let device = DeviceName {
        kind: DeviceKind::Cuda,
        name: device.name.clone(),
        uuid: None,
    };
    let unmeasured = BenchmarkComplete::unmeasured(&started, device, Verdict::Skipped);
    match stats(state) {
        Some(stats) => BenchmarkComplete {
            verdict: Verdict::Pass,
            samples: vec![stats.value],
            stats: Some(stats),
            ..unmeasured
        },
        None => BenchmarkComplete {
            message: Some(match (state.is_skipped, &state.skip_reason) {
                (true, Some(reason)) => reason.clone(),
                (true, None) => "NVBench skipped it".to_owned(),
                (false, _) => "NVBench has no cold time of the GPU for it".to_owned(),
            }),
            ..unmeasured
        },
    }
}

/// Returns the statistics in nanoseconds. NVBench has neither quartiles nor samples here.
fn stats(state: &State) -> Option<Stats> {
    let mean = state.number(MEAN).filter(|mean| *mean > 0.0 && !state.is_skipped)? * 1e9;
    let cv = state.number(RELATIVE_DEVIATION).filter(|cv| *cv >= 0.0);
    Some(Stats {
        n: state.number(SAMPLES).filter(|n| *n >= 1.0).map_or(1, |n| n as u64),
        value: mean,
        ci95: None,
        median: mean,
        mean,
        stddev: cv.map(|cv| cv * mean),
        cv,
        min: mean,
        max: mean,
        q1: mean,
        q3: mean,
    })
}

/// Returns the name of an axis without NVBench's flags: `T{ct}` is `T`.
fn axis(name: &str) -> &str {
    name.split('{').next().unwrap_or(name)
}

fn param(value: &NamedValue) -> ParamValue {
    let text = value.text();
    match &*value.kind {
        "int64" => text.parse().map_or(ParamValue::Text(text), ParamValue::Int),
        "float64" => text
            .parse()
            .map_or(ParamValue::Text(text), |number: f64| ParamValue::from(number)),
        _ => ParamValue::Text(text),
    }
}

/// The names of a candidate's case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseNames {
    /// Package.
    pub package: String,
    /// Module path and function.
    pub benchmark: String,
    /// Axis values.
    pub params: Params,
}

/// Gives each result of a file of NVBench the name of the only case that it fits, and the case its
/// axes. Returns what fits several cases, in words. Results of other tools stay as they are.
pub fn adopt_nvbench(baseline: &mut StoredRun, cases: impl IntoIterator<Item = CaseNames>) -> Vec<String> {
    if !is_of_nvbench(baseline) {
        return Vec::new();
    }
    // A case has several results if it is measured in several modes.
    let mut different: Vec<CaseNames> = Vec::new();
    for case in cases {
        if !different.contains(&case) {
            different.push(case);
        }
    }
    let mut ambiguous = Vec::new();
    let strangers = baseline.results.iter_mut().filter(|result| result.package.is_empty());
    for result in strangers {
        let fitting: Vec<&CaseNames> = different.iter().filter(|case| fits(result, case)).collect();
        match fitting[..] {
            [] => {}
            [only] => {
                result.package.clone_from(&only.package);
                result.benchmark.clone_from(&only.benchmark);
                result.params.clone_from(&only.params);
            }
            [first, second, ..] => ambiguous.push(format!(
                "NVBench's `{}` fits `{}::{}` and `{}::{}`, and is not compared",
                result.case, first.package, first.benchmark, second.package, second.benchmark
            )),
        }
    }
    ambiguous
}

fn fits(result: &BenchmarkComplete, case: &CaseNames) -> bool {
    let name = &result.benchmark;
    let is_named = case.benchmark == *name || case.benchmark.rsplit("::").next() == Some(name);
    let has = |(axis, value): &(String, ParamValue)| {
        let mut axes = case.params.0.iter();
        axes.any(|(other, its)| axis.eq_ignore_ascii_case(other) && is_same(value, its))
    };
    is_named && result.params.0.len() == case.params.0.len() && result.params.0.iter().all(has)
}

fn is_same(one: &ParamValue, other: &ParamValue) -> bool {
    match (one, other) {
        (ParamValue::Int(int), ParamValue::Float(float)) | (ParamValue::Float(float), ParamValue::Int(int)) => {
            *float == *int as f64
        }
        (ParamValue::Text(one), other) | (other, ParamValue::Text(one)) => *one == other.to_string(),
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests;
