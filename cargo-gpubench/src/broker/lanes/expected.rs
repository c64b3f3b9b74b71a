//! How long cases are expected to take, so that the longest begin first.

use std::collections::HashMap;
use std::time::Duration;

use gpubench::catalog::Recording;

use super::job::Job;
use crate::admission::memory_needed;
use gpubench_contract::{BenchmarkComplete, ResultKey};
use gpubench_device::Facts;
use gpubench_protocol::window::CodePlacement;

/// What a case takes besides its calls: several processes, each with a context.
const OF_PROCESSES: f64 = 1.0;

/// Calls of a case, all together. Only the order of cases depends on it.
const CALLS: f64 = 300.0;

/// Bytes a second of a device whose bandwidth is not known, and operations a second.
const USUAL_BANDWIDTH: f64 = 1e12;
const USUAL_ARITHMETIC: f64 = 1e13;

/// How fast inputs and expected outputs are made and compared, in bytes a second.
const CHECKED: f64 = 1e10;

/// How long results took in earlier runs.
#[derive(Debug, Default)]
pub(in crate::broker) struct PastDurations(HashMap<ResultKey, Duration>);

impl PastDurations {
    /// Returns the durations of some results.
    pub(in crate::broker) fn of<'r>(results: impl IntoIterator<Item = &'r BenchmarkComplete>) -> PastDurations {
        let known = results.into_iter();
        PastDurations(
            known
                .map(|result| (result.key(), Duration::from_nanos(result.wall_ns)))
                .collect(),
        )
    }

    /// Returns how long groups of jobs are expected to take, in seconds. What was measured before
    /// takes as long again, and the rest what its declared work suggests.
    pub(in crate::broker) fn expected(&self, groups: &[Vec<&Job<'_>>], facts: &Facts) -> f64 {
        groups.iter().map(|group| self.expected_of_group(group, facts)).sum()
    }

    fn expected_of_group(&self, group: &[&Job<'_>], facts: &Facts) -> f64 {
        let known = self.known(group.iter().map(|job| job.announced.key()));
        known.unwrap_or_else(|| group.iter().map(|job| declared(job, facts)).sum())
    }

    /// Returns how long results that were measured together took, if all of them are known. Each
    /// contestant has the duration of the whole contest.
    fn known(&self, group: impl Iterator<Item = ResultKey>) -> Option<f64> {
        let past = group.map(|key| Some(self.0.get(&key)?.as_secs_f64()));
        Some(past.collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max))
    }
}

fn declared(job: &Job<'_>, facts: &Facts) -> f64 {
    match job.prepared {
        Some(Ok(prepared)) => of_recording(&prepared.recorded.recording, facts),
        _ => 0.0,
    }
}

fn of_recording(recording: &Recording, facts: &Facts) -> f64 {
    let bytes = memory_needed(&CodePlacement::new(recording, facts.kernels_run_in)) as f64;
    let moved = recording.work.bytes.map_or(bytes, |declared| declared as f64);
    let of_memory = moved / facts.peak_bandwidth.unwrap_or(USUAL_BANDWIDTH);
    let peak = facts.peak_arithmetic.f32.unwrap_or(USUAL_ARITHMETIC);
    let of_arithmetic = recording.work.flops.map_or(0.0, |flops| flops as f64) / peak;
    OF_PROCESSES + CALLS * (of_memory.max(of_arithmetic) + bytes / CHECKED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::catalog::{Execution, Reference, Work};
    use gpubench::plan::Plan;

    fn of_work(bytes: Option<u64>, flops: Option<u64>) -> f64 {
        let recording = Recording {
            tensors: Vec::new(),
            work: Work {
                bytes,
                flops,
                counters: Vec::new(),
            },
            plan: Plan::default(),
            reference: Reference::Author,
            execution: Execution::Sealed,
            call: None,
        };
        of_recording(&recording, &gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN))
    }

    #[test]
    fn more_declared_work_is_expected_to_take_longer() {
        assert!(of_work(Some(1 << 30), None) > of_work(Some(1 << 20), None));
        assert!(of_work(Some(1), Some(1 << 50)) > of_work(Some(1), Some(1 << 20)));
        assert!(of_work(None, None) >= OF_PROCESSES);
    }

    #[test]
    fn what_was_measured_before_is_expected_to_take_as_long_and_a_contest_counts_once() {
        let mut results = gpubench_testing::every_verdict().results;
        results.truncate(2);
        (results[0].wall_ns, results[1].wall_ns) = (2_000_000_000, 3_000_000_000);
        let past = PastDurations::of(&results);
        let keys = || results.iter().map(BenchmarkComplete::key);
        assert_eq!(past.known(keys().take(1)), Some(2.0));
        assert_eq!(past.known(keys()), Some(3.0));
        assert_eq!(PastDurations::of(&results[..1]).known(keys()), None);
    }
}
