//! What the modes of a case leave for the next one.

use std::num::NonZeroU32;

use gpubench::catalog::Recording;

use crate::admission::{calls_per_sample, memory_needed};
use gpubench_contract::{BenchmarkComplete, Mode, Verdict};
use gpubench_device::Facts;
use gpubench_measure::measurement::{Another, EarlierSets, IdleWorkers};
use gpubench_protocol::window::CodePlacement;

/// The share of the free memory that a case may need in any mode for its workers to rest. The
/// contexts of resting workers need the rest.
const MOST: u64 = 2;

/// What the earlier modes of a case have left.
#[derive(Debug, Default)]
pub(super) struct EarlierModes {
    pub(super) idle_workers: IdleWorkers,
    pub(super) sets: EarlierSets,
    /// The time of a call in the first mode that passed, in nanoseconds.
    pub(super) call_ns: Option<f64>,
}

impl EarlierModes {
    /// Notes the time of a call, unless one is known. Of several contestants, the fastest counts.
    pub(super) fn note<'r>(&mut self, results: impl Iterator<Item = &'r BenchmarkComplete>) {
        let passed = results.filter(|result| result.metric.is_time() && result.verdict == Verdict::Pass);
        let times = passed.filter_map(|result| result.stats.as_ref().map(|stats| stats.value));
        self.call_ns = self.call_ns.or_else(|| times.min_by(f64::total_cmp));
    }
}

/// Returns whether another timed measurement of a case follows that its workers can wait for.
/// `wanted` is the number of calls in a sample that the user wants.
pub(super) fn another(timed_left: usize, recording: &Recording, facts: &Facts, wanted: Option<NonZeroU32>) -> Another {
    let most = Mode::ALL.iter();
    let most = most.map(|mode| calls_per_sample(*mode, recording, &[], facts, wanted, None));
    let calls = most.max().unwrap_or(NonZeroU32::MIN);
    let of_one = memory_needed(&CodePlacement::new(recording, facts.kernels_run_in));
    let needed = of_one.saturating_mul(calls.get().into());
    let has_room = needed <= facts.free_memory.unwrap_or(u64::MAX) / MOST;
    if timed_left > 0 && has_room {
        Another::Follows
    } else {
        Another::No
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::catalog::{DType, Fill, Reference, Role, Tensor, Tolerance, Work};
    use gpubench::plan::Plan;

    #[test]
    fn the_time_of_a_call_is_that_of_the_fastest_in_the_first_mode_that_passed() {
        let sample = gpubench_testing::all_passed().results.swap_remove(0);
        let result = |verdict, ns| {
            let mut result = BenchmarkComplete {
                verdict,
                ..sample.clone()
            };
            result.stats.as_mut().expect("it has samples").value = ns;
            result
        };
        let mut earlier = EarlierModes::default();
        earlier.note([].iter());
        earlier.note([result(Verdict::WrongOutput, 1.0)].iter());
        assert_eq!(earlier.call_ns, None);
        earlier.note([result(Verdict::Pass, 30.0), result(Verdict::Pass, 20.0)].iter());
        earlier.note([result(Verdict::Pass, 10.0)].iter());
        assert_eq!(earlier.call_ns, Some(20.0));
    }

    #[test]
    fn workers_end_if_nothing_follows_or_if_memory_is_short() {
        let output = Tensor {
            name: "y".to_owned(),
            dtype: DType::U8,
            shape: vec![1 << 20],
            role: Role::Output,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
            record: None,
        };
        let recording = Recording {
            tensors: vec![output],
            work: Work::default(),
            plan: Plan::default(),
            reference: Reference::Author,
            execution: Default::default(),
            call: None,
        };
        let mut facts = gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN);
        let mut with = |timed_left, free_memory| {
            facts.free_memory = free_memory;
            another(timed_left, &recording, &facts, None)
        };
        assert_eq!(with(1, None), Another::Follows);
        assert_eq!(with(0, None), Another::No);
        assert_eq!(with(1, Some(1 << 30)), Another::Follows);
        assert_eq!(with(1, Some(100 << 20)), Another::No, "ten calls need more than half");
    }
}
