//! The parts of a result: statistics, throughput, checks, conservation of time and surroundings.
//!
//! Samples and what is made of them are in the unit of the result's metric. A field in `_ns` is a
//! time in nanoseconds whatever the metric is: of the host, or of the clocks that claims are
//! checked by. A value that is not known or not defined is `None`, `null` in JSON; no number stands
//! for "unknown".

use bytemuck::{CheckedBitPattern, NoUninit};
use gpubench::catalog::Tolerance;
use serde::{Deserialize, Serialize};

use super::words::words;
use super::{ElementValue, GpuEnvironment, StopReason};

/// What the samples say, in the unit of the metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Stats {
    /// Number of samples.
    pub n: u64,
    /// The one figure that every table, ranking, comparison and history shows: the trimmed mean
    /// over the fresh workers of the interquartile mean of each one's samples. The lowest and the
    /// highest tenth of the workers are left out, one at least; of fewer than five none.
    pub value: f64,
    /// Bounds of the 95 % interval of `value`, as wide as the workers differ; of one worker as wide
    /// as its samples do.
    pub ci95: [f64; 2],
    /// Median of all samples.
    pub median: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation with n - 1 in the denominator; null for a single sample.
    pub stddev: Option<f64>,
    /// Coefficient of variation, `stddev / mean`; null for a single sample and where the mean is
    /// zero.
    pub cv: Option<f64>,
    /// Smallest sample.
    pub min: f64,
    /// Largest sample.
    pub max: f64,
    /// First quartile, interpolated linearly.
    pub q1: f64,
    /// Third quartile, interpolated linearly.
    pub q3: f64,
}

impl Stats {
    /// The distance from `value` to the ends of its interval, relative to it; `None` where that is
    /// no number.
    pub fn relative_interval(&self) -> Option<f64> {
        let [low, high] = self.ci95;
        let relative = (high - low) / 2.0 / self.value.abs();
        relative.is_finite().then_some(relative)
    }
}

/// Why sampling stopped, and what it aimed for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Stop {
    /// Why sampling stopped.
    pub reason: StopReason,
    /// The coefficient of variation aimed for.
    pub target_cv: f64,
}

/// Time the host spent on queueing a call: a time whatever the metric is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct HostTime {
    /// Median over the samples.
    pub median_ns: f64,
    /// Smallest.
    pub min_ns: f64,
    /// Largest.
    pub max_ns: f64,
}

/// One fresh worker's part of the samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct WorkerShare {
    /// How many of `samples` are its own: the next ones after those of the workers before it.
    pub samples: u64,
    /// Interquartile mean of its samples: the mean of those between their quartiles; null where it
    /// has none.
    pub value: Option<f64>,
}

/// A sample that something disturbed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct SampleFlag {
    /// Position in `samples`.
    pub sample: u64,
    /// What happened.
    pub flag: SampleFlagKind,
    /// Why, in the device's words: the reasons for throttling. Empty where it gives none.
    pub reasons: Vec<String>,
}

/// What can disturb a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SampleFlagKind {
    /// The device reported that it throttled.
    Throttled,
    /// The device's clock changed.
    ClockChanged,
    /// The host took the processor away from a thread of the CPU device.
    Preempted,
}

/// What the case achieves in its time, by the work its author declared; nothing where the metric is
/// no time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Throughput {
    /// Declared bytes per second.
    pub bytes_per_s: Option<f64>,
    /// Declared floating-point operations per second.
    pub flops_per_s: Option<f64>,
    /// Share of the device's peak memory bandwidth.
    pub of_peak_bandwidth: Option<f64>,
    /// Share of the device's peak arithmetic rate for the type of the inputs, on tensor cores where
    /// it has them; null where the inputs are of several types, or the peak is not known. Single
    /// precision that is faster than that is held against TF32.
    pub of_peak_flops: Option<f64>,
}

/// The highest rates a device can reach, where they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Peaks {
    /// Memory bandwidth in bytes per second.
    pub bandwidth: Option<f64>,
    /// Floating-point operations per second, of the type of the inputs.
    pub flops: Option<f64>,
}

impl Throughput {
    /// What declared work means in a time of so many nanoseconds; nothing where it is not above
    /// zero.
    pub fn of(work: gpubench::catalog::Work, time_ns: f64, peaks: Peaks) -> Throughput {
        let rate = |amount: Option<u64>| {
            let rate = amount? as f64 / (time_ns * 1e-9);
            (time_ns > 0.0 && rate.is_finite()).then_some(rate)
        };
        let share = |rate: Option<f64>, peak: Option<f64>| {
            let share = rate? / peak?;
            share.is_finite().then_some(share)
        };
        let bytes_per_s = rate(work.bytes);
        let flops_per_s = rate(work.flops);
        Throughput {
            bytes_per_s,
            flops_per_s,
            of_peak_bandwidth: share(bytes_per_s, peaks.bandwidth),
            of_peak_flops: share(flops_per_s, peaks.flops),
        }
    }
}

/// What was found in one output: of the window that failed, or the worst over all windows where
/// none did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Check {
    /// Name of the output.
    pub output: String,
    /// Elements compared: all of them.
    pub elements: u64,
    /// Elements within the tolerance.
    pub matched: u64,
    /// The tolerance, which is the crate's own word; null where it is not known.
    pub tolerance: Option<AllowedError>,
    /// Whether what was expected of each call's predecessor would have passed in its place, so that
    /// the check cannot tell old answers from new ones; null where it was asked of too few calls.
    pub old_answers_pass: Option<bool>,
    /// Largest absolute error over elements that are finite on both sides; 0 where there are none.
    pub max_abs_error: Option<f64>,
    /// Largest relative error over those of them for which another number than zero is expected; 0
    /// where there are none.
    pub max_rel_error: Option<f64>,
    /// Flat index of the element with the largest absolute error, which one that is not finite and
    /// not right has; null where every element is equal.
    pub worst_index: Option<u64>,
    /// Extents of the output, outermost first.
    pub shape: Vec<u64>,
    /// The first element beyond the tolerance; null where there is none.
    pub first_wrong: Option<WrongElement>,
}

/// How far an element may be off: `|got - expected| <= atol + rtol * |expected|`. Both are zero
/// where it must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct AllowedError {
    /// In parts of the expected number.
    pub rtol: f64,
    /// Beside that.
    pub atol: f64,
}

impl From<Tolerance> for AllowedError {
    fn from(tolerance: Tolerance) -> AllowedError {
        let (rtol, atol) = match tolerance {
            Tolerance::Exact => (0.0, 0.0),
            Tolerance::Close { rtol, atol } => (rtol, atol),
        };
        AllowedError { rtol, atol }
    }
}

/// An element that is not what it should be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct WrongElement {
    /// Flat index.
    pub index: u64,
    /// What the reference says.
    pub expected: ElementValue,
    /// What the kernel left there.
    pub got: ElementValue,
}

/// How many windows of each kind were run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct WindowCounts {
    /// Timed, checked and left out of the samples.
    pub warm_up: u64,
    /// Timed and checked: the samples.
    pub timed: u64,
    /// With the check launched right behind the call.
    pub early_check: u64,
    /// Of the control worker, interleaved with the sampled ones and behind the worker's end; not among
    /// the case's `windows`.
    pub control: u64,
}

impl WindowCounts {
    /// All windows of the worker under test.
    pub fn total(self) -> u64 {
        self.warm_up + self.timed + self.early_check
    }
}

/// The worker's claimed times beside the referee's clock, as means over the windows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Conservation {
    /// What the worker claims.
    pub claimed_ns: f64,
    /// What the referee's clock saw, the tool's own part of the windows included.
    pub observed_ns: f64,
    /// The tool's own part, as the referee's clock saw it in control windows, in which its own twin of
    /// the call runs; null where there were none.
    pub control_ns: Option<f64>,
    /// The reported figure, made of what passed for the referee in each window beyond the tool's
    /// own part. Null where the clock bounds nothing.
    pub verified_ns: Option<f64>,
    /// By how much `verified_ns` is longer than the same figure of the claims; null where the clock
    /// bounds nothing.
    pub excess_ns: Option<f64>,
    /// The most that `excess_ns` can be for an honest worker; null where the clock bounds nothing.
    pub bound_ns: Option<f64>,
    /// What `samples` hold beyond the claims: host code's count only as far as the referee's clock
    /// confirms them. 0 for a sealed benchmark; null where the clock bounds nothing.
    pub added_ns: Option<f64>,
    /// For each of `samples` in order, what passed for the referee in its window beyond the claim.
    /// Empty where the clock bounds nothing.
    pub residuals_ns: Vec<i64>,
    /// The same of the control windows that the bound was made of, in order, without those whose
    /// outputs something changed: those between the windows of the samples or, where these were
    /// longer while the worker under test lived, as `grade_reason` says then, those behind its end.
    pub control_residuals_ns: Vec<i64>,
    /// How many of them are each worker's, in the order of `workers`; empty where they are those
    /// behind its end.
    #[serde(default)]
    pub control_shares: Vec<u64>,
}

impl Conservation {
    /// Both clocks side by side, without a bound; `None` where one of them is not a finite time, as
    /// a worker may claim.
    pub fn of(claimed_ns: f64, observed_ns: f64, control_ns: Option<f64>) -> Option<Conservation> {
        (claimed_ns.is_finite() && observed_ns.is_finite()).then_some(Conservation {
            claimed_ns,
            observed_ns,
            control_ns: control_ns.filter(|control| control.is_finite()),
            ..Conservation::default()
        })
    }
}

/// What a fixed job of the tool's own took in the same minute as the case and over the same
/// buffers: how fast the machine was then. The job is the same whatever the code under test is, so
/// where its time differs between two runs, the machine drifted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Twin {
    /// Its figure, made of its times as that of a case is of samples.
    pub value_ns: f64,
    /// Bounds of the 95 % interval of `value_ns`.
    pub ci95_ns: [f64; 2],
    /// For each fresh worker under test in whose round it was timed, in order: the interquartile
    /// mean of its times in that round.
    pub rounds_ns: Vec<f64>,
}

/// Surroundings that times depend on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Environment {
    /// Version of the operating system's kernel.
    pub kernel: Option<String>,
    /// The host's processor.
    pub cpu: Option<String>,
    /// Processors this process may use.
    pub cpus: Option<u64>,
    /// Load of the host over the last minute.
    pub load_1m: Option<f64>,
    /// Memory of the host in bytes.
    pub memory_bytes: Option<u64>,
    /// The compiler of the kernels: of a run, those that there are; of a case, the one that made
    /// the code it launches.
    pub compiler: Option<String>,
    /// Version of the device's driver.
    pub driver: Option<String>,
    /// Threads of the CPU device.
    pub threads: Option<u64>,
    /// Bytes the cache flush goes through.
    pub flush_bytes: Option<u64>,
    /// How it goes through them; null where it is not known.
    pub flush: Option<Flush>,
    /// The clock of the device's multiprocessors in hertz, after the case; in the run's first
    /// record, before it.
    pub clock_hz: Option<f64>,
    /// Every reason for throttling that the device reported before, between and after the samples,
    /// harmless ones included.
    pub throttle_reasons: Option<Vec<String>>,
    /// What the GPU's own instruments showed; null on the CPU device and where NVML is not there.
    pub gpu: Option<GpuEnvironment>,
}

words! {
    /// How the cache flush goes through its bytes.
    #[derive(CheckedBitPattern, NoUninit)]
    #[repr(u32)]
    pub enum Flush {
        /// It reads them, and leaves no dirty lines behind.
        Read = "read",
        /// It writes them.
        Write = "write",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::catalog::Work;

    #[test]
    fn throughput_is_declared_work_over_the_time() {
        let work = Work {
            bytes: Some(8_000),
            flops: Some(1_000),
        };
        let peaks = Peaks {
            bandwidth: Some(16e9),
            flops: None,
        };
        let throughput = Throughput::of(work, 1_000.0, peaks);
        assert!((throughput.bytes_per_s.unwrap() - 8e9).abs() < 1.0);
        assert!((throughput.flops_per_s.unwrap() - 1e9).abs() < 1.0);
        assert!((throughput.of_peak_bandwidth.unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(throughput.of_peak_flops, None);
    }

    #[test]
    fn a_claim_that_is_no_time_has_no_conservation() {
        assert_eq!(Conservation::of(f64::NAN, 1.0, None), None);
        assert_eq!(Conservation::of(1.0, f64::INFINITY, None), None);
        assert_eq!(Conservation::of(1.0, 2.0, Some(f64::NAN)).unwrap().control_ns, None);
    }

    #[test]
    fn no_time_and_no_declared_work_give_no_throughput() {
        let work = Work {
            bytes: Some(8),
            flops: None,
        };
        for time in [0.0, -1.0, f64::NAN] {
            assert_eq!(Throughput::of(work, time, Peaks::default()), Throughput::default());
        }
        assert_eq!(
            Throughput::of(Work::default(), 1.0, Peaks::default()),
            Throughput::default()
        );
    }
}
