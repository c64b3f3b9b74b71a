//! The records of a run.
//!
//! Within a schema version, fields are only added, so a reader must ignore unknown fields. A field
//! whose value is not known on a device is present and null.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::words::words;
use super::{
    ArithmeticPeaks, BenchmarkHistory, Budget, CacheState, CallAudit, Cause, Check, ComparisonComplete, Conservation,
    ContestComplete, ContestShare, Counts, DeviceKind, DeviceMatrix, DeviceWork, EarlierRun, Environment,
    FailedAlternating, Grade, Grading, HostTime, KernelUse, MeasuredReference, Metric, Mode, Params, PartTimes,
    ProbeFinished, ProbeSample, ProbeStarted, ProblemComplete, Reading, Revision, SampleFlag, SanitizerReport, Sharing,
    Stats, StepTimes, Stop, SubmissionFacts, Throughput, Twin, Verdict, WindowCounts, WorkerShare,
};

/// One line of `--message-format json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Record {
    /// The start of a run. Printed once, before the first case.
    RunStarted(Box<RunStarted>),
    /// The start of a case in one of its modes. Printed before each result.
    BenchmarkStarted(BenchmarkStarted),
    /// The result of a case in one of its modes. Printed after each, including skipped and failed
    /// ones.
    BenchmarkComplete(Box<BenchmarkComplete>),
    /// The ranking of a contest. Printed after the last case, with `--contest`.
    ContestComplete(Box<ContestComplete>),
    /// What the cases of a submission say together. Printed by `cargo gpubench grade` after the
    /// last case, for each submission.
    ProblemComplete(Box<ProblemComplete>),
    /// A comparison. Printed after the last case, if results were compared.
    ComparisonComplete(Box<ComparisonComplete>),
    /// The results of several devices. Printed by `cargo gpubench compare` after the comparisons,
    /// if the runs have several.
    DeviceMatrix(Box<DeviceMatrix>),
    /// The end of a run. Printed once, after the last case.
    RunFinished(RunFinished),
    /// The history of a case on a device. Printed by `cargo gpubench history`.
    BenchmarkHistory(Box<BenchmarkHistory>),
    /// A selected case. Printed by `--list`, without any other records.
    BenchmarkListed(BenchmarkListed),
    /// The start of an observation. Printed by `cargo gpubench probe`, before any sample.
    ProbeStarted(Box<ProbeStarted>),
    /// What was seen until now. Printed by `cargo gpubench probe` at each interval.
    ProbeSample(Box<ProbeSample>),
    /// The end of an observation. Printed by `cargo gpubench probe`, once.
    ProbeFinished(Box<ProbeFinished>),
}

/// Version of the schema, the same constant in every record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchemaVersion;

impl SchemaVersion {
    /// The number in the records.
    pub const NUMBER: u64 = 2;
}

/// The start of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct RunStarted {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// ID of the run, the same in all of its records.
    pub run_id: String,
    /// Start of the run, as RFC 3339 in UTC. Of a run of several parts, the earliest of their
    /// starts.
    pub started_at: String,
    /// Version of the tool.
    pub tool_version: String,
    /// SHA-256 of the text `gpubench seed commitment`, followed by the 32 bytes of the master seed,
    /// in hexadecimal. It proves later that the seed was not changed after the run began. Empty for
    /// a run of several parts with different seeds.
    pub seed_commitment: String,
    /// Revision of the sources, or of those of the archive. Null outside of a git repository.
    #[serde(default)]
    pub revision: Option<Revision>,
    /// The device that runs the cases.
    pub device: Device,
    /// Packages with selected cases.
    pub packages: Vec<String>,
    /// Number of results that the run will have: one for each selected case and mode, including
    /// those that will be skipped.
    pub cases: u64,
    /// Environment at the start.
    pub environment: Environment,
    /// How to run its cases again. Missing in records of older versions of the tool, and for a run
    /// of several parts with different options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<RepeatedCommand>,
    /// What decides the verdicts of submissions besides themselves. Missing if it grades none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grading: Option<Box<Grading>>,
    /// What decides the results of a run with `--resume`. Missing in other runs, and if it grades
    /// submissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumption: Option<Box<Resumption>>,
}

/// What decides the results of a run besides its device and the version of the tool. A run that
/// agrees in it can take over results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Resumption {
    /// SHA-256 of the libraries with the benchmarks, and of those that benchmarks name.
    pub code_sha256: String,
    /// SHA-256 of the settings that its results depend on. It belongs to the tool's version.
    pub settings_sha256: String,
    /// Earlier runs whose results it took over, oldest first. Missing without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<EarlierRun>,
}

/// The command of a run, without the parts that depend on the case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct RepeatedCommand {
    /// How the tool was started. A record cannot name another program to run.
    pub program: Program,
    /// Options to repeat, word by word.
    pub options: Vec<String>,
    /// Axes with values from the command line.
    pub overridden_axes: Vec<String>,
}

words! {
    /// How the tool is started.
    pub enum Program {
        /// As a subcommand of cargo.
        Cargo = "cargo gpubench",
        /// By itself, where there is no cargo.
        Executable = "cargo-gpubench gpubench",
    }
}

impl Default for RepeatedCommand {
    fn default() -> RepeatedCommand {
        RepeatedCommand {
            program: Program::Cargo,
            options: Vec::new(),
            overridden_axes: Vec::new(),
        }
    }
}

/// A device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Device {
    /// Kind of the device.
    pub kind: DeviceKind,
    /// Name of the device, for people.
    pub name: String,
    /// Number of multiprocessors. On the CPU device, the number of threads.
    pub multiprocessors: Option<u64>,
    /// Compute capability, `major * 10 + minor`.
    pub capability: Option<u64>,
    /// Size of the last-level cache, in bytes.
    pub l2_bytes: Option<u64>,
    /// Step of the device's clock, in nanoseconds.
    pub clock_tick_ns: Option<f64>,
    /// Peak memory bandwidth, in bytes per second.
    pub peak_bandwidth: Option<f64>,
    /// Peak rate of single-precision arithmetic without tensor cores, in floating-point operations
    /// per second.
    pub peak_flops: Option<f64>,
    /// Peak arithmetic rates by type of the operands. Missing if none is known, and in records of
    /// older versions of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_arithmetic: Option<ArithmeticPeaks>,
    /// UUIDs of the GPUs that share the cases, as `nvidia-smi -L` shows them. All are of this kind.
    /// Missing on the CPU device, and in records of older versions of the tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uuids: Vec<String>,
}

/// The device of a result. The first record of the run has its details.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct DeviceName {
    /// Kind of the device.
    pub kind: DeviceKind,
    /// Name of the device, for people.
    pub name: String,
    /// UUID of the GPU that measured the case. Missing on the CPU device, if several GPUs shared
    /// the cases and none measured this one, and in records of older versions of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
}

impl Device {
    /// Returns how people call it: `NVIDIA H200`, or `2 × NVIDIA H200` if several share the cases.
    pub fn title(&self) -> String {
        match self.uuids.len() {
            0 | 1 => self.name.clone(),
            several => format!("{several} × {}", self.name),
        }
    }

    /// Whether another device has the same name and the same abilities, so that only the runs and
    /// not the devices are compared.
    pub fn is_model_of(&self, other: &Device) -> bool {
        let model = |device: &Device| {
            (
                device.kind,
                device.name.clone(),
                device.multiprocessors,
                device.capability,
            )
        };
        model(self) == model(other)
    }

    /// Returns the part of the device that results carry.
    pub fn short(&self) -> DeviceName {
        DeviceName {
            kind: self.kind,
            name: self.name.clone(),
            uuid: match &self.uuids[..] {
                [only] => Some(only.clone()),
                _ => None,
            },
        }
    }
}

/// The start of a case in one of its modes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct BenchmarkStarted {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// ID of the run.
    pub run_id: String,
    /// Package of the benchmark.
    pub package: String,
    /// Module path and function: `image::grayscale`.
    pub benchmark: String,
    /// Axis values.
    pub params: Params,
    /// The name that `--exact` accepts: `image::grayscale::width=1024,height=1024`.
    pub case: String,
    /// How each call will be measured. A case with several modes starts once for each. Missing in
    /// records of older versions of the tool.
    #[serde(default = "Reading::first_mode")]
    pub mode: Mode,
    /// What the samples will measure. Missing in records of older versions of the tool.
    #[serde(default = "Metric::time")]
    pub metric: Metric,
    /// Names of its counters, in order. Missing without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<String>,
    /// Position of the result in the run, from 0.
    pub index: u64,
}

/// A case that a run would include.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct BenchmarkListed {
    /// Version of the schema.
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
    /// Why the case would be skipped on this device: `needs a CUDA device`. Null if it would run,
    /// or if only the benchmark function can tell.
    pub skipped: Option<String>,
}

/// The result of a case in one of its modes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct BenchmarkComplete {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// ID of the run.
    pub run_id: String,
    /// Package of the benchmark.
    pub package: String,
    /// Module path and function: `image::grayscale`.
    pub benchmark: String,
    /// Axis values.
    pub params: Params,
    /// The name that `--exact` accepts.
    pub case: String,
    /// Position of the result in the run, from 0.
    pub index: u64,
    /// The problem that the benchmark solves. The benchmarks of one problem are ranked.
    pub problem: Option<String>,
    /// Names of the axes that the benchmark adds to those of its problem, such as a block size.
    /// Their values compete. Missing without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_axes: Vec<String>,
    /// The contest that it was measured in. Missing without `--contest`, and if the case has no
    /// rival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contest: Option<ContestShare>,
    /// The submission that it is a result of. Missing for a crate's own benchmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<SubmissionFacts>,
    /// The reference of its problem, which alternated with it. Missing without `--over reference`,
    /// and if one of both has no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<MeasuredReference>,
    /// ID of the earlier run that it is a result of, if `--resume` took it over. Missing otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_from: Option<String>,
    /// How the case ended.
    pub verdict: Verdict,
    /// Why the case did not pass. Null if it passed.
    pub cause: Option<Cause>,
    /// What went wrong and where, for people. Null if the case passed.
    pub message: Option<String>,
    /// How the case failed when it alternated with others, if it passed when it was measured again
    /// alone. It is then neither ranked nor compared. Missing otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_alternating: Option<FailedAlternating>,
    /// How far the times can be trusted. Null if there are none.
    pub grade: Option<Grade>,
    /// Why the grade is only `unverified`. Null for other grades.
    pub grade_reason: Option<String>,
    /// Whose code ran in the worker. Null if the case never reached a worker.
    pub execution: Option<Execution>,
    /// SHA-256 digest of the library with the host code, if the benchmark has one of its own.
    /// Missing if its host code is in the crate's library, for launch plans, and if the case was
    /// not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_library_sha256: Option<String>,
    /// How each call was measured.
    pub mode: Mode,
    /// What each call found in the cache. Null for a case that was not measured.
    #[serde(default)]
    pub cache: Option<CacheState>,
    /// The device.
    pub device: DeviceName,
    /// What the samples measure.
    pub metric: Metric,
    /// Number of calls that a sample is the mean of, each with its own tensors: 1 in the modes
    /// `cold` and `warm`.
    #[serde(default = "one_call")]
    pub calls_per_sample: u64,
    /// All samples in the order of measurement, finite and in the unit of the metric. A failed case
    /// has the samples from before the failure.
    pub samples: Vec<f64>,
    /// The workers that took the samples, in the order of the samples.
    pub workers: Vec<WorkerShare>,
    /// Disturbances during samples.
    pub sample_flags: Vec<SampleFlag>,
    /// Statistics of the samples. Null if there are none.
    pub stats: Option<Stats>,
    /// Host time for queueing the call. Null if it was not measured.
    pub host_ns: Option<HostTime>,
    /// Times of calls that are made alone, prepared as in this mode. Null if a sample has one call.
    #[serde(default)]
    pub single_calls: Option<PartTimes>,
    /// What the calls of a sample save by being together. Null if a sample has one call, or if no
    /// clock checks the times.
    #[serde(default)]
    pub sharing: Option<Sharing>,
    /// Times of the steps of the launch plan one by one, in order. Empty for a plan with a single
    /// step, for hosted benchmarks and for graphs.
    #[serde(default)]
    pub steps: Vec<StepTimes>,
    /// Median time between two consecutive timing events with no work between them, in nanoseconds.
    /// With several workers, the median of their medians. It is never subtracted from a sample.
    pub event_overhead_ns: Option<f64>,
    /// Wall time of a call that does nothing, in nanoseconds: the part of a `hosted-sync` time that
    /// is the tool's. The median of nine windows after the last worker has ended. It is never
    /// subtracted from a sample. Null for calls that two events time, and if it was not measured.
    #[serde(default)]
    pub empty_call_ns: Option<f64>,
    /// Wall time of a call that may wait for the device, in nanoseconds, by the clock of another
    /// process, if the device timed the samples. The median of three calls of each worker that
    /// nothing held. Null for all other calls.
    #[serde(default)]
    pub call_wall_ns: Option<f64>,
    /// What the device did in a call that may wait for it. Null for other calls, and where CUPTI
    /// was not found or could not be used.
    #[serde(default)]
    pub device_work: Option<DeviceWork>,
    /// What a call asks of the CUDA driver. Null without `--audit`, and if the calls could not be
    /// audited.
    #[serde(default)]
    pub audit: Option<CallAudit>,
    /// Energy of a call in joules, from the GPU's counter over many calls back to back on the same
    /// tensors. The power of an idle GPU is part of it. Null if it was not asked for with
    /// `--metric energy`, or could not be measured.
    #[serde(default)]
    pub energy_per_call_j: Option<f64>,
    /// The part of `energy_per_call_j` that other work may have used: the counter also covers the
    /// time before the first call and after the last one, until it moves.
    #[serde(default)]
    pub energy_resolution_j: Option<f64>,
    /// The time budgets, the time of the warm-up, and rests of the device. Missing if nothing was
    /// timed, and in records of older versions of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Why sampling stopped. With several workers, the least conclusive of their reasons. Null if
    /// sampling did not finish.
    pub stop: Option<Stop>,
    /// Rates, computed from the declared work and the time.
    pub throughput: Throughput,
    /// The result of checking each output.
    pub checks: Vec<Check>,
    /// Number of windows, without control windows.
    pub windows: u64,
    /// Number of windows of each kind.
    pub window_counts: WindowCounts,
    /// Number of distinct inputs, by digest. It equals the number of calls, unless the case has no
    /// inputs, its generator repeats itself, or several workers get the same inputs.
    pub distinct_inputs: u64,
    /// The worker's claims compared with the referee's clock. Null if nothing was timed.
    pub conservation: Option<Conservation>,
    /// The time of the twin during the case. Null if nothing was timed. Missing in records of older
    /// versions of the tool.
    #[serde(default)]
    pub twin: Option<Twin>,
    /// The kernels that a call launches, in the order of their first launches. Null for a hosted
    /// benchmark, whose launches are not known, and if the case was not measured. Missing in
    /// records of older versions of the tool.
    #[serde(default)]
    pub kernels: Option<Vec<KernelUse>>,
    /// What the kernels did in one call. Null if nothing was counted. Missing in records of older
    /// versions of the tool.
    #[serde(default)]
    pub counts: Option<Counts>,
    /// What compute-sanitizer found. Missing unless `--sanitize` was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sanitizer: Option<SanitizerReport>,
    /// What the judge decided from: the facts of the referee and the claim of the worker about each
    /// window, the tensors, and what else counts. Its form belongs to the tool's version. Missing
    /// unless `--evidence` was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<serde_json::Value>,
    /// Remarks about the result that the verdict does not express.
    pub notices: Vec<String>,
    /// Environment of the case.
    pub environment: Environment,
    /// Wall time from the start of the case to its verdict, in nanoseconds.
    pub wall_ns: u64,
}

/// The number of calls in a sample of a record from before graphs.
fn one_call() -> u64 {
    1
}

impl BenchmarkComplete {
    /// Returns the record that announced the result.
    pub fn announcement(&self) -> BenchmarkStarted {
        BenchmarkStarted {
            schema_version: self.schema_version,
            run_id: self.run_id.clone(),
            package: self.package.clone(),
            benchmark: self.benchmark.clone(),
            params: self.params.clone(),
            case: self.case.clone(),
            mode: self.mode,
            metric: self.metric.clone(),
            counters: self.throughput.counter_names(),
            index: self.index,
        }
    }

    /// Returns the name of the case with its package, independent of what else was selected:
    /// `suite::image::grayscale::width=1024,height=1024`.
    pub fn full_name(&self) -> String {
        let name = format!("{}::{}", self.package, self.benchmark);
        if self.params.0.is_empty() {
            name
        } else {
            format!("{name}::{}", self.params)
        }
    }

    /// Returns the samples of each worker. If the counts in `workers` do not add up, all samples
    /// count as those of one worker.
    pub fn samples_by_worker(&self) -> Vec<&[f64]> {
        let shares = self.workers.iter().map(|share| share.samples);
        split_by_worker(&self.samples, shares).unwrap_or_else(|| vec![&self.samples])
    }

    /// Whether it is the result of a hidden case, which has only a verdict.
    pub fn is_hidden(&self) -> bool {
        let submission = self.submission.as_ref();
        submission.is_some_and(|submission| submission.hidden_case.is_some())
    }

    /// Returns a result without measurements, for a case that was skipped or ended before its first
    /// window.
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
            own_axes: Vec::new(),
            contest: None,
            submission: None,
            reference: None,
            resumed_from: None,
            verdict,
            cause: None,
            message: None,
            failed_alternating: None,
            grade: None,
            grade_reason: None,
            execution: None,
            own_library_sha256: None,
            mode: started.mode,
            device,
            metric: started.metric.clone(),
            cache: None,
            calls_per_sample: one_call(),
            samples: Vec::new(),
            workers: Vec::new(),
            sample_flags: Vec::new(),
            stats: None,
            host_ns: None,
            single_calls: None,
            sharing: None,
            steps: Vec::new(),
            event_overhead_ns: None,
            empty_call_ns: None,
            call_wall_ns: None,
            device_work: None,
            audit: None,
            energy_per_call_j: None,
            energy_resolution_j: None,
            stop: None,
            throughput: Throughput::default(),
            checks: Vec::new(),
            windows: 0,
            window_counts: WindowCounts::default(),
            distinct_inputs: 0,
            conservation: None,
            budget: None,
            twin: None,
            kernels: None,
            counts: None,
            sanitizer: None,
            evidence: None,
            notices: Vec::new(),
            environment: Environment::default(),
            wall_ns: 0,
        }
    }
}

/// Splits the samples by worker; `shares` has the number of samples of each worker, in order.
/// `None` if the shares do not add up.
fn split_by_worker(samples: &[f64], shares: impl IntoIterator<Item = u64>) -> Option<Vec<&[f64]>> {
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
        /// The tool's own code, which replayed a plan.
        Sealed = "sealed",
        /// The user's host code, whose calls a stream of the tool held. The device timed them.
        Hosted = "hosted",
        /// The user's host code, whose calls may wait for the device (`hosted(sync)`) and could not
        /// be held. Their time is the wall time of the host.
        HostedSync = "hosted-sync",
    }
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct RunFinished {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// ID of the run.
    pub run_id: String,
    /// Number of results that passed.
    pub passed: u64,
    /// Number of results that failed.
    pub failed: u64,
    /// Number of results that were skipped.
    pub skipped: u64,
    /// Number of results that are missing because the run ended early.
    pub not_run: u64,
    /// The master seed, in hexadecimal and without leading zeros: fill it up to 64 digits for the
    /// hash that `seed_commitment` in the first record is. `--seed` with this seed repeats the
    /// run's inputs. Empty for a run of several parts with different seeds.
    pub seed: String,
    /// How the run ended.
    pub end: RunEnd,
    /// Wall time of the run, in nanoseconds. Of a run of several parts, the sum of theirs.
    pub wall_ns: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// Every selected case has a verdict.
    Completed,
    /// The run stopped at the first failure, because of `--fail-fast`.
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
