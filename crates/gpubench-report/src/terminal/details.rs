//! The details of a case below its line in the table.

use std::collections::HashSet;
use std::time::Duration;

use crate::kernels;
use crate::wording::{mean, mean_of};
use gpubench_contract::units::{counted, energy, percent, size, time, wall_time};
use gpubench_contract::{
    AuditedSystemCall, BenchmarkComplete, CallAudit, Counts, DeviceWork, Environment, KernelUse, Metric, Stats,
    StepTimes, Verdict,
};
use gpubench_diagnostic::layout::unbroken;
use gpubench_diagnostic::printable_line;

/// Returns lines on the samples, the measurement and the results. Of a case that did not pass or
/// has no samples, only the notices.
pub(super) fn phrases(result: &BenchmarkComplete) -> Vec<String> {
    let notices = result.notices.iter().map(|notice| printable_line(notice));
    let (Some(stats), Verdict::Pass) = (&result.stats, result.verdict) else {
        return notices.collect();
    };
    let mut phrases = vec![samples(&result.metric, stats), measurement(result)];
    phrases.extend(calls(result));
    phrases.extend(workers(result));
    phrases.extend(work(result));
    phrases.extend(result.kernels.iter().flatten().map(kernel));
    phrases.extend(steps(&result.steps));
    phrases.extend(result.audit.as_ref().map(audit));
    phrases.extend(grade(result));
    phrases.extend(notices);
    phrases
}

/// `min 1.199 ms · quartiles 1.202 to 1.206 ms · …`.
fn samples(metric: &Metric, stats: &Stats) -> String {
    let shown = |value| metric.quantity(value).to_string();
    joined([
        stats
            .ci95
            .map(|interval| format!("95% interval of the {} {}", metric.name, metric.range(interval))),
        Some(format!("median {}", shown(stats.median))),
        Some(format!("quartiles {} and {}", shown(stats.q1), shown(stats.q3))),
        Some(format!("min {}", shown(stats.min))),
        Some(format!("max {}", shown(stats.max))),
        Some(format!("mean {}", shown(stats.mean))),
        stats.stddev.map(|stddev| format!("σ {}", shown(stddev))),
    ])
}

fn measurement(result: &BenchmarkComplete) -> String {
    let counts = result.window_counts;
    let parts = match counts.parts {
        0 => String::new(),
        parts => format!(", {parts} of single parts"),
    };
    let disturbed: HashSet<u64> = result.sample_flags.iter().map(|flag| flag.sample).collect();
    joined([
        result.stop.as_ref().map(|stop| format!("stopped by {}", stop.reason)),
        Some(format!(
            "{} windows ({} warm-up, {} early-check{parts})",
            result.windows, counts.warm_up, counts.early_check
        )),
        (counts.retaken > 0).then(|| format!("{} taken again", counted(counts.retaken, "throttled sample"))),
        (!disturbed.is_empty()).then(|| format!("{} disturbed", counted(disturbed.len() as u64, "sample"))),
        clock(&result.environment),
        result
            .energy_per_call_j
            .map(|joules| unbroken(&format!("{} per call", energy(joules)))),
        result.counts.as_ref().and_then(Counts::memory_in_use),
        result
            .event_overhead_ns
            .map(|overhead| format!("empty measurement {}", time(overhead))),
        result.device_work.as_ref().map(device_work),
        result
            .empty_call_ns
            .map(|empty| format!("wall time of an empty call: {}", time(empty))),
        result
            .call_wall_ns
            .map(|wall| format!("wall time of a call: {}", time(wall))),
        result
            .host_ns
            .as_ref()
            .map(|host| format!("host time {} per call", time(host.median_ns))),
        Some(format!("took {}", wall_time(Duration::from_nanos(result.wall_ns)))),
    ])
}

/// Returns `on the device 12.3 µs in 2 kernels and 1 memory operation`.
fn device_work(work: &DeviceWork) -> String {
    let kernels = counted(work.kernels.round() as u64, "kernel");
    let others = match (work.copies + work.memsets).round() as u64 {
        0 => String::new(),
        others => format!(" and {}", counted(others, "memory operation")),
    };
    format!("on the device {} in {kernels}{others}", time(work.busy_ns))
}

/// Returns `a call asks the driver for 2 launches, 1 copy of 4 KiB`, without what is zero, the
/// submissions if they were counted, and the system calls where they are timed.
fn audit(audit: &CallAudit) -> String {
    let submitted = audit.submissions.map(|submissions| match mean(submissions).as_str() {
        "1" => "submits work to the GPU once".to_owned(),
        number => format!("submits work to the GPU {number} times"),
    });
    let calls = audit.system_calls.as_ref();
    let calls = calls.map(|calls| format!("and makes {} while it is timed", system_calls(calls)));
    let parts = [Some(asked_of_driver(audit)), submitted, calls];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns `6 system calls (4 ioctl, 1.50 futex, 0.50 others)`.
fn system_calls(calls: &[AuditedSystemCall]) -> String {
    const NAMED: usize = 3;
    let (named, others) = calls.split_at(calls.len().min(NAMED));
    let sum = |calls: &[AuditedSystemCall]| calls.iter().map(|call| call.calls).sum::<f64>();
    let mut names: Vec<String> = named
        .iter()
        .map(|call| mean_of(call.calls, &printable_line(&call.name)))
        .collect();
    if !others.is_empty() {
        names.push(format!("{} others", mean(sum(others))));
    }
    match mean(sum(calls)).as_str() {
        _ if calls.is_empty() => "no system call".to_owned(),
        "1" => format!("1 system call ({})", names.join(", ")),
        number => format!("{number} system calls ({})", names.join(", ")),
    }
}

fn asked_of_driver(audit: &CallAudit) -> String {
    let copied = format!(" of {}", size(audit.copied_bytes as u64));
    let parts = [
        (audit.launches, ["launch", "launches"], ""),
        (audit.graph_launches, ["graph launch", "graph launches"], ""),
        (audit.copies, ["copy", "copies"], &*copied),
        (audit.memsets, ["memset", "memsets"], ""),
        (audit.allocations, ["allocation", "allocations"], ""),
        (audit.frees, ["free", "frees"], ""),
    ];
    let parts = parts.into_iter().filter(|(number, ..)| *number > 0.0);
    let parts: Vec<String> = parts
        .map(|(number, [one, several], of)| {
            if number == 1.0 {
                format!("1 {one}{of}")
            } else {
                format!("{} {several}{of}", mean(number))
            }
        })
        .collect();
    match &parts[..] {
        [] => "a call asks nothing of the driver".to_owned(),
        parts => format!("a call asks the driver for {}", parts.join(", ")),
    }
}

/// Returns `SM clock 1980 MHz`, and where it was locked.
fn clock(environment: &Environment) -> Option<String> {
    let clock_hz = environment.gpu.as_ref()?.sample_clock_hz?;
    let locked = environment.locked_sm_clock_mhz;
    let locked = locked.map(|megahertz| format!(", locked at {megahertz} MHz"));
    let shown = format!("SM clock {:.0} MHz{}", clock_hz / 1e6, locked.unwrap_or_default());
    Some(unbroken(&shown))
}

/// Returns the number of calls in a sample, and the time of a single one if it is known. `None` for
/// samples of one call.
fn calls(result: &BenchmarkComplete) -> Option<String> {
    let several = result.calls_per_sample > 1;
    let single = result.single_calls.map(|times| {
        format!(
            "one by one, a call takes {}, quartiles {}",
            time(times.median_ns),
            Metric::time().range([times.q1_ns, times.q3_ns])
        )
    });
    several.then(|| {
        joined([
            Some(format!("each sample is the mean of {} calls", result.calls_per_sample)),
            single,
        ])
    })
}

/// Returns `5 workers, each 3.33 µs to 3.46 µs`: the least and the largest value of a worker.
/// `None` if there is one worker.
fn workers(result: &BenchmarkComplete) -> Option<String> {
    let values = || result.workers.iter().filter_map(|worker| worker.value);
    let range = [values().reduce(f64::min)?, values().reduce(f64::max)?];
    let number = result.workers.len();
    let shown = || unbroken(&format!("{number} workers, each {}", result.metric.range(range)));
    (number > 1).then(shown)
}

/// Returns `41.8% of peak bandwidth · y: largest error 1.2e-7 absolute`. `None` if neither is
/// known.
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
                "claimed {}, observed {} including interprocess communication",
                time(clocks.claimed_ns),
                time(clocks.observed_ns)
            )
        }),
        result.conservation.as_ref().and_then(|clocks| {
            let (excess, bound) = (clocks.excess_ns?, clocks.bound_ns?);
            Some(format!("excess {:+.1} µs, bound ±{:.1} µs", excess / 1e3, bound / 1e3))
        }),
    ]);
    (!phrase.is_empty()).then_some(phrase)
}

/// `reduce<256>: 4096 blocks of 256 threads · 40 registers · 6 blocks per SM, …`.
fn kernel(kernel: &KernelUse) -> String {
    let phrases = [kernels::launched(kernel)].into_iter().chain(kernels::needs(kernel));
    let phrases: Vec<String> = phrases.map(|phrase| unbroken(&phrase)).collect();
    phrases.join(" · ")
}

/// `steps one by one: memset 2.112 µs · reduce<256> 9.472 µs · …`. `None` if they were not timed.
fn steps(steps: &[StepTimes]) -> Option<String> {
    let mut phrases = steps.iter().map(|step| {
        let name = printable_line(&step.step);
        unbroken(&format!("{name} {}", time(step.times.median_ns)))
    });
    let first = phrases.next()?;
    let rest: Vec<String> = phrases.collect();
    let all = [vec![unbroken("steps one by one: ") + &first], rest].concat();
    Some(all.join(" · "))
}

/// `unverified: kernels of the CPU device run inside the worker and could change the times that it
/// reports`.
fn grade(result: &BenchmarkComplete) -> Option<String> {
    let (grade, reason) = (result.grade?, result.grade_reason.as_deref()?);
    Some(format!("{grade}: {}", printable_line(reason)))
}

/// Joins phrases with dots. Lines break only between phrases.
fn joined<const N: usize>(phrases: [Option<String>; N]) -> String {
    let phrases = phrases.into_iter().flatten().map(|phrase| unbroken(&phrase));
    phrases.collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::{PartTimes, WorkerShare};
    use gpubench_testing::on_gpu;

    #[test]
    fn notices_are_shown_of_cases_without_samples_and_of_failed_ones() {
        let measured = BenchmarkComplete {
            notices: vec!["nobody wrote a tolerance".to_owned()],
            ..on_gpu().results[0].clone()
        };
        assert!(phrases(&measured).len() > 1);
        let tested = BenchmarkComplete {
            stats: None,
            ..measured.clone()
        };
        let failed = BenchmarkComplete {
            verdict: Verdict::WrongOutput,
            ..measured
        };
        for result in [tested, failed] {
            assert_eq!(phrases(&result), ["nobody wrote a tolerance"]);
        }
    }

    #[test]
    fn the_calls_of_a_sample_are_counted_if_there_are_several() {
        let one = on_gpu().results[0].clone();
        assert_eq!(calls(&one), None);
        let hot = BenchmarkComplete {
            calls_per_sample: 400,
            ..one
        };
        assert_eq!(calls(&hot), Some(unbroken("each sample is the mean of 400 calls")));
        let graph = BenchmarkComplete {
            single_calls: Some(PartTimes {
                n: 40,
                median_ns: 4_320.0,
                q1_ns: 4_290.0,
                q3_ns: 4_350.0,
                min_ns: 4_200.0,
                max_ns: 4_500.0,
            }),
            ..hot
        };
        let shown = calls(&graph).unwrap().replace('\u{a0}', " ");
        assert_eq!(
            shown,
            "each sample is the mean of 400 calls · one by one, a call takes 4.320 µs, quartiles 4.290 µs to 4.350 µs"
        );
    }

    #[test]
    fn an_audit_is_a_sentence_without_what_is_zero() {
        let nothing = CallAudit::default();
        assert_eq!(audit(&nothing), "a call asks nothing of the driver");
        let busy = CallAudit {
            launches: 2.0,
            copies: 1.0,
            copied_bytes: 4096.0,
            frees: 0.5,
            ..nothing
        };
        assert_eq!(
            audit(&busy),
            "a call asks the driver for 2 launches, 1 copy of 4 KiB, 0.50 frees"
        );
        let with = |submissions| {
            audit(&CallAudit {
                launches: 1.0,
                submissions: Some(submissions),
                ..CallAudit::default()
            })
        };
        let begin = "a call asks the driver for 1 launch, submits work to the GPU";
        assert_eq!(
            [1.0, 2.5].map(with),
            [format!("{begin} once"), format!("{begin} 2.50 times")]
        );
    }

    #[test]
    fn an_audit_names_the_most_frequent_system_calls_of_timed_host_code() {
        let of = |calls: &[(&str, f64)]| {
            let call = |(name, calls): &(&str, f64)| AuditedSystemCall {
                name: (*name).to_owned(),
                calls: *calls,
            };
            audit(&CallAudit {
                launches: 1.0,
                system_calls: Some(calls.iter().map(call).collect()),
                ..CallAudit::default()
            })
        };
        let begin = "a call asks the driver for 1 launch, and makes ";
        let shown = |calls: &[(&str, f64)]| of(calls).strip_prefix(begin).map(str::to_owned);
        assert_eq!(shown(&[]).as_deref(), Some("no system call while it is timed"));
        assert_eq!(
            shown(&[("ioctl", 1.0)]).as_deref(),
            Some("1 system call (1 ioctl) while it is timed")
        );
        let many = [
            ("ioctl", 4.0),
            ("futex", 1.5),
            ("read", 1.0),
            ("brk", 0.25),
            ("mmap", 0.25),
        ];
        assert_eq!(
            shown(&many).as_deref(),
            Some("7 system calls (4 ioctl, 1.50 futex, 1 read, 0.50 others) while it is timed")
        );
    }

    #[test]
    fn the_range_of_several_workers_is_shown_but_not_of_one() {
        let mut result = on_gpu().results[0].clone();
        let shown = unbroken("3 workers, each 3.612 µs to 3.721 µs");
        assert_eq!(workers(&result), Some(shown));
        result.workers.truncate(1);
        assert_eq!(workers(&result), None);
        let nothing = WorkerShare {
            samples: 0,
            value: None,
            placements: Vec::new(),
        };
        result.workers = vec![nothing.clone(), nothing];
        assert_eq!(workers(&result), None);
    }
}
