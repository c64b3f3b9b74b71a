//! Writes the results of a measurement into the record of a case.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::ops::Range;

use gpubench::catalog::Recording;

use super::checks::{check_findings, checks};
use super::inputs::unused_inputs;
use super::measured::Measured;
use super::parts::{device_work, part_times, step_times};
use super::pass_criteria::{PassCriteria, apply_criteria};
use super::twin::twin;
use crate::verdict::{ControlWindows, Judgement, TimeUse, WindowEvidence, control_residuals, residual, sampled};
use gpubench_contract::{
    ArithmeticPeaks, BenchmarkComplete, Conservation, Counts, Execution, FunctionCount, HostTime, Metric, Peaks, Stop,
    Throughput, Verdict, WindowCounts, operand_type, split_by_worker,
};
use gpubench_device::Count;
use gpubench_protocol::window::{Gate, MadeCalls, WindowKind};
use gpubench_protocol::wire::WindowEnd;
use gpubench_stats::{TimingAudit, median, summary, worker_share};

/// Targets and limits to compare a measurement with.
#[derive(Clone, Copy, Debug)]
pub struct Expectations {
    /// The coefficient of variation that the samples should reach.
    pub target_cv: f64,
    /// Peak bandwidth of the device in bytes per second, if known.
    pub peak_bandwidth: Option<f64>,
    /// Peak arithmetic rates of the device in operations per second.
    pub peak_arithmetic: ArithmeticPeaks,
    /// Criteria in addition to being right.
    pub criteria: PassCriteria,
}

/// Writes a measurement into a case's record.
///
/// `recording` is that of one call.
pub fn fill_in(record: &mut BenchmarkComplete, recording: &Recording, measured: Measured, expectations: Expectations) {
    record.calls_per_sample = measured.calls.get().into();
    let calls = record.calls_per_sample as f64;
    record.verdict = measured.judgement.verdict;
    record.cause = measured.judgement.cause;
    record.message = measured.judgement.message;
    record.execution = Some(match recording.execution {
        gpubench::catalog::Execution::Sealed => Execution::Sealed,
        gpubench::catalog::Execution::Hosted => Execution::Hosted,
        gpubench::catalog::Execution::HostedSync => Execution::HostedSync,
    });
    record.grade = (!measured.samples.is_empty()).then_some(measured.judgement.grade);
    record.grade_reason = measured.judgement.grade_reason.filter(|_| record.grade.is_some());
    let added_ns = measured.balance.map(|balance| match recording.execution.is_hosted() {
        false => 0.0,
        true => balance.unclaimed_ns() / calls,
    });
    let samples: Vec<f64> = measured
        .samples
        .iter()
        .map(|claim_ns| claim_ns + added_ns.unwrap_or_default())
        .collect();
    let by_worker =
        split_by_worker(&samples, measured.worker_samples.iter().map(|samples| *samples as u64)).unwrap_or_default();
    record.workers = by_worker.iter().map(|samples| worker_share(samples)).collect();
    record.stats = summary(&by_worker);
    record.host_ns = host_time(&measured.host_ns);
    record.steps = step_times(recording, &measured.parts_ns);
    record.single_calls = part_times(measured.singles_ns);
    record.sharing = measured.sharing;
    match Gate::of(recording.execution) {
        Gate::Stream => record.event_overhead_ns = measured.event_overhead_ns.filter(|_| record.metric.is_time()),
        Gate::Host => {
            record.empty_call_ns = measured.empty_call_ns;
            record.device_work = device_work(&measured.device_work);
        }
    }
    if let Some(energy) = measured.energy {
        record.energy_per_call_j = Some(energy.per_call_j);
        record.energy_resolution_j = Some(energy.resolution_j);
    }
    record.budget = measured.budget;
    record.stop = measured.stop.map(|reason| Stop {
        reason,
        target_cv: expectations.target_cv,
    });
    record.throughput = match &record.stats {
        Some(stats) if record.metric.is_time() => throughput(recording, stats.value, &expectations),
        _ => Throughput::default(),
    };
    record.counts = counts(&record.metric, measured.counts);
    record.checks = checks(recording, measured.calls, &measured.windows, measured.judgement.window);
    record.windows = measured.windows.len() as u64;
    record.window_counts = count(
        &measured.windows,
        &measured.warm_ups,
        measured.control_windows.len() + measured.controls_afterwards.len(),
    );
    record.distinct_inputs = distinct_inputs(recording, measured.calls, &measured.windows);
    record.sanitizer = measured.sanitizer;
    record.failed_alternating = measured.failed_alternating;
    record.notices = measured.notices;
    let limit = expectations.peak_arithmetic.limit(operand_type(&recording.tensors));
    record.notices.extend(doubtful_flops(&record.throughput, limit));
    record.notices.extend(varying_counts(&record.metric, &samples));
    let mut findings = check_findings(recording, &measured.windows, &record.checks, record.distinct_inputs);
    findings.notices.extend(unused_inputs(recording));
    record.conservation = conservation(
        &sampled_or_all(&measured.windows, &measured.warm_ups),
        &measured.control_windows,
    )
    .filter(|_| record.metric.is_time())
    .map(|clocks| match measured.balance {
        None => clocks,
        Some(balance) => Conservation {
            residuals_ns: residuals(&sampled(&measured.windows, &measured.warm_ups), measured.samples.len()),
            control_residuals_ns: whole(control_residuals(compared_with(
                &balance,
                &measured.control_windows,
                &measured.controls_afterwards,
            ))),
            control_shares: control_shares(&balance, &measured.control_windows, &measured.control_turns),
            verified_ns: Some(balance.verified_ns),
            added_ns,
            excess_ns: Some(balance.excess_ns),
            bound_ns: Some(balance.bound_ns),
            ..clocks
        },
    });
    let control = ControlWindows {
        windows: &measured.control_windows,
        turns: &measured.control_turns,
        ..ControlWindows::default()
    };
    let twin = twin(&measured.windows, &measured.warm_ups, control);
    record.twin = twin.filter(|_| record.metric.is_time());
    record.notices.extend(added_ns.and_then(unclaimed));
    record.samples = samples;
    apply_criteria(record, findings, expectations.criteria);
}

/// Adds the hardware metrics of a measurement to a case's record. If a call failed there, the
/// record has its failure.
pub fn add_hardware(record: &mut BenchmarkComplete, measured: Measured, counted_by: Option<&str>) {
    let Judgement {
        verdict,
        cause,
        message,
        ..
    } = measured.judgement;
    if verdict != Verdict::Pass {
        (record.verdict, record.cause) = (verdict, cause);
        record.message = message.map(|message| format!("while hardware metrics were read: {message}"));
        return;
    }
    let counts = record.counts.get_or_insert_with(|| Counts {
        counted_by: counted_by.unwrap_or_default().to_owned(),
        ..Counts::default()
    });
    let values = measured.counts.into_iter();
    counts.hardware = values.map(|count| (count.of, count.value)).collect();
}

/// Returns the counts of one call, largest first. `None` if nothing was counted.
fn counts(metric: &Metric, counts: Vec<Count>) -> Option<Counts> {
    if counts.is_empty() || !metric.is_count() {
        return None;
    }
    let mut functions: Vec<FunctionCount> = Vec::new();
    for Count { range, of, value } in counts {
        let function = Some(of).filter(|function| !function.is_empty());
        let known = functions
            .iter_mut()
            .find(|known| (&known.kernel, &known.function) == (&range, &function));
        match known {
            Some(known) => known.instructions += value,
            None => functions.push(FunctionCount {
                kernel: range,
                function,
                instructions: value,
            }),
        }
    }
    functions.sort_by(|one, other| other.instructions.total_cmp(&one.instructions));
    Some(Counts {
        functions,
        ..Counts::default()
    })
}

/// Returns a notice that calls have different counts.
fn varying_counts(metric: &Metric, samples: &[f64]) -> Option<String> {
    let low = samples.iter().copied().reduce(f64::min)?;
    let high = samples.iter().copied().reduce(f64::max)?;
    (metric.is_count() && high > low).then(|| {
        format!(
            "the counts of its calls differ, from {low} to {high}: with the inputs, or with the order of threads that wait or retry"
        )
    })
}

/// Returns a notice that samples are longer than the claims of host code.
fn unclaimed(added_ns: f64) -> Option<String> {
    let added = format!("{:.1}", added_ns / 1e3);
    (added_ns > 0.0).then(|| {
        format!("{added} µs were added to each sample, because calls take longer by the referee's clock than the worker claims: work may run outside of the calls' events")
    })
}

/// Returns the throughput of the declared work, compared with the peaks for the case's operand
/// type.
fn throughput(recording: &Recording, time_ns: f64, expectations: &Expectations) -> Throughput {
    let peaks = Peaks {
        bandwidth: expectations.peak_bandwidth,
        flops: None,
    };
    let rates = Throughput::of(recording.work, time_ns, peaks);
    let reached = |rate| {
        expectations
            .peak_arithmetic
            .reached_by(rate, operand_type(&recording.tensors))
    };
    Throughput::of(
        recording.work,
        time_ns,
        Peaks {
            flops: rates.flops_per_s.and_then(reached),
            ..peaks
        },
    )
}

/// Summarizes host times. Returns `None` if there are none or one is not finite.
fn host_time(times_ns: &[f64]) -> Option<HostTime> {
    Some(HostTime {
        median_ns: median(times_ns)?,
        min_ns: times_ns.iter().copied().reduce(f64::min)?,
        max_ns: times_ns.iter().copied().reduce(f64::max)?,
    })
}

/// Counts the different inputs of the calls in checked windows, each of which has up to `calls`; 0
/// for a case without inputs.
fn distinct_inputs(recording: &Recording, calls: NonZeroU32, windows: &[WindowEvidence]) -> u64 {
    if !recording.tensors.iter().any(|tensor| tensor.role.is_input()) {
        return 0;
    }
    let checked = windows.iter().filter(|window| window.facts.end == WindowEnd::Checked);
    let of_window = |window: &WindowEvidence| match window.facts.kind.made_calls() {
        MadeCalls::All => u64::from(calls.get()),
        MadeCalls::First => 1,
    };
    let by_digest = checked.map(|window| (window.facts.input_digest, of_window(window)));
    by_digest.collect::<HashMap<_, _>>().into_values().sum()
}

/// Returns a notice if the declared operations exceed the device's peak for the type of the inputs.
/// The declaration is wrong, counts operations that the peak does not, or the kernel converts its
/// inputs to a type with a higher peak.
fn doubtful_flops(throughput: &Throughput, limit: Option<f64>) -> Option<String> {
    let share = throughput.flops_per_s? / limit?;
    let notice = |share: f64| {
        let times = format!("{share:.2}");
        format!(
            "the declared operations are {times} times what the device can do in that time with the type of the inputs: `flops` is too high, counts operations that the peak does not, or the kernel computes in a narrower type"
        )
    };
    (share > 1.0).then(|| notice(share))
}

fn count(windows: &[WindowEvidence], warm_ups: &[Range<usize>], control: usize) -> WindowCounts {
    let sampled = sampled(windows, warm_ups);
    let of_kind = |kind| sampled.iter().filter(|window| window.facts.kind == kind).count() as u64;
    let [early_check, parts, single] = [WindowKind::EarlyCheck, WindowKind::Parts, WindowKind::Single].map(of_kind);
    let used_for = |wanted| windows.iter().filter(|window| window.time_use == wanted).count() as u64;
    let (retaken, energy) = (used_for(TimeUse::ThrownAway), used_for(TimeUse::Energy));
    WindowCounts {
        warm_up: (windows.len() - sampled.len()) as u64 - retaken - energy,
        timed: sampled.len() as u64 - early_check - parts - single,
        retaken,
        energy,
        early_check,
        parts,
        single,
        control: control as u64,
    }
}

/// Returns the sampled windows, or all windows if none was sampled.
fn sampled_or_all<'a>(windows: &'a [WindowEvidence], warm_ups: &[Range<usize>]) -> Vec<&'a WindowEvidence> {
    match sampled(windows, warm_ups) {
        none if none.is_empty() => windows.iter().collect(),
        sampled => sampled,
    }
}

/// Returns the mean claim and the mean time by the referee's clock of timed windows, and the mean
/// difference in control windows. Nothing is subtracted.
fn conservation(windows: &[&WindowEvidence], control_windows: &[WindowEvidence]) -> Option<Conservation> {
    let worker = claimed_and_observed(windows.iter().copied())?;
    let control_ns = claimed_and_observed(control_windows).map(|(claimed, observed)| observed - claimed);
    Conservation::of(worker.0, worker.1, control_ns)
}

/// Returns the residuals of the first `samples` windows. Failed windows come last and are left out.
fn residuals(sampled: &[&WindowEvidence], samples: usize) -> Vec<i64> {
    let residuals = sampled.iter().filter_map(|window| residual(window));
    let of_samples = whole(residuals.take(samples));
    // If a sample lacked its window, all later residuals would be off by one.
    if of_samples.len() == samples {
        of_samples
    } else {
        Vec::new()
    }
}

/// Returns the control windows that the claims were compared with: the interleaved ones, or those
/// after the worker's end if it disturbed the interleaved ones.
fn compared_with<'a>(
    balance: &TimingAudit,
    interleaved: &'a [WindowEvidence],
    afterwards: &'a [WindowEvidence],
) -> &'a [WindowEvidence] {
    match balance.disturbance_ns {
        None => interleaved,
        Some(_) => afterwards,
    }
}

/// Returns how many of the compared control windows belong to each worker.
fn control_shares(balance: &TimingAudit, windows: &[WindowEvidence], turns: &[usize]) -> Vec<u64> {
    if balance.disturbance_ns.is_some() {
        return Vec::new();
    }
    let control = ControlWindows {
        windows,
        turns,
        ..ControlWindows::default()
    };
    let of_workers = control.by_worker().skip(1).take(turns.len());
    of_workers
        .map(|windows| control_residuals(windows).len() as u64)
        .collect()
}

fn whole(times_ns: impl IntoIterator<Item = f64>) -> Vec<i64> {
    times_ns.into_iter().map(|ns| ns.round() as i64).collect()
}

fn claimed_and_observed<'a>(windows: impl IntoIterator<Item = &'a WindowEvidence>) -> Option<(f64, f64)> {
    let timed = windows
        .into_iter()
        .filter(|window| window.facts.kind.is_timed() && window.facts.end == WindowEnd::Checked);
    let pairs: Vec<(f64, f64)> = timed
        .filter_map(|window| {
            let observed = window.facts.s2_ns.saturating_sub(window.facts.s1_ns);
            Some((window.elapsed_ns()?, observed as f64))
        })
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
    Some((mean(|pair| pair.0), mean(|pair| pair.1)))
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;
    use gpubench::catalog::DType;

    use super::*;
    use gpubench_protocol::wire::{Claim, WindowFacts};
    use gpubench_stats::{Clocked, ClockedTurn};

    fn window(kind: WindowKind, end: WindowEnd, claim_ns: Option<f64>) -> WindowEvidence {
        let facts = WindowFacts {
            kind,
            end,
            s1_ns: 1_000,
            s2_ns: 301_000,
            ..WindowFacts::zeroed()
        };
        let claim = claim_ns.map(|elapsed_ns| Claim {
            elapsed_ns,
            ..Claim::empty(1)
        });
        WindowEvidence::new(Box::new(facts), claim.map(Box::new))
    }

    #[test]
    fn there_is_a_residual_for_each_sample_or_none_at_all() {
        let (timed, early) = (WindowKind::Timed, WindowKind::EarlyCheck);
        let windows = [
            window(timed, WindowEnd::Checked, Some(9_000.4)),
            window(early, WindowEnd::Checked, Some(0.0)),
            window(timed, WindowEnd::Checked, Some(300_032.0)),
            // A failed window without a sample.
            window(timed, WindowEnd::Checked, Some(10_000.0)),
        ];
        let all: Vec<&WindowEvidence> = windows.iter().collect();
        assert_eq!(residuals(&all, 2), [291_000, -32]);
        let unclaimed = window(timed, WindowEnd::NotDone, None);
        assert_eq!(residuals(&[all[0], &unclaimed], 2), [0; 0]);
    }

    #[test]
    fn only_counts_that_differ_are_noticed() {
        let counted = Metric::instructions();
        assert_eq!(varying_counts(&counted, &[92.0; 3]), None);
        assert_eq!(varying_counts(&Metric::time(), &[92.0, 93.0]), None);
        let notice = varying_counts(&counted, &[92.0, 94.0, 91.0]);
        assert!(notice.is_some_and(|notice| notice.contains("from 91 to 94")));
    }

    #[test]
    fn operations_are_doubted_only_beyond_the_peak_of_their_type() {
        let peaks = ArithmeticPeaks {
            f32: Some(67e12),
            bf16: Some(989e12),
            ..ArithmeticPeaks::default()
        };
        let doubt = |operands| {
            let throughput = Throughput {
                flops_per_s: Some(700e12),
                ..Throughput::default()
            };
            doubtful_flops(&throughput, peaks.limit(operands))
        };
        assert_eq!(doubt(Some(DType::BF16)), None);
        assert_eq!(doubt(None), None, "it may be any type");
        assert!(doubt(Some(DType::F32)).is_some_and(|notice| notice.contains("10.45 times")));
    }

    #[test]
    fn disturbed_control_windows_are_replaced_by_those_after_the_end() {
        let control = |length_ns: u64| {
            let mut window = window(WindowKind::Control, WindowEnd::Checked, Some(0.0));
            window.facts.s2_ns = window.facts.s1_ns + length_ns;
            window
        };
        let windows = |length_ns: u64| [0, 20, 40, 60, 80, 100, 120, 140].map(|more| control(length_ns + more));
        let compared = |interleaved_ns: u64| {
            let (interleaved, afterwards) = (windows(interleaved_ns), windows(290_000));
            let clocked = Clocked {
                claim_ns: 10_000.0,
                residual_ns: 291_000.0,
            };
            let turn = ClockedTurn {
                windows: vec![clocked; 8],
                control_ns: control_residuals(&interleaved),
            };
            let balance = TimingAudit::of(&[turn], &control_residuals(&afterwards));
            let compared = compared_with(&balance.unwrap(), &interleaved, &afterwards);
            whole(control_residuals(compared))[0]
        };
        assert_eq!(compared(291_000), 291_000);
        assert_eq!(compared(350_000), 290_000);
    }
}
