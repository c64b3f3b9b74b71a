//! The parts of a result: statistics, throughput, checks, conservation of time and surroundings.
//!
//! Times are nanoseconds. A value that is not known or not defined is `None`, `null` in JSON; no number stands for "unknown".

use gpubench::catalog::Tolerance;
use serde::{Deserialize, Serialize};

use super::{ElementValue, GpuEnvironment};
use gpubench_stats::{Balance, StopReason, Summary, interquartile_mean, median};

/// What the samples say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats {
    /// Number of samples.
    pub n: u64,
    /// Median of the case: the mean of the workers' medians without those of the fastest and the slowest tenth of the workers, one at least; of fewer than five workers the mean of all.
    pub median_ns: f64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Standard deviation with n - 1 in the denominator; null for a single sample.
    pub stddev_ns: Option<f64>,
    /// Coefficient of variation, `stddev / mean`; null for a single sample and where the mean is zero.
    pub cv: Option<f64>,
    /// Smallest sample.
    pub min_ns: f64,
    /// Largest sample.
    pub max_ns: f64,
    /// First quartile, interpolated linearly.
    pub q1_ns: f64,
    /// Third quartile, interpolated linearly.
    pub q3_ns: f64,
    /// Bounds of the 95 % bootstrap interval of `median_ns`, from the samples of each of these workers. It says nothing of what other workers would have measured: `workers_ci95_ns` does.
    pub ci95_ns: [f64; 2],
    /// Bounds of Student's 95 % interval of the mean of the workers' medians: what other fresh workers would have measured. Null for fewer than two workers, and in records of tools that did not say.
    #[serde(default)]
    pub workers_ci95_ns: Option<[f64; 2]>,
}

impl Stats {
    /// The 95 % interval that people are shown: from the least to the greatest end of both, that of the samples and that of the workers.
    pub fn interval_ns(&self) -> [f64; 2] {
        let [low, high] = self.ci95_ns;
        match self.workers_ci95_ns {
            None => [low, high],
            Some([lowest, highest]) => [low.min(lowest), high.max(highest)],
        }
    }

    /// The larger distance from the median to an end of [`interval_ns`](Self::interval_ns), relative to the median; `None` where the median is zero.
    pub fn relative_interval(&self) -> Option<f64> {
        let [low, high] = self.interval_ns();
        let relative = (high - self.median_ns).max(self.median_ns - low) / self.median_ns;
        relative.is_finite().then_some(relative)
    }
}

impl From<&Summary> for Stats {
    fn from(summary: &Summary) -> Stats {
        Stats {
            n: summary.n as u64,
            median_ns: summary.median,
            mean_ns: summary.mean,
            stddev_ns: summary.stddev,
            cv: summary.cv,
            min_ns: summary.min,
            max_ns: summary.max,
            q1_ns: summary.q1,
            q3_ns: summary.q3,
            ci95_ns: [summary.ci95.low, summary.ci95.high],
            workers_ci95_ns: summary.workers_ci95.map(|interval| [interval.low, interval.high]),
        }
    }
}

/// Why sampling stopped, and what it aimed for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stop {
    /// Why sampling stopped.
    pub reason: StopReason,
    /// The coefficient of variation aimed for.
    pub target_cv: f64,
}

/// Time the host spent on queueing a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostTime {
    /// Median over the samples.
    pub median_ns: f64,
    /// Smallest.
    pub min_ns: f64,
    /// Largest.
    pub max_ns: f64,
}

impl HostTime {
    /// Sums host times up; `None` where there are none or one is not finite.
    pub fn of(times_ns: &[f64]) -> Option<HostTime> {
        Some(HostTime {
            median_ns: median(times_ns)?,
            min_ns: times_ns.iter().copied().reduce(f64::min)?,
            max_ns: times_ns.iter().copied().reduce(f64::max)?,
        })
    }
}

/// One fresh worker's part of the samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkerShare {
    /// How many of `samples_ns` are its own: the next ones after those of the workers before it.
    pub samples: u64,
    /// Median of its samples: the mean of those between their quartiles; null where it has none.
    pub median_ns: Option<f64>,
}

impl WorkerShare {
    /// The share of a worker with these samples, in nanoseconds.
    pub fn of(samples: &[f64]) -> WorkerShare {
        WorkerShare {
            samples: samples.len() as u64,
            median_ns: interquartile_mean(samples),
        }
    }
}

/// A sample that something disturbed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleFlag {
    /// Position in `samples_ns`.
    pub sample: u64,
    /// What happened.
    pub flag: SampleFlagKind,
    /// Why, in the device's words: the reasons for throttling. Empty where it gives none.
    pub reasons: Vec<String>,
}

/// What can disturb a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SampleFlagKind {
    /// The device reported that it throttled.
    Throttled,
    /// The device's clock changed.
    ClockChanged,
    /// The host took the processor away from a thread of the CPU device.
    Preempted,
}

/// What the case achieves at its median time, by the work its author declared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Throughput {
    /// Declared bytes per second.
    pub bytes_per_s: Option<f64>,
    /// Declared floating-point operations per second.
    pub flops_per_s: Option<f64>,
    /// Share of the device's peak memory bandwidth.
    pub of_peak_bandwidth: Option<f64>,
    /// Share of the device's peak arithmetic rate.
    pub of_peak_flops: Option<f64>,
}

/// The highest rates a device can reach, where they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Peaks {
    /// Memory bandwidth in bytes per second.
    pub bandwidth: Option<f64>,
    /// Floating-point operations per second.
    pub flops: Option<f64>,
}

impl Throughput {
    /// What declared work means at `median_ns`; nothing where the time is not above zero.
    pub fn of(work: gpubench::catalog::Work, median_ns: f64, peaks: Peaks) -> Throughput {
        let rate = |amount: Option<u64>| {
            let rate = amount? as f64 / (median_ns * 1e-9);
            (median_ns > 0.0 && rate.is_finite()).then_some(rate)
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

/// What was found in one output: of the window that failed, or the worst over all windows where none did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// Name of the output.
    pub output: String,
    /// Elements compared: all of them.
    pub elements: u64,
    /// Elements within the tolerance.
    pub matched: u64,
    /// The tolerance, which is the crate's own word; null in results that do not have it.
    #[serde(default)]
    pub tolerance: Option<AllowedError>,
    /// Whether what was expected of each call's predecessor would have passed in its place, so that the check cannot tell old answers from new ones; null where it was asked of too few calls.
    #[serde(default)]
    pub old_answers_pass: Option<bool>,
    /// Largest absolute error over elements that are finite on both sides; 0 where there are none.
    pub max_abs_error: Option<f64>,
    /// Largest relative error over those of them for which another number than zero is expected; 0 where there are none.
    pub max_rel_error: Option<f64>,
    /// Flat index of the element with the largest absolute error, which one that is not finite and not right has; null where every element is equal.
    pub worst_index: Option<u64>,
    /// Extents of the output, outermost first.
    pub shape: Vec<u64>,
    /// The first element beyond the tolerance; null where there is none.
    pub first_wrong: Option<WrongElement>,
}

/// How far an element may be off: `|got - expected| <= atol + rtol * |expected|`. Both are zero where it must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowCounts {
    /// Timed, checked and left out of the samples.
    pub warm_up: u64,
    /// Timed and checked: the samples.
    pub timed: u64,
    /// With the check launched right behind the call.
    pub early_check: u64,
    /// Of the null worker, interleaved with the sampled ones and behind the worker's end; not among the case's `windows`.
    pub null: u64,
}

impl WindowCounts {
    /// All windows of the worker under test.
    pub fn total(self) -> u64 {
        self.warm_up + self.timed + self.early_check
    }
}

/// The worker's claimed times beside the referee's clock, as means over the windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conservation {
    /// What the worker claims.
    pub claimed_ns: f64,
    /// What the referee's clock saw, the tool's own part of the windows included.
    pub observed_ns: f64,
    /// The tool's own part, as the referee's clock saw it in windows of a null worker that runs nothing else; null where there were none.
    pub null_ns: Option<f64>,
    /// By how much more passed for the referee than was claimed, beyond the tool's own part: a difference of medians, which single windows do not move. Null where the clock bounds nothing.
    pub excess_ns: Option<f64>,
    /// The most that `excess_ns` can be for an honest worker; null where the clock bounds nothing.
    pub bound_ns: Option<f64>,
    /// What of the bound is due to the tool's own part depending on the kernel; more windows do not make it smaller.
    pub kernel_part_ns: Option<f64>,
    /// How that part is known.
    pub kernel_part_source: Option<KernelPartSource>,
    /// For each of `samples_ns` in order, what passed for the referee in its window beyond the claim. Empty where the clock bounds nothing, and in records of tools that did not say.
    #[serde(default)]
    pub residuals_ns: Vec<i64>,
    /// The same of the null windows that the bound was made of, in order, without those whose outputs something changed: those between the windows of the samples or, where these were longer while the worker under test lived, as `grade_reason` says then, those behind its end.
    #[serde(default)]
    pub null_residuals_ns: Vec<i64>,
}

/// How the part of the bound that depends on the kernel is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KernelPartSource {
    /// From kernels measured on a device of this name.
    Measured,
    /// It is not: a generous figure stands for it.
    Assumed,
}

impl Conservation {
    /// Both clocks side by side, without a bound; `None` where one of them is not a finite time, as a worker may claim.
    pub fn of(claimed_ns: f64, observed_ns: f64, null_ns: Option<f64>) -> Option<Conservation> {
        (claimed_ns.is_finite() && observed_ns.is_finite()).then_some(Conservation {
            claimed_ns,
            observed_ns,
            null_ns: null_ns.filter(|null| null.is_finite()),
            excess_ns: None,
            bound_ns: None,
            kernel_part_ns: None,
            kernel_part_source: None,
            residuals_ns: Vec::new(),
            null_residuals_ns: Vec::new(),
        })
    }

    /// The same with what the comparison with a null worker says.
    pub fn bounded(self, balance: &Balance, kernel_part_ns: f64, source: KernelPartSource) -> Conservation {
        Conservation {
            excess_ns: Some(balance.excess_ns),
            bound_ns: Some(balance.bound_ns),
            kernel_part_ns: Some(kernel_part_ns),
            kernel_part_source: Some(source),
            ..self
        }
    }
}

/// Surroundings that times depend on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The compiler of the kernels.
    pub compiler: Option<String>,
    /// Version of the device's driver.
    pub driver: Option<String>,
    /// Threads of the CPU device.
    pub threads: Option<u64>,
    /// Bytes the cache flush goes through.
    pub flush_bytes: Option<u64>,
    /// How it goes through them; null in records of tools that did not say.
    #[serde(default)]
    pub flush: Option<Flush>,
    /// The clock of the device's multiprocessors in hertz, after the case; in the run's first record, before it.
    pub clock_hz: Option<f64>,
    /// Every reason for throttling that the device reported before, between and after the samples, harmless ones included.
    pub throttle_reasons: Option<Vec<String>>,
    /// What the GPU's own instruments showed; null on the CPU device and where NVML is not there.
    pub gpu: Option<GpuEnvironment>,
}

/// How the cache flush goes through its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Flush {
    /// It reads them, and leaves no dirty lines behind.
    Read,
    /// It writes them.
    Write,
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::catalog::Work;

    #[test]
    fn throughput_is_declared_work_over_the_median() {
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

    /// Of workers whose samples are all alike.
    fn of_workers(medians: &[f64]) -> Stats {
        let samples: Vec<[f64; 3]> = medians.iter().map(|median| [*median; 3]).collect();
        let workers: Vec<&[f64]> = samples.iter().map(<[f64; 3]>::as_slice).collect();
        Stats::from(&Summary::of_workers(&workers).unwrap())
    }

    #[test]
    fn the_interval_is_as_wide_as_the_workers_differ() {
        let agreeing = Stats {
            ci95_ns: [99.0, 101.0],
            ..of_workers(&[100.0; 3])
        };
        assert!((agreeing.relative_interval().unwrap() - 0.01).abs() < 1e-12);
        let differing = of_workers(&[95.0, 100.0, 105.0]);
        assert_eq!(differing.ci95_ns, [100.0; 2]);
        // t of 2 degrees of freedom is 4.303, and 5 / √3 is 2.887.
        assert!((differing.relative_interval().unwrap() - 0.1242).abs() < 1e-4);
    }

    #[test]
    fn one_worker_has_only_the_interval_of_its_samples() {
        let alone = Stats::from(&Summary::of(&[99.0, 100.0, 101.0]).unwrap());
        assert_eq!(alone.workers_ci95_ns, None);
        assert_eq!(alone.interval_ns(), alone.ci95_ns);
    }

    #[test]
    fn a_worker_with_many_samples_counts_as_much_as_one_with_few() {
        let (many, few) = ([100.0; 90], [103.0; 3]);
        let stats = Stats::from(&Summary::of_workers(&[&many, &few]).unwrap());
        assert!((stats.median_ns - 101.5).abs() < 1e-9);
    }

    #[test]
    fn a_claim_that_is_no_time_has_no_conservation() {
        assert_eq!(Conservation::of(f64::NAN, 1.0, None), None);
        assert_eq!(Conservation::of(1.0, f64::INFINITY, None), None);
        assert_eq!(Conservation::of(1.0, 2.0, Some(f64::NAN)).unwrap().null_ns, None);
    }

    #[test]
    fn no_time_and_no_declared_work_give_no_throughput() {
        let work = Work {
            bytes: Some(8),
            flops: None,
        };
        for median in [0.0, -1.0, f64::NAN] {
            assert_eq!(Throughput::of(work, median, Peaks::default()), Throughput::default());
        }
        assert_eq!(
            Throughput::of(Work::default(), 1.0, Peaks::default()),
            Throughput::default()
        );
    }
}
