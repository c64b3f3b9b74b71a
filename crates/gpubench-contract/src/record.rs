//! The machine contract: every record of a run.
//!
//! Fields are only ever added inside a schema version; a reader ignores what it does not know. A
//! field that a device cannot know is there and null.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::words::words;
use super::{
    BenchmarkHistory, Cause, Check, ComparisonComplete, Conservation, DeviceIdentity, DeviceKind, Environment, Grade,
    HostTime, Method, Metric, Params, Revision, SampleFlag, Stats, Stop, Throughput, Twin, Verdict, WindowCounts,
    WorkerShare,
};

/// One line of `--message-format json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Record {
    /// Once, before the first case.
    RunStarted(Box<RunStarted>),
    /// Before a case.
    BenchmarkStarted(BenchmarkStarted),
    /// After a case, also after one that was skipped or failed.
    BenchmarkComplete(Box<BenchmarkComplete>),
    /// After the last case, where results were compared.
    ComparisonComplete(Box<ComparisonComplete>),
    /// Once, after the last case.
    RunFinished(RunFinished),
    /// By `cargo gpubench history`, for each case and device.
    BenchmarkHistory(Box<BenchmarkHistory>),
    /// By `--list`, for each selected case; there are no other records then.
    BenchmarkListed(BenchmarkListed),
}

/// The version of the contract: a constant in every record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchemaVersion;

impl SchemaVersion {
    /// The number in the records.
    pub const NUMBER: u64 = 2;
}

/// A run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct RunStarted {
    /// Version of the contract.
    pub schema_version: SchemaVersion,
    /// Names the run; the same in all its records.
    pub run_id: String,
    /// When, as RFC 3339 in UTC.
    pub started_at: String,
    /// Version of this tool.
    pub tool_version: String,
    /// SHA-256 of the master seed in hexadecimal: shows afterwards that the seed was not chosen to
    /// fit.
    pub seed_commitment: String,
    /// The device the cases run on.
    pub device: Device,
    /// Packages with selected cases.
    pub packages: Vec<String>,
    /// Number of selected cases, those included that will be skipped.
    pub cases: u64,
    /// Surroundings at the start.
    pub environment: Environment,
    /// Runs that some of the results are of, where those are not this run's own: a stored run keeps
    /// what a later run of some of its benchmarks did not measure. Left out where there are none,
    /// as in every run that has just been measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_runs: Vec<EarlierRun>,
}

/// A run of which a stored run has kept results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct EarlierRun {
    /// Names the run; its results have the same.
    pub run_id: String,
    /// When it began, as RFC 3339 in UTC.
    pub started_at: String,
    /// Version of the tool.
    pub tool_version: String,
    /// SHA-256 of its master seed in hexadecimal.
    pub seed_commitment: String,
    /// The device its cases ran on.
    pub device: Device,
    /// Where the sources stood; null outside of a git repository.
    pub revision: Option<Revision>,
    /// Surroundings at its start.
    pub environment: Environment,
}

impl EarlierRun {
    /// What must be equal for times to be of the same device.
    pub fn identity(&self) -> DeviceIdentity {
        DeviceIdentity::in_environment(&self.device, &self.environment)
    }
}

/// A device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Device {
    /// Kind.
    pub kind: DeviceKind,
    /// Name for people.
    pub name: String,
    /// Multiprocessors; on the CPU device its worker threads.
    pub multiprocessors: Option<u64>,
    /// Compute capability, `major * 10 + minor`.
    pub capability: Option<u64>,
    /// Last-level cache in bytes.
    pub l2_bytes: Option<u64>,
    /// Step of the device's clock in nanoseconds.
    pub clock_tick_ns: Option<f64>,
    /// Peak memory bandwidth in bytes per second.
    pub peak_bandwidth: Option<f64>,
    /// Peak arithmetic rate in floating-point operations per second, of single precision outside of
    /// tensor cores.
    pub peak_flops: Option<f64>,
}

/// The device of a result; the rest of it is in the run's first record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct DeviceName {
    /// Kind.
    pub kind: DeviceKind,
    /// Name for people.
    pub name: String,
}

impl Device {
    /// What a result says of the device.
    pub fn short(&self) -> DeviceName {
        DeviceName {
            kind: self.kind,
            name: self.name.clone(),
        }
    }
}

/// A case begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct BenchmarkStarted {
    /// Version of the contract.
    pub schema_version: SchemaVersion,
    /// Names the run.
    pub run_id: String,
    /// Package of the benchmark.
    pub package: String,
    /// Module path and function: `image::grayscale`.
    pub benchmark: String,
    /// Axis values.
    pub params: Params,
    /// The name that `--exact` accepts: `image::grayscale::width=1024,height=1024`.
    pub case: String,
    /// Position among the run's cases, from 0.
    pub index: u64,
}

/// A case that a run would have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct BenchmarkListed {
    /// Version of the contract.
    pub schema_version: SchemaVersion,
    /// Package of the benchmark.
    pub package: String,
    /// Module path and function: `image::grayscale`.
    pub benchmark: String,
    /// Axis values.
    pub params: Params,
    /// The name that `--exact` accepts: `image::grayscale::width=1024,height=1024`.
    pub case: String,
    /// Position among the selected cases, from 0.
    pub index: u64,
    /// Why it would be skipped on this device: `needs a CUDA device`; null where it would run, or
    /// where only the benchmark itself knows by its axes.
    pub skipped: Option<String>,
}

/// A case has its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct BenchmarkComplete {
    /// Version of the contract.
    pub schema_version: SchemaVersion,
    /// Names the run.
    pub run_id: String,
    /// Package of the benchmark.
    pub package: String,
    /// Module path and function: `image::grayscale`.
    pub benchmark: String,
    /// Axis values.
    pub params: Params,
    /// The name that `--exact` accepts.
    pub case: String,
    /// Position among the run's cases, from 0.
    pub index: u64,
    /// The problem it solves, equal for implementations that compete.
    pub problem: Option<String>,
    /// How it ended.
    pub verdict: Verdict,
    /// Why, where it did not pass.
    pub cause: Option<Cause>,
    /// What happened and where, for people; null where it passed.
    pub message: Option<String>,
    /// How far its times can be trusted; null where there are none.
    pub grade: Option<Grade>,
    /// Why not further, where the grade is `advisory`; null where it is not.
    pub grade_reason: Option<String>,
    /// Whose code ran in the worker; null where the case did not come to a worker.
    pub execution: Option<Execution>,
    /// How each call was measured.
    pub mode: Method,
    /// The device.
    pub device: DeviceName,
    /// What the samples are samples of.
    pub metric: Metric,
    /// Every sample in the order taken, all finite and in the unit of the metric; also of a case
    /// that failed, up to the failure.
    pub samples: Vec<f64>,
    /// The fresh workers that the samples come from, in the order of the samples.
    pub workers: Vec<WorkerShare>,
    /// Samples that something disturbed.
    pub sample_flags: Vec<SampleFlag>,
    /// What the samples say; null where there are none.
    pub stats: Option<Stats>,
    /// Host time of queueing the call.
    pub host_ns: Option<HostTime>,
    /// Median time between two events with nothing between them, of several workers the median of
    /// theirs; never subtracted from a sample.
    pub event_overhead_ns: Option<f64>,
    /// Why sampling stopped, of several workers the reason of the one that came the least far; null
    /// where it did not come to its end.
    pub stop: Option<Stop>,
    /// Declared work over the time.
    pub throughput: Throughput,
    /// What was found in each output.
    pub checks: Vec<Check>,
    /// Number of windows of the workers under test, of every kind; those of the control worker are not
    /// among them.
    pub windows: u64,
    /// Windows by kind.
    pub window_counts: WindowCounts,
    /// Number of different inputs, by a digest of their contents: one for every call, unless the
    /// case has no inputs or its generator repeats itself.
    pub distinct_inputs: u64,
    /// The worker's claims beside the referee's clock; null where nothing was timed.
    pub conservation: Option<Conservation>,
    /// How fast the machine was meanwhile; null where nothing was timed, and left out by versions
    /// of the tool that did not look.
    #[serde(default)]
    pub twin: Option<Twin>,
    /// What a reader of the figures should know and no verdict says.
    pub notices: Vec<String>,
    /// Surroundings of the case.
    pub environment: Environment,
    /// Wall time from the first step of the case to its verdict.
    pub wall_ns: u64,
}

impl BenchmarkComplete {
    /// The case's name across packages, the same whatever else was selected:
    /// `suite::image::grayscale::width=1024,height=1024`.
    pub fn full_name(&self) -> String {
        let name = format!("{}::{}", self.package, self.benchmark);
        match self.params.0.is_empty() {
            true => name,
            false => format!("{name}::{}", self.params),
        }
    }

    /// The samples of each worker. A result whose workers' shares do not add up is that of one.
    pub fn samples_by_worker(&self) -> Vec<&[f64]> {
        let shares = self.workers.iter().map(|share| share.samples);
        split_by_worker(&self.samples, shares).unwrap_or_else(|| vec![&self.samples])
    }

    /// A result without any measurement, to be filled in: of a case that was skipped or ended
    /// before its first window.
    pub fn unmeasured(started: &BenchmarkStarted, device: DeviceName, verdict: Verdict) -> BenchmarkComplete {
        BenchmarkComplete {
            schema_version: SchemaVersion,
            run_id: started.run_id.clone(),
            package: started.package.clone(),
            benchmark: started.benchmark.clone(),
            params: started.params.clone(),
            case: started.case.clone(),
            index: started.index,
            problem: None,
            verdict,
            cause: None,
            message: None,
            grade: None,
            grade_reason: None,
            execution: None,
            mode: Method::Cold,
            device,
            metric: Metric::time(),
            samples: Vec::new(),
            workers: Vec::new(),
            sample_flags: Vec::new(),
            stats: None,
            host_ns: None,
            event_overhead_ns: None,
            stop: None,
            throughput: Throughput::default(),
            checks: Vec::new(),
            windows: 0,
            window_counts: WindowCounts::default(),
            distinct_inputs: 0,
            conservation: None,
            twin: None,
            notices: Vec::new(),
            environment: Environment::default(),
            wall_ns: 0,
        }
    }
}

/// The samples of each worker: `shares` says how many each has, in order. `None` where the shares
/// do not add up.
pub fn split_by_worker(samples: &[f64], shares: impl IntoIterator<Item = u64>) -> Option<Vec<&[f64]>> {
    let mut left = samples;
    let shares = shares.into_iter().map(|share| {
        let (own, others) = left.split_at_checked(usize::try_from(share).ok()?)?;
        left = others;
        Some(own)
    });
    let shares: Vec<&[f64]> = shares.collect::<Option<_>>()?;
    left.is_empty().then_some(shares)
}

words! {
    /// Whose code ran in the worker.
    pub enum Execution {
        /// The tool's, which replayed a launch plan.
        Sealed = "sealed",
        /// The user's host code.
        Hosted = "hosted",
    }
}

/// A run has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct RunFinished {
    /// Version of the contract.
    pub schema_version: SchemaVersion,
    /// Names the run.
    pub run_id: String,
    /// Cases that passed.
    pub passed: u64,
    /// Cases that failed.
    pub failed: u64,
    /// Cases that were skipped.
    pub skipped: u64,
    /// Selected cases that were not run: the run ended before.
    pub not_run: u64,
    /// The master seed in hexadecimal, of which the run's first record published the hash: `--seed`
    /// repeats the run's inputs.
    pub seed: String,
    /// How the run ended.
    pub end: RunEnd,
    /// Wall time since the run began.
    pub wall_ns: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// Every selected case has a verdict.
    Completed,
    /// The first failure ended it, as `--fail-fast` asks.
    FailedFast,
    /// A signal ended it.
    Interrupted,
}

impl Serialize for SchemaVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(SchemaVersion::NUMBER)
    }
}

impl<'de> Deserialize<'de> for SchemaVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SchemaVersion, D::Error> {
        match u64::deserialize(deserializer)? {
            SchemaVersion::NUMBER => Ok(SchemaVersion),
            other => Err(serde::de::Error::custom(format_args!(
                "schema version {other} is not {}",
                SchemaVersion::NUMBER
            ))),
        }
    }
}

#[cfg(any(test, feature = "schema"))]
impl schemars::JsonSchema for SchemaVersion {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SchemaVersion".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "const": SchemaVersion::NUMBER })
    }
}
