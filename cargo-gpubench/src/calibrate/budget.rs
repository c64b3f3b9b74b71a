//! The error budget of each method: the results of two runs in, one record out.

use super::kernel::{CYCLES, ELAPSED, length_of};
use gpubench_contract::{
    BenchmarkComplete, CalibratedTimes, CalibrationComplete, CalibrationStanding, Check, Device, Grade, KnownLength,
    Method, MethodCalibration, ReportedTime, SchemaVersion, Verdict,
};

/// The longest kernel that counts as short, in nanoseconds: for `noise_ns`.
const SHORT_NS: f64 = 10_000.0;

/// The results of a run.
pub(super) type Results<'a> = Vec<&'a BenchmarkComplete>;

/// Compares what the runs say of the kernels with their known lengths.
pub(super) fn calibration(device: &Device, run_ids: Vec<String>, runs: &[Results<'_>]) -> CalibrationComplete {
    let mut modes: Vec<Method> = Vec::new();
    for result in runs.iter().flatten() {
        if !modes.contains(&result.mode) {
            modes.push(result.mode);
        }
    }
    let kinds = modes
        .into_iter()
        .flat_map(|mode| times_of(mode).iter().map(move |times| (mode, *times)));
    CalibrationComplete {
        schema_version: SchemaVersion,
        run_ids,
        device: device.clone(),
        methods: kinds.map(|(mode, times)| method(device, mode, times, runs)).collect(),
    }
}

/// Returns the kinds of times that a mode has.
fn times_of(mode: Method) -> &'static [CalibratedTimes] {
    match mode {
        Method::Cold | Method::Warm | Method::Hot | Method::HotGraph => &[CalibratedTimes::Value],
        Method::Graph => &[CalibratedTimes::Value, CalibratedTimes::SingleCalls],
    }
}

fn method(device: &Device, mode: Method, times: CalibratedTimes, runs: &[Results<'_>]) -> MethodCalibration {
    let of_mode: Vec<Results<'_>> = runs
        .iter()
        .map(|run| run.iter().copied().filter(|result| result.mode == mode).collect())
        .collect();
    let mut least: Vec<f64> = of_mode
        .iter()
        .flatten()
        .filter_map(|result| length_of(&result.params))
        .collect();
    least.sort_by(f64::total_cmp);
    least.dedup();
    let mut lengths: Vec<KnownLength> = least
        .into_iter()
        .map(|least_ns| known_length(least_ns, times, &of_mode))
        .collect();
    let empty = lengths.iter().find(|length| length.least_ns == 0.0).cloned();
    for length in &mut lengths {
        judge(length, empty.as_ref(), device.clock_tick_ns.unwrap_or_default());
    }
    let overheads: Vec<f64> = of_mode
        .iter()
        .flatten()
        .filter_map(|result| result.event_overhead_ns)
        .collect();
    MethodCalibration {
        mode,
        times,
        empty_ns: mean(&overheads),
        empty_kernel_ns: empty.as_ref().and_then(time_of),
        noise_ns: noise(&lengths, |length| (length.least_ns <= SHORT_NS).then_some(1.0)),
        noise_share: noise(&lengths, |length| {
            time_of(length).filter(|_| length.least_ns > SHORT_NS)
        }),
        lengths,
    }
}

/// Collects what the runs say of one kernel.
fn known_length(least_ns: f64, times: CalibratedTimes, runs: &[Results<'_>]) -> KnownLength {
    let results: Results<'_> = runs
        .iter()
        .filter_map(|run| {
            run.iter()
                .copied()
                .find(|result| length_of(&result.params) == Some(least_ns))
        })
        .collect();
    let errors = |output: &str, error: fn(&Check) -> Option<f64>| -> Vec<f64> {
        let checks = results
            .iter()
            .filter_map(|result| result.checks.iter().find(|check| check.output == output));
        checks.filter_map(error).collect()
    };
    let reported: Vec<ReportedTime> = results.iter().filter_map(|result| reported(result, times)).collect();
    let known_ns = mean(&errors(ELAPSED, |check| check.median_abs_error)).map(|error| least_ns + error);
    let longest_ns = errors(ELAPSED, |check| check.max_abs_error)
        .into_iter()
        .reduce(f64::max);
    let failed = results.iter().find(|result| result.verdict != Verdict::Pass);
    let mut length = KnownLength {
        least_ns,
        known_ns,
        longest_ns: longest_ns.map(|error| least_ns + error),
        cycles: mean(&errors(CYCLES, |check| check.median_abs_error)).filter(|cycles| *cycles > 0.0),
        calls_per_sample: match times {
            CalibratedTimes::Value => results.first().map_or(1, |result| result.calls_per_sample),
            CalibratedTimes::SingleCalls => 1,
        },
        difference_ns: None,
        unexplained_ns: None,
        drift_ns: match &reported[..] {
            [first, second] => Some(second.time_ns - first.time_ns),
            _ => None,
        },
        reported,
        standing: CalibrationStanding::NotMeasured,
        message: failed.map(|result| match &result.message {
            Some(message) => format!("{}: {message}", result.verdict),
            None => result.verdict.to_string(),
        }),
    };
    length.difference_ns = time_of(&length).zip(known_ns).map(|(reported, known)| reported - known);
    length
}

/// Returns what a result says of its kernel.
fn reported(result: &BenchmarkComplete, times: CalibratedTimes) -> Option<ReportedTime> {
    if result.verdict != Verdict::Pass {
        return None;
    }
    match times {
        CalibratedTimes::Value => {
            let stats = result.stats.as_ref()?;
            // An advisory time claims nothing.
            let bound_ns = match result.grade {
                Some(Grade::Sealed | Grade::Bracketed) => {
                    result.conservation.as_ref().and_then(|clocks| clocks.bound_ns)
                }
                Some(Grade::Advisory) | None => None,
            };
            Some(ReportedTime {
                time_ns: stats.value,
                q1_ns: stats.q1,
                q3_ns: stats.q3,
                ci95_ns: Some(stats.ci95),
                grade: result.grade,
                bound_ns: bound_ns.map(|bound| bound / result.calls_per_sample.max(1) as f64),
            })
        }
        CalibratedTimes::SingleCalls => result.single_calls.map(|single| ReportedTime {
            time_ns: single.median_ns,
            q1_ns: single.q1_ns,
            q3_ns: single.q3_ns,
            ci95_ns: None,
            grade: None,
            bound_ns: None,
        }),
    }
}

/// Decides whether the truth lies within the bounds. `empty` is the kernel that returns at once.
///
/// A call cannot be shorter than its kernel. How much longer it is, only the same call with the
/// empty kernel shows, so a time can be found too long only if there is a bound to exceed.
fn judge(length: &mut KnownLength, empty: Option<&KnownLength>, tick_ns: f64) {
    let beyond = empty
        .and_then(|empty| empty.difference_ns)
        .filter(|_| length.least_ns > 0.0);
    length.unexplained_ns = length.difference_ns.zip(beyond).map(|(all, beyond)| all - beyond);
    if length.message.is_some() || length.reported.is_empty() {
        return;
    }
    let is_too_short =
        |reported: &ReportedTime| reported.time_ns < length.least_ns - tick_ns - reported.bound_ns.unwrap_or_default();
    let longest_empty_ns = empty.and_then(|empty| Some(time_of(empty)? + bound_of(empty)?));
    let is_too_long = |reported: &ReportedTime| {
        let limits = length.known_ns.zip(longest_empty_ns).zip(reported.bound_ns);
        limits.is_some_and(|((known, empty), bound)| reported.time_ns > known + empty + tick_ns + bound)
    };
    length.standing = match () {
        () if length.reported.iter().any(is_too_short) => CalibrationStanding::TooShort,
        () if length.reported.iter().any(is_too_long) => CalibrationStanding::TooLong,
        () => CalibrationStanding::Within,
    };
}

/// Returns the largest drift or half of a confidence interval, each divided by the `unit` of its
/// length. Lengths without a unit do not count. `None` if none was measured twice.
fn noise(lengths: &[KnownLength], unit: impl Fn(&KnownLength) -> Option<f64>) -> Option<f64> {
    let of_length = |length: &KnownLength| {
        let (unit, drift) = (unit(length)?, length.drift_ns?);
        let intervals = length.reported.iter().filter_map(|reported| reported.ci95_ns);
        let halves = intervals.map(|[low, high]| (high - low) / 2.0);
        Some(halves.fold(drift.abs(), f64::max) / unit)
    };
    lengths.iter().filter_map(of_length).reduce(f64::max)
}

/// Returns the mean of the runs' times.
pub(super) fn time_of(length: &KnownLength) -> Option<f64> {
    let times: Vec<f64> = length.reported.iter().map(|reported| reported.time_ns).collect();
    mean(&times)
}

/// Returns how much of a call may be missing from the runs' times. `None` without a bound.
pub(super) fn bound_of(length: &KnownLength) -> Option<f64> {
    length
        .reported
        .iter()
        .filter_map(|reported| reported.bound_ns)
        .reduce(f64::max)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
