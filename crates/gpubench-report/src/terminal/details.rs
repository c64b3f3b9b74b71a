//! What is known of a case beyond the line in the table.

use std::time::Duration;

use super::text::NO_BREAK;
use gpubench_contract::Verdict;
use gpubench_contract::units::{percent, time, wall_time};
use gpubench_contract::{BenchmarkComplete, Stats};
use gpubench_diagnostic::printable_line;

/// Lines on the samples, on how they were taken and on what they amount to; none for a case that did not pass.
pub(super) fn phrases(result: &BenchmarkComplete) -> Vec<String> {
    let (Some(stats), Verdict::Pass) = (&result.stats, result.verdict) else {
        return Vec::new();
    };
    let mut phrases = vec![samples(stats), measurement(result)];
    phrases.extend(workers(result));
    phrases.extend(work(result));
    phrases.extend(grade(result));
    phrases.extend(result.notices.iter().map(|notice| printable_line(notice)));
    phrases
}

/// `min 1.199 ms · quartiles 1.202 to 1.206 ms · …`.
fn samples(stats: &Stats) -> String {
    let shown = |nanoseconds| time(nanoseconds).to_string();
    let [low, high] = stats.interval_ns();
    joined([
        Some(format!("min {}", shown(stats.min_ns))),
        Some(format!("quartiles {} and {}", shown(stats.q1_ns), shown(stats.q3_ns))),
        Some(format!("max {}", shown(stats.max_ns))),
        Some(format!("mean {}", shown(stats.mean_ns))),
        stats.stddev_ns.map(|stddev| format!("σ {}", shown(stddev))),
        Some(format!("95% of the median {} to {}", shown(low), shown(high))),
    ])
}

/// `stopped by median-interval · 14 windows (4 warm-up, 2 early-check) · …`.
fn measurement(result: &BenchmarkComplete) -> String {
    let counts = result.window_counts;
    let flagged = result.sample_flags.len();
    joined([
        result.stop.as_ref().map(|stop| format!("stopped by {}", stop.reason)),
        Some(format!(
            "{} windows ({} warm-up, {} early-check)",
            result.windows, counts.warm_up, counts.early_check
        )),
        (flagged > 0).then(|| format!("{flagged} disturbed")),
        result
            .event_overhead_ns
            .map(|overhead| format!("empty measurement {}", time(overhead))),
        result
            .host_ns
            .as_ref()
            .map(|host| format!("host {}", time(host.median_ns))),
        Some(format!("took {}", wall_time(Duration::from_nanos(result.wall_ns)))),
    ])
}

/// `5 workers, medians 3.33 µs to 3.46 µs, 95% of their mean 3.30 µs to 3.49 µs`; nothing where there is one.
fn workers(result: &BenchmarkComplete) -> Option<String> {
    let medians = || result.workers.iter().filter_map(|worker| worker.median_ns);
    let (lowest, highest) = (medians().reduce(f64::min)?, medians().reduce(f64::max)?);
    let number = result.workers.len();
    let interval = result.stats.as_ref().and_then(|stats| stats.workers_ci95_ns);
    let interval = interval.map(|[low, high]| format!(", 95% of their mean {} to {}", time(low), time(high)));
    let told = || {
        let interval = interval.unwrap_or_default();
        format!(
            "{number} workers, medians {} to {}{interval}",
            time(lowest),
            time(highest)
        )
        .replace(' ', NO_BREAK)
    };
    (number > 1).then(told)
}

/// `41.8% of peak bandwidth · y: largest error 1.2e-7 absolute`; nothing where neither is known.
fn work(result: &BenchmarkComplete) -> Option<String> {
    let throughput = &result.throughput;
    let phrase = joined([
        throughput
            .of_peak_bandwidth
            .map(|share| format!("{} of peak bandwidth", percent(share))),
        throughput
            .of_peak_flops
            .map(|share| format!("{} of peak compute", percent(share))),
        result.conservation.as_ref().map(|clocks| {
            format!(
                "claimed {}, observed {}",
                time(clocks.claimed_ns),
                time(clocks.observed_ns)
            )
        }),
        result.conservation.as_ref().and_then(|clocks| {
            let (excess, bound) = (clocks.excess_ns?, clocks.bound_ns?);
            Some(format!(
                "{:+.1} µs beyond a null worker, ±{:.1} µs explained",
                excess / 1e3,
                bound / 1e3
            ))
        }),
    ]);
    (!phrase.is_empty()).then_some(phrase)
}

/// `advisory: kernels of the CPU device are native code in the worker`.
fn grade(result: &BenchmarkComplete) -> Option<String> {
    let (grade, reason) = (result.grade?, result.grade_reason.as_deref()?);
    Some(format!("{grade}: {}", printable_line(reason)))
}

/// Phrases with dots between them, to be broken there only.
fn joined<const N: usize>(phrases: [Option<String>; N]) -> String {
    let unbroken = phrases
        .into_iter()
        .flatten()
        .map(|phrase| phrase.replace(' ', NO_BREAK));
    unbroken.collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::WorkerShare;
    use gpubench_contract::testing::on_gpu;

    #[test]
    fn the_medians_of_several_workers_are_told_and_those_of_one_are_not() {
        let mut result = on_gpu().results[0].clone();
        let told = workers(&result).map(|phrase| phrase.replace(NO_BREAK, " "));
        assert_eq!(
            told.as_deref(),
            Some("3 workers, medians 3.612 µs to 3.721 µs, 95% of their mean 3.503 µs to 3.801 µs")
        );
        result.workers.truncate(1);
        assert_eq!(workers(&result), None);
        let nothing = WorkerShare {
            samples: 0,
            median_ns: None,
        };
        result.workers = vec![nothing.clone(), nothing];
        assert_eq!(workers(&result), None);
    }
}
