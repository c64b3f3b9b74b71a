//! From the results of a measurement to the record of a case.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;

use gpubench::catalog::Recording;
use gpubench::plan::Step;

use super::amounts::amounts;
use super::arithmetic::{limit, operand_type, reached_by};
use super::checks::{check_findings, checks};
use super::inputs::{stored_constants, unused_inputs};
use super::measured::Measured;
use super::outcome::Outcome;
use super::parts::{device_work, part_times, step_times};
use super::pass_criteria::{CheckFindings, Graded, PassCriteria, with_criteria};
use super::run::WorkerRun;
use super::twin::twin;
use crate::verdict::{Judgement, TimeUse, WindowEvidence, control_residuals, residual};
use gpubench_contract::{
    ArithmeticPeaks, BenchmarkComplete, Check, Conservation, Counts, Execution, FunctionCount, Grade, HostTime, Metric,
    MetricKind, Peaks, Stats, Stop, Throughput, WindowCounts, WorkerShare,
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
    /// Dynamic shared memory that every GPU has for a block, in bytes, if the device stands for
    /// GPUs.
    pub shared_everywhere: Option<u64>,
}

/// What the record of a case tells of its measurement. `recording` is that of one call.
#[derive(Debug)]
pub struct Figures<'r> {
    recording: &'r Recording,
    metric: &'r Metric,
    expectations: Expectations,
    measured: Measured,
    /// Added to each time, because calls take longer than host code claims.
    added_ns: Option<f64>,
    /// The samples of each worker.
    samples: Vec<Vec<f64>>,
    stats: Option<Stats>,
    checks: Vec<Check>,
    distinct_inputs: u64,
}

impl<'r> Figures<'r> {
    /// Computes the figures of a case.
    pub fn new(
        recording: &'r Recording,
        metric: &'r Metric,
        measured: Measured,
        expectations: Expectations,
    ) -> Figures<'r> {
        let added_ns = measured.balance.map(|balance| {
            if recording.execution.is_hosted() {
                balance.unclaimed_ns() / f64::from(measured.calls.get())
            } else {
                0.0
            }
        });
        let with_added = |run: &WorkerRun| -> Vec<f64> {
            let values = run.samples.values.iter();
            values.map(|value| value + added_ns.unwrap_or_default()).collect()
        };
        let samples: Vec<Vec<f64>> = measured.workers.iter().map(with_added).collect();
        let windows: Vec<&WindowEvidence> = measured.windows().collect();
        Figures {
            recording,
            metric,
            expectations,
            added_ns,
            stats: summary(&slices(&samples)),
            samples,
            checks: checks(recording, measured.calls, &windows, measured.judgement.window),
            distinct_inputs: distinct_inputs(recording, measured.calls, &windows),
            measured,
        }
    }

    /// Returns the number of samples of all workers.
    pub fn sample_count(&self) -> usize {
        self.measured.sample_count()
    }

    /// Returns how the case ended, by the judgement and by the criteria that it must meet.
    pub fn outcome(&self) -> Outcome {
        let Judgement {
            verdict,
            cause,
            grade_reason,
            ..
        } = &self.measured.judgement;
        let judged = Outcome {
            verdict: *verdict,
            cause: *cause,
            message: self.measured.message(),
            notices: self.notices(),
        };
        let graded = Graded {
            grade: self.grade(),
            reason: grade_reason.as_deref(),
            execution: self.execution(),
        };
        with_criteria(judged, graded, self.findings(), self.expectations.criteria)
    }

    fn workers(&self) -> Vec<WorkerShare> {
        let workers = self.samples.iter().zip(&self.measured.workers);
        let share = |(samples, run): (&Vec<f64>, &WorkerRun)| WorkerShare {
            placements: run.placements.shares(samples.len()),
            ..worker_share(samples)
        };
        workers.map(share).collect()
    }

    /// Returns the record of the case with this outcome, and with the rest of `unmeasured`.
    pub fn record(self, outcome: Outcome, unmeasured: BenchmarkComplete) -> BenchmarkComplete {
        let Measured { workers, judgement, .. } = &self.measured;
        let gate = self.measured.gate;
        let may_wait = self.recording.execution.may_wait();
        let energy = workers.iter().find_map(|run| run.energy);
        BenchmarkComplete {
            calls_per_sample: self.measured.calls.get().into(),
            execution: Some(self.execution()),
            grade: self.grade(),
            grade_reason: judgement.grade_reason.clone().filter(|_| self.grade().is_some()),
            workers: self.workers(),
            // A held call waits, so how long it works on the host is not known.
            host_ns: host_time(&all(workers, |run| &run.samples.host_ns)).filter(|_| !may_wait || gate == Gate::Host),
            steps: step_times(self.recording, &all(workers, |run| &run.parts.steps_ns)),
            single_calls: part_times(all(workers, |run| &run.parts.singles_ns)),
            event_overhead_ns: self.event_overhead_ns().filter(|_| gate == Gate::Stream),
            empty_call_ns: self.measured.empty_call_ns.filter(|_| gate == Gate::Host),
            call_wall_ns: call_wall_ns(workers),
            device_work: device_work(&all(workers, |run| &run.parts.device_work)).filter(|_| may_wait),
            energy_per_call_j: energy.map(|energy| energy.per_call_j),
            energy_resolution_j: energy.map(|energy| energy.resolution_j),
            stop: self.stop(),
            throughput: self.throughput(),
            counts: counts(self.metric, last_counts(workers)),
            windows: self.measured.windows().count() as u64,
            window_counts: window_counts(&self.measured),
            conservation: self.conservation(),
            twin: twin(workers).filter(|_| self.metric.is_time()),
            samples: self.samples.concat(),
            stats: self.stats,
            checks: self.checks,
            distinct_inputs: self.distinct_inputs,
            sharing: self.measured.sharing,
            budget: self.measured.budget,
            sanitizer: self.measured.sanitizer,
            failed_alternating: self.measured.failed_alternating,
            evidence: self.measured.evidence,
            ..outcome.record(unmeasured)
        }
    }

    fn execution(&self) -> Execution {
        match self.recording.execution {
            gpubench::catalog::Execution::Sealed => Execution::Sealed,
            gpubench::catalog::Execution::Hosted => Execution::Hosted,
            // The device times a call that its stream holds.
            gpubench::catalog::Execution::HostedSync => match self.measured.gate {
                Gate::Stream => Execution::Hosted,
                Gate::Host => Execution::HostedSync,
            },
        }
    }

    /// Returns the grade of a case that has samples.
    fn grade(&self) -> Option<Grade> {
        (self.measured.sample_count() > 0).then_some(self.measured.judgement.grade)
    }

    /// Returns the notices about the measurement, its work, its counts and its times.
    fn notices(&self) -> Vec<String> {
        let limit = limit(
            &self.expectations.peak_arithmetic,
            operand_type(&self.recording.tensors),
        );
        let found = [
            doubtful_flops(&self.throughput(), limit),
            varying_counts(self.metric, &self.samples.concat()),
            self.added_ns.and_then(unclaimed),
            self.expectations
                .shared_everywhere
                .and_then(|everywhere| larger_shared(self.recording, everywhere)),
        ];
        let measured = self.measured.notices.iter().cloned();
        measured.chain(found.into_iter().flatten()).collect()
    }

    /// Returns what the checks cannot detect.
    fn findings(&self) -> CheckFindings {
        let windows: Vec<&WindowEvidence> = self.measured.windows().collect();
        let mut findings = check_findings(self.recording, &windows, &self.checks, self.distinct_inputs);
        findings.notices.extend(unused_inputs(self.recording));
        findings.notices.extend(stored_constants(self.recording));
        findings
    }

    fn event_overhead_ns(&self) -> Option<f64> {
        let overheads_ns = self.measured.workers.iter().filter_map(|run| run.overhead_ns);
        median(&overheads_ns.collect::<Vec<_>>()).filter(|_| self.metric.is_time())
    }

    fn stop(&self) -> Option<Stop> {
        self.measured.stop.map(|reason| Stop {
            reason,
            target_cv: self.expectations.target_cv,
        })
    }

    /// Returns the throughput of a call's work, compared with the peaks for the case's operand
    /// type.
    fn throughput(&self) -> Throughput {
        let Some(stats) = self.stats.as_ref().filter(|_| self.metric.is_time()) else {
            return Throughput::default();
        };
        let of = |peaks| Throughput::new(amounts(self.recording), stats.value, peaks);
        let arithmetic = &self.expectations.peak_arithmetic;
        let peaks = Peaks {
            bandwidth: self.expectations.peak_bandwidth,
            flops: None,
        };
        let flops = of(peaks)
            .flops_per_s
            .and_then(|rate| reached_by(arithmetic, rate, operand_type(&self.recording.tensors)));
        of(Peaks { flops, ..peaks })
    }

    /// Returns the comparison of the claims with the referee's clock, with the residuals.
    fn conservation(&self) -> Option<Conservation> {
        let sampled = self.measured.sampled();
        let windows = if sampled.is_empty() {
            self.measured.windows().collect()
        } else {
            sampled.clone()
        };
        let (claimed, observed) = claimed_and_observed(windows).filter(|_| self.metric.is_time())?;
        let controls = claimed_and_observed(self.measured.controls());
        // Nothing is subtracted.
        let clocks = Conservation::new(
            claimed,
            observed,
            controls.map(|(claimed, observed)| observed - claimed),
        )?;
        let Some(balance) = self.measured.balance else {
            return Some(clocks);
        };
        let afterwards = self.measured.controls_afterwards.iter();
        Some(Conservation {
            residuals_ns: residuals(&sampled, self.measured.sample_count()),
            control_residuals_ns: whole(compared_with(&balance, self.measured.controls(), afterwards)),
            control_shares: control_shares(&balance, &self.measured.workers),
            verified_ns: Some(balance.verified_ns),
            added_ns: self.added_ns,
            excess_ns: Some(balance.excess_ns),
            bound_ns: Some(balance.bound_ns),
            ..clocks
        })
    }
}

/// Returns what all workers have of something, in order.
fn all<T: Clone>(workers: &[WorkerRun], of: impl Fn(&WorkerRun) -> &Vec<T>) -> Vec<T> {
    workers.iter().flat_map(|run| of(run).iter().cloned()).collect()
}

fn slices(samples: &[Vec<f64>]) -> Vec<&[f64]> {
    samples.iter().map(Vec::as_slice).collect()
}

/// Returns the parts of the last count of a case.
fn last_counts(workers: &[WorkerRun]) -> Vec<Count> {
    let mut counts = workers.iter().map(|run| &run.samples.counts);
    counts.rfind(|counts| !counts.is_empty()).cloned().unwrap_or_default()
}

/// Returns the hardware metrics of a measurement by name.
pub fn hardware_metrics(measured: &Measured) -> BTreeMap<String, f64> {
    let counts = last_counts(&measured.workers).into_iter();
    counts.map(|count| (count.of, count.value)).collect()
}

/// Returns the counts of one call, those of functions the largest first. `None` if nothing was
/// counted.
fn counts(metric: &Metric, counts: Vec<Count>) -> Option<Counts> {
    match metric.kind().filter(|_| !counts.is_empty())? {
        MetricKind::Instructions => Some(Counts {
            functions: functions(counts),
            ..Counts::default()
        }),
        MetricKind::Memory => Some(Counts {
            memory: counts.into_iter().map(|count| (count.of, count.value)).collect(),
            ..Counts::default()
        }),
        MetricKind::Time | MetricKind::Energy | MetricKind::Hardware => None,
    }
}

/// Adds up the instructions of each function.
fn functions(counts: Vec<Count>) -> Vec<FunctionCount> {
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
    functions
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
fn distinct_inputs(recording: &Recording, calls: NonZeroU32, windows: &[&WindowEvidence]) -> u64 {
    if !recording.tensors.iter().any(|tensor| tensor.role.is_input()) {
        return 0;
    }
    let checked = windows.iter().filter(|window| window.facts.end == WindowEnd::Checked);
    let of_window = |window: &&WindowEvidence| match window.facts.kind.made_calls() {
        MadeCalls::All => u64::from(calls.get()),
        MadeCalls::First => 1,
    };
    // Workers may get the same inputs, and one of them use those of the first call only.
    let mut by_number: HashMap<u32, (u64, u64)> = HashMap::new();
    for window in checked {
        let found = (of_window(window), window.facts.input_digest);
        let most = by_number.entry(window.inputs).or_insert(found);
        *most = found.max(*most);
    }
    let by_digest = by_number.into_values().map(|(calls, digest)| (digest, calls));
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

/// Returns the median time from outside of calls that a stream holds in other windows. The first
/// of each worker loads kernels.
fn call_wall_ns(workers: &[WorkerRun]) -> Option<f64> {
    let outside = workers.iter().filter_map(|run| run.parts.outside_ns.get(1..));
    median(&outside.flatten().copied().collect::<Vec<f64>>())
}

fn window_counts(measured: &Measured) -> WindowCounts {
    let sampled = measured.sampled();
    let of_kind = |kind| sampled.iter().filter(|window| window.facts.kind == kind).count() as u64;
    let [early_check, parts, single] = [WindowKind::EarlyCheck, WindowKind::Parts, WindowKind::Single].map(of_kind);
    let used_for = |wanted| measured.windows().filter(|window| window.time_use == wanted).count() as u64;
    WindowCounts {
        warm_up: used_for(TimeUse::WarmUp),
        timed: sampled.len() as u64 - early_check - parts - single,
        retaken: used_for(TimeUse::ThrownAway),
        energy: used_for(TimeUse::Energy),
        early_check,
        parts,
        single,
        control: (measured.controls().count() + measured.controls_afterwards.len()) as u64,
    }
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

/// Returns the residuals of the control windows that the claims were compared with: the interleaved
/// ones, or those after the worker's end if it disturbed the interleaved ones.
fn compared_with<'a>(
    balance: &TimingAudit,
    interleaved: impl Iterator<Item = &'a WindowEvidence>,
    afterwards: impl Iterator<Item = &'a WindowEvidence>,
) -> Vec<f64> {
    match balance.disturbance_ns {
        None => control_residuals(interleaved),
        Some(_) => control_residuals(afterwards),
    }
}

/// Returns how many of the compared control windows belong to each worker.
fn control_shares(balance: &TimingAudit, workers: &[WorkerRun]) -> Vec<u64> {
    if balance.disturbance_ns.is_some() {
        return Vec::new();
    }
    let residuals = workers.iter().map(|run| control_residuals(&run.controls.windows));
    residuals.map(|residuals| residuals.len() as u64).collect()
}

fn whole(times_ns: impl IntoIterator<Item = f64>) -> Vec<i64> {
    times_ns.into_iter().map(|ns| ns.round() as i64).collect()
}

/// Returns the mean claim and the mean time by the referee's clock of timed windows.
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

/// Returns a notice about a launch with more dynamic shared memory than every GPU has.
fn larger_shared(recording: &Recording, everywhere: u64) -> Option<String> {
    let launches = recording.plan.steps.iter().filter_map(|step| match step {
        Step::Launch(launch) => Some(launch),
        Step::Memset { .. } | Step::Copy { .. } => None,
    });
    let largest = launches.max_by_key(|launch| launch.dynamic_shared)?;
    (u64::from(largest.dynamic_shared) > everywhere).then(|| {
        format!(
            "kernel `{}` has {} bytes of dynamic shared memory, more than the {everywhere} that every GPU has",
            largest.kernel.name, largest.dynamic_shared
        )
    })
}

#[cfg(test)]
mod tests;
