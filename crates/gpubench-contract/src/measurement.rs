//! The parts of a result: statistics, throughput, checks, timing audit and environment.
//!
//! Samples and statistics are in the unit of the result's metric. A field that ends in `_ns` is
//! always a time in nanoseconds: a host time, or a time of one of the clocks that check the claims.
//! A value that is unknown or undefined is `None`, and `null` in JSON; no number means "unknown".

use bytemuck::{CheckedBitPattern, NoUninit};
use serde::{Deserialize, Serialize};

use super::words::words;
use super::{ElementValue, GpuEnvironment, StopReason};

/// Statistics of the samples, in the unit of the metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Stats {
    /// Number of samples.
    pub n: u64,
    /// The value that every table, ranking, comparison and history shows. It is the trimmed mean of
    /// the workers' values, which are the interquartile means of their samples. The trimmed mean
    /// drops the lowest and the highest tenth of the workers, at least one each. With fewer than
    /// five workers, it drops none.
    pub value: f64,
    /// Bounds of the 95 % confidence interval of `value`, from the spread among the workers. With
    /// one worker, from the spread of its samples. Null for a single sample.
    pub ci95: Option<[f64; 2]>,
    /// Median of all samples.
    pub median: f64,
    /// Arithmetic mean of all samples.
    pub mean: f64,
    /// Standard deviation, with n - 1 in the denominator. Null for a single sample.
    pub stddev: Option<f64>,
    /// Coefficient of variation, `stddev / mean`. Null for a single sample or a mean of zero.
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
    /// Whether two values may be the same: their intervals overlap on a scale of logarithms. A
    /// single sample has no interval, so it may be any value. Zero has none, and equals itself.
    pub fn may_equal(&self, other: &Stats) -> bool {
        if self.value == other.value {
            return true;
        }
        match (self.log_interval(), other.log_interval()) {
            (Some([low, high]), Some([other_low, other_high])) => low <= other_high && other_low <= high,
            _ => true,
        }
    }

    /// Returns the interval of the same relative error on a scale of logarithms. With an error
    /// above 100 %, the plain interval of a large value reaches below zero, and so into that of a
    /// value that is hundreds of times smaller.
    fn log_interval(&self) -> Option<[f64; 2]> {
        let on_scale = |end: f64| self.value * ((end - self.value) / self.value).exp();
        self.ci95.map(|interval| interval.map(on_scale))
    }

    /// Returns half the width of the 95 % interval relative to `value`. `None` for a single sample,
    /// and if that is not finite.
    pub fn relative_interval(&self) -> Option<f64> {
        let [low, high] = self.ci95?;
        let relative = (high - low) / 2.0 / self.value.abs();
        relative.is_finite().then_some(relative)
    }
}

/// Why sampling stopped, and its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Stop {
    /// Why sampling stopped.
    pub reason: StopReason,
    /// The target coefficient of variation.
    pub target_cv: f64,
}

/// The time budgets of a result, and the times that were measured and rested. Times on the device
/// are sums of the times of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Budget {
    /// Least time on the device of each worker's warm-up, as `--warmup-time` sets it. Null without
    /// it.
    pub warmup_time_ns: Option<u64>,
    /// Time of the warm-up windows of all workers on the device.
    pub warmed_up_ns: u64,
    /// Time of all samples on the device that is enough, as `--sample-time` sets it. Null without
    /// it. The time that they took is the sum of `samples`, times `calls_per_sample`, before
    /// anything was added to them.
    pub sample_time_ns: Option<u64>,
    /// Number of rests of the device between windows. Rests of cases that are measured alternately
    /// count in each of them. 0 without `--cooldown`.
    pub rests: u64,
    /// Length of all these rests.
    pub rested_ns: u64,
}

/// Time that the host needs to queue a call. The unit is nanoseconds whatever the metric is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct HostTime {
    /// Median over the samples, in nanoseconds.
    pub median_ns: f64,
    /// Minimum, in nanoseconds.
    pub min_ns: f64,
    /// Maximum, in nanoseconds.
    pub max_ns: f64,
}

/// One worker's part of the samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct WorkerShare {
    /// Number of samples of this worker. They follow the samples of the workers before it.
    pub samples: u64,
    /// Interquartile mean of the worker's samples: the mean of those between the quartiles. Null if
    /// it has no samples.
    pub value: Option<f64>,
    /// Where its buffers lay in memory, in the order of its samples. Missing if it has no samples,
    /// or in records of older versions of the tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placements: Vec<PlacementShare>,
}

/// Samples of a worker that were taken one after another with the buffers in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct PlacementShare {
    /// Number of the place in the case, from 0. The same number means the same physical memory.
    pub placement: u64,
    /// Number of samples.
    pub samples: u64,
}

/// A disturbance during one sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct SampleFlag {
    /// Index into `samples`.
    pub sample: u64,
    /// What happened.
    pub flag: SampleFlagKind,
    /// Reasons that the device gave for throttling. Empty if it gave none.
    pub reasons: Vec<String>,
}

/// Kinds of disturbances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SampleFlagKind {
    /// The device reported that it throttled.
    Throttled,
    /// The device's clock changed.
    ClockChanged,
    /// The host preempted a thread of the CPU device.
    Preempted,
}

/// Rates, computed from the declared work and the case's time. All are null if the metric is not a
/// time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Throughput {
    /// Bytes per second.
    pub bytes_per_s: Option<f64>,
    /// Where the number of bytes is from. Null without a rate. `tensors` are never compared with
    /// physics, and have no rate above the device's peak.
    #[serde(default)]
    pub bytes_from: Option<BytesFrom>,
    /// Declared floating-point operations per second.
    pub flops_per_s: Option<f64>,
    /// Fraction of the device's peak memory bandwidth.
    pub of_peak_bandwidth: Option<f64>,
    /// Fraction of the device's peak arithmetic rate for the type of the inputs, on tensor cores if
    /// it has them. Null if the inputs have several types or the peak is not known. Single
    /// precision above its own peak is compared with the TF32 peak.
    pub of_peak_flops: Option<f64>,
    /// Rates of the counters that the benchmark or its problem declares, in order. Missing without
    /// any, and if the metric is not a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<CounterRate>,
}

/// A counter of the benchmark, such as tokens or pixels, and its rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct CounterRate {
    /// Name: letters, digits and `_`.
    pub name: String,
    /// Declared amount in one call.
    pub amount: u64,
    /// Amount per second.
    pub per_s: f64,
}

words! {
    /// Where the bytes of a rate are from.
    pub enum BytesFrom {
        /// The benchmark or its problem declares them.
        Declared = "declared",
        /// Nobody did: every input and output counts once, and what is overwritten twice.
        Tensors = "tensors",
    }
}

/// The work of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Bytes read and written, and where the number is from.
    pub bytes: Option<(u64, BytesFrom)>,
    /// Floating-point operations.
    pub flops: Option<u64>,
    /// Names and amounts of the counters.
    pub counters: Vec<(String, u64)>,
}

impl Amounts {
    /// The amounts that a benchmark declares.
    pub fn declared(bytes: Option<u64>, flops: Option<u64>) -> Amounts {
        Amounts {
            bytes: bytes.map(|bytes| (bytes, BytesFrom::Declared)),
            flops,
            counters: Vec::new(),
        }
    }
}

/// A device's peak rates, if known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Peaks {
    /// Memory bandwidth in bytes per second.
    pub bandwidth: Option<f64>,
    /// Floating-point operations per second, for the type of the inputs.
    pub flops: Option<f64>,
}

impl Throughput {
    /// Returns the names of the counters, in order.
    pub fn counter_names(&self) -> Vec<String> {
        self.counters.iter().map(|counter| counter.name.clone()).collect()
    }

    /// Computes the rates of the amounts in a time, in nanoseconds. All rates are `None`, and
    /// counters missing, if the time is not positive. A rate of the tensors' bytes is also `None`
    /// if it is above the peak: the kernel did not touch all of them.
    pub fn new(amounts: Amounts, time_ns: f64, peaks: Peaks) -> Throughput {
        let Amounts { bytes, flops, counters } = amounts;
        let rate = |amount: Option<u64>| {
            let rate = amount? as f64 / (time_ns * 1e-9);
            (time_ns > 0.0 && rate.is_finite()).then_some(rate)
        };
        let share = |rate: Option<f64>, peak: Option<f64>| {
            let share = rate? / peak?;
            share.is_finite().then_some(share)
        };
        let (bytes, bytes_from) = bytes.unzip();
        let is_possible = |rate: &f64| match bytes_from {
            Some(BytesFrom::Tensors) => peaks.bandwidth.is_none_or(|peak| *rate <= peak),
            _ => true,
        };
        let bytes_per_s = rate(bytes).filter(is_possible);
        let flops_per_s = rate(flops);
        Throughput {
            bytes_per_s,
            bytes_from: bytes_per_s.and(bytes_from),
            flops_per_s,
            of_peak_bandwidth: share(bytes_per_s, peaks.bandwidth),
            of_peak_flops: share(flops_per_s, peaks.flops),
            counters: counters
                .into_iter()
                .filter_map(|(name, amount)| {
                    let per_s = rate(Some(amount))?;
                    Some(CounterRate { name, amount, per_s })
                })
                .collect(),
        }
    }
}

/// The result of checking one output. It is from the window that failed. If no window failed, it is
/// the worst over all windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Check {
    /// Name of the output. Each field of an output of structs has its own check: `hits[].value` is
    /// the field `value` of `hits`, and `hits[].at[]` is one that is an array.
    pub output: String,
    /// Number of elements compared: all of them.
    pub elements: u64,
    /// Number of elements within the tolerance, and of those in `mismatched`.
    pub matched: u64,
    /// Number of elements outside the tolerance that passed, by `tolerance.mismatched`. Missing if
    /// there are none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub mismatched: u64,
    /// The tolerance that the crate declares. Null if not known, or if a check judges the output
    /// without one.
    pub tolerance: Option<AllowedError>,
    /// Whether the expected outputs of the previous call would pass in every call. If so, the check
    /// cannot tell old answers from new ones. Null if this was tested in too few calls.
    pub stale_output_passes: Option<bool>,
    /// Largest absolute error of the elements that are finite on both sides. 0 if there are none.
    pub max_abs_error: Option<f64>,
    /// Median over the checked calls of each call's largest absolute error. It shows whether
    /// `max_abs_error` is typical. Null in records of older versions of the tool.
    #[serde(default)]
    pub median_abs_error: Option<f64>,
    /// Largest relative error of those elements whose expected value is not zero. 0 if there are
    /// none.
    pub max_rel_error: Option<f64>,
    /// Flat index of the element with the largest absolute error. A wrong element that is not
    /// finite comes first. Null if all elements are equal.
    pub worst_index: Option<u64>,
    /// Dimensions of the output, outermost first.
    pub shape: Vec<u64>,
    /// The first element outside the tolerance. Null if there is none.
    pub first_wrong: Option<WrongElement>,
    /// The first ten elements outside the tolerance. Missing if the output of this call was not
    /// compared element by element.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<WrongElement>,
    /// Where the elements outside the tolerance lie, for people. Missing if they have no pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// The error that an element may have: `|got - expected| <= atol + rtol * |expected|`. Both are
/// zero if elements must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct AllowedError {
    /// Relative tolerance, as a fraction of the expected value.
    pub rtol: f64,
    /// Absolute tolerance.
    pub atol: f64,
    /// The elements that may be outside both. Missing if none may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mismatched: Option<AllowedMismatch>,
}

/// The elements of an output that may be outside its tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct AllowedMismatch {
    /// Largest share of the elements, as a fraction.
    pub share: f64,
    /// How many times the tolerance each of them may differ by.
    pub cap: f64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// An element that differs from the expected one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct WrongElement {
    /// Flat index of the element.
    pub index: u64,
    /// The value that the reference computed.
    pub expected: ElementValue,
    /// The value that the kernel wrote.
    pub got: ElementValue,
}

/// Number of windows of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct WindowCounts {
    /// Warm-up windows: timed and checked, but not among the samples.
    pub warm_up: u64,
    /// Windows of the samples: timed and checked.
    pub timed: u64,
    /// Early-check windows: their outputs are checked right after the call, to catch late writes.
    pub early_check: u64,
    /// Windows that time the steps of a call one by one. Their times are not among the samples.
    #[serde(default)]
    pub parts: u64,
    /// Windows that make the first of several calls alone. Their times are not among the samples.
    #[serde(default)]
    pub single: u64,
    /// Windows whose samples were thrown away and taken again, because the device throttled: timed
    /// and checked, but not among the samples. Missing in records of older versions of the tool.
    #[serde(default)]
    pub retaken: u64,
    /// Windows of many calls back to back, to measure their energy. Their times are not among the
    /// samples.
    #[serde(default)]
    pub energy: u64,
    /// Control windows, in which the twin runs instead of the call. They do not count in the
    /// case's `windows`.
    pub control: u64,
}

impl WindowCounts {
    /// Returns the number of windows of the worker under test.
    pub fn total(self) -> u64 {
        self.warm_up + self.timed + self.retaken + self.early_check + self.parts + self.single + self.energy
    }
}

/// The worker's claimed times compared with the referee's clock. Time is conserved: what the worker
/// does not claim, the referee's clock still shows. `claimed_ns`, `observed_ns` and `control_ns`
/// are means over the windows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Conservation {
    /// Time that the worker claims.
    pub claimed_ns: f64,
    /// Time by the referee's clock, including the tool's own part of each window.
    pub observed_ns: f64,
    /// Time by the referee's clock that a window takes in addition to its call. Control windows
    /// measure it: in them, the twin runs instead of the call. Null without control windows.
    pub control_ns: Option<f64>,
    /// The reported value, computed from the referee's clock minus the tool's own part of each
    /// window. Null if the clock gives no bound.
    pub verified_ns: Option<f64>,
    /// `verified_ns` minus the value computed from the claims. Null if the clock gives no bound.
    pub excess_ns: Option<f64>,
    /// The largest `excess_ns` that an honest worker can have. Null if the clock gives no bound.
    pub bound_ns: Option<f64>,
    /// Time that is added to each claim to get `samples`. The claims of host code count only as far
    /// as the referee's clock confirms them. 0 for a sealed benchmark. Null if the clock gives no
    /// bound.
    pub added_ns: Option<f64>,
    /// Time by the referee's clock minus the claim, for each of `samples` in order. Empty if the
    /// clock gives no bound.
    pub residuals_ns: Vec<i64>,
    /// Time by the referee's clock minus the claim, for each control window that the bound is
    /// computed from. Windows whose outputs changed are left out. Normally these are the windows
    /// between the samples. If those took longer while the worker was alive, the windows after its
    /// end are used instead, and `grade_reason` says so.
    pub control_residuals_ns: Vec<i64>,
    /// Number of `control_residuals_ns` that belong to each worker, in the order of `workers`.
    /// Empty if the windows after the worker's end are used.
    #[serde(default)]
    pub control_shares: Vec<u64>,
}

impl Conservation {
    /// Returns the times by both clocks without a bound. `None` if one of them is not finite, since
    /// a worker can claim anything.
    pub fn new(claimed_ns: f64, observed_ns: f64, control_ns: Option<f64>) -> Option<Conservation> {
        (claimed_ns.is_finite() && observed_ns.is_finite()).then_some(Conservation {
            claimed_ns,
            observed_ns,
            control_ns: control_ns.filter(|control| control.is_finite()),
            ..Conservation::default()
        })
    }
}

/// The time of the twin. The twin is a fixed job of the tool on the case's buffers. It runs again
/// and again while the case is measured, and shows how fast the machine was. It does not depend on
/// the code under test. If its times in two runs differ, the speed of the machine has drifted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Twin {
    /// Value of the twin, computed from its times as a case's `value` is from its samples.
    pub value_ns: f64,
    /// Bounds of the 95 % confidence interval of `value_ns`.
    pub ci95_ns: [f64; 2],
    /// Interquartile mean of the twin's times in each worker's round, in order. Rounds without a
    /// time of the twin are missing.
    pub rounds_ns: Vec<f64>,
}

/// Properties of the host and the device that times depend on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Environment {
    /// Name of the host that measured the case for a run over several machines. Missing in other
    /// runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Version of the operating system's kernel.
    pub kernel: Option<String>,
    /// The host's processor.
    pub cpu: Option<String>,
    /// Number of processors that the process may use.
    pub cpus: Option<u64>,
    /// Load average of the host over the last minute.
    pub load_1m: Option<f64>,
    /// Memory of the host, in bytes.
    pub memory_bytes: Option<u64>,
    /// Compiler of the kernels. For a run, all compilers; for a case, the one that compiled its
    /// code.
    pub compiler: Option<String>,
    /// Version of the device's driver.
    pub driver: Option<String>,
    /// Number of threads of the CPU device.
    pub threads: Option<u64>,
    /// Size of the cache flush before a cold call, in bytes.
    pub flush_bytes: Option<u64>,
    /// How that flush accesses its memory. Null if not known.
    pub flush: Option<Flush>,
    /// Clock at which the run locked the device's multiprocessors, in MHz. Null if it did not lock
    /// them. Missing in records of older versions of the tool.
    #[serde(default)]
    pub locked_sm_clock_mhz: Option<u64>,
    /// Clock of the device's multiprocessors after the case, in hertz. In the first record of a
    /// run, before the run.
    pub clock_hz: Option<f64>,
    /// All reasons for throttling that the device reported before, between and after the samples,
    /// including harmless ones.
    pub throttle_reasons: Option<Vec<String>>,
    /// Sensor readings of the GPU. Null on the CPU device and without NVML.
    pub gpu: Option<GpuEnvironment>,
}

words! {
    /// How the cache flush accesses its memory.
    #[derive(CheckedBitPattern, NoUninit)]
    #[repr(u32)]
    pub enum Flush {
        /// Reads it, so that no dirty cache lines remain.
        Read = "read",
        /// Writes it.
        Write = "write",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughput_is_declared_work_over_the_time() {
        let work = Amounts {
            counters: vec![("tokens".to_owned(), 3), ("images".to_owned(), 0)],
            ..Amounts::declared(Some(8_000), Some(1_000))
        };
        let peaks = Peaks {
            bandwidth: Some(16e9),
            flops: None,
        };
        let throughput = Throughput::new(work, 1_000.0, peaks);
        assert!((throughput.bytes_per_s.unwrap() - 8e9).abs() < 1.0);
        assert!((throughput.flops_per_s.unwrap() - 1e9).abs() < 1.0);
        assert!((throughput.of_peak_bandwidth.unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(throughput.of_peak_flops, None);
        let counters = throughput.counters.iter();
        let counters: Vec<_> = counters
            .map(|counter| (&*counter.name, counter.amount, counter.per_s.round()))
            .collect();
        assert_eq!(counters, [("tokens", 3, 3e6), ("images", 0, 0.0)]);
    }

    #[test]
    fn a_rate_of_the_tensors_bytes_is_at_most_the_peak() {
        let peaks = Peaks {
            bandwidth: Some(16e9),
            flops: None,
        };
        let of = |bytes| {
            let amounts = Amounts {
                bytes,
                ..Amounts::default()
            };
            Throughput::new(amounts, 1_000.0, peaks)
        };
        let possible = of(Some((16_000, BytesFrom::Tensors)));
        assert!((possible.bytes_per_s.unwrap() - 16e9).abs() < 1.0);
        assert_eq!(possible.bytes_from, Some(BytesFrom::Tensors));
        assert_eq!(of(Some((16_001, BytesFrom::Tensors))), Throughput::default());
        assert!(of(Some((16_001, BytesFrom::Declared))).bytes_per_s.is_some());
    }

    #[test]
    fn a_time_that_is_not_finite_has_no_conservation() {
        assert_eq!(Conservation::new(f64::NAN, 1.0, None), None);
        assert_eq!(Conservation::new(1.0, f64::INFINITY, None), None);
        assert_eq!(Conservation::new(1.0, 2.0, Some(f64::NAN)).unwrap().control_ns, None);
    }

    #[test]
    fn throughput_needs_a_positive_time_and_declared_work() {
        let work = Amounts {
            counters: vec![("tokens".to_owned(), 8)],
            ..Amounts::declared(Some(8), None)
        };
        for time in [0.0, -1.0, f64::NAN] {
            assert_eq!(
                Throughput::new(work.clone(), time, Peaks::default()),
                Throughput::default()
            );
        }
        assert_eq!(
            Throughput::new(Amounts::default(), 1.0, Peaks::default()),
            Throughput::default()
        );
    }

    #[test]
    fn every_window_but_control_windows_is_in_the_total() {
        let counts = WindowCounts {
            warm_up: 1,
            timed: 2,
            early_check: 4,
            parts: 8,
            single: 16,
            retaken: 32,
            energy: 64,
            control: 128,
        };
        assert_eq!(counts.total(), 127);
    }

    #[test]
    fn a_relative_interval_is_half_its_width_over_the_value() {
        let stats = |ci95, value| Stats {
            n: 3,
            value,
            ci95,
            median: value,
            mean: value,
            stddev: None,
            cv: None,
            min: value,
            max: value,
            q1: value,
            q3: value,
        };
        assert_eq!(stats(Some([9.0, 13.0]), 10.0).relative_interval(), Some(0.2));
        let zero = stats(Some([0.0, 0.0]), 0.0);
        assert!(zero.may_equal(&zero), "zero has no interval on a scale of logarithms");
        assert_eq!(stats(Some([-13.0, -9.0]), -10.0).relative_interval(), Some(0.2));
        assert_eq!(stats(Some([0.0, 1.0]), 0.0).relative_interval(), None);
        assert_eq!(stats(None, 10.0).relative_interval(), None);
    }
}
