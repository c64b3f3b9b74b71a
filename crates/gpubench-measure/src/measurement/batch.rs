//! How often a window repeats its call back to back.

use std::num::NonZeroU32;

use gpubench::catalog::Execution;
use gpubench_contract::Method;
use gpubench_protocol::window::{MOST_LAUNCHES, Seeds, WindowId, WindowKind, repeats_in_graphs};

use super::case::ReadyCase;

/// Time that the calls of a hot window should take, in nanoseconds. An empty measurement of two
/// events is about a thousandth of it.
const BATCH_NS: f64 = 1e6;

/// Most untimed calls before the timed ones of a hot window. The first brings the tensors to the
/// caches.
const SETTLING: u32 = 3;

/// The repetitions of a case's call in its windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    method: Method,
    repeats: NonZeroU32,
    most: u32,
    steps: u32,
    execution: Execution,
}

/// The repetitions of a call in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repetition {
    /// Untimed calls with other inputs, before the true ones replace them.
    pub(super) switch_after: u32,
    /// Calls with the true inputs.
    pub(super) repeats: NonZeroU32,
}

impl Repetition {
    /// One call.
    pub(super) const ONE: Repetition = Repetition {
        switch_after: 0,
        repeats: NonZeroU32::MIN,
    };
}

impl Batch {
    /// Returns the repetitions of a case before its first window: one call.
    pub(super) fn of(case: &ReadyCase<'_>) -> Batch {
        let steps = u32::try_from(case.recording.plan.steps.len())
            .unwrap_or(u32::MAX)
            .max(1);
        Batch {
            method: case.calls.method,
            repeats: NonZeroU32::MIN,
            most: (MOST_LAUNCHES / steps).max(1),
            steps,
            execution: case.recording.execution,
        }
    }

    /// Returns how often a window can repeat its work if it should do so `wanted` times. Host code
    /// may not be able to be in a graph.
    pub(super) fn at_most(&self, wanted: u32) -> NonZeroU32 {
        match self.execution {
            Execution::Sealed => repeats_in_graphs(wanted, self.steps),
            Execution::Hosted | Execution::HostedSync => {
                NonZeroU32::new(wanted.min(self.most)).unwrap_or(NonZeroU32::MIN)
            }
        }
    }

    /// Returns how often a window repeats the call.
    pub(super) fn repeats(&self) -> NonZeroU32 {
        self.repeats
    }

    /// Chooses the repetitions after a call of `call_ns`.
    pub(super) fn adapt(&mut self, call_ns: f64) {
        if self.method == Method::Hot {
            let calls = (BATCH_NS / call_ns.max(1.0)).clamp(1.0, self.most.into());
            self.repeats = NonZeroU32::new(calls as u32).unwrap_or(NonZeroU32::MIN);
        }
    }

    /// Returns the repetitions in a window. Before each timed call of a hot window, others run on
    /// other inputs, which then change in place: a kernel that answers from an earlier call is
    /// wrong. In early checks the key draws how many they are.
    pub(super) fn in_window(&self, kind: WindowKind, seeds: &Seeds, place: WindowId) -> Repetition {
        let switch_after = match (self.method, kind) {
            (Method::Hot, WindowKind::EarlyCheck) => seeds.switch_after(place, self.repeats),
            (Method::Hot, _) => SETTLING.min(self.repeats.get()),
            _ => return Repetition::ONE,
        };
        let repeats = match kind {
            WindowKind::EarlyCheck => NonZeroU32::new(self.repeats.get().saturating_sub(switch_after)),
            _ => Some(self.repeats),
        };
        Repetition {
            switch_after,
            repeats: repeats.unwrap_or(NonZeroU32::MIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the untimed and the other calls of a hot window of a call with `steps` steps.
    fn calls(kind: WindowKind, steps: u32, call_ns: f64) -> (u32, u32) {
        let mut batch = Batch {
            method: Method::Hot,
            repeats: NonZeroU32::MIN,
            most: (MOST_LAUNCHES / steps).max(1),
            steps,
            execution: Execution::Sealed,
        };
        batch.adapt(call_ns);
        let place = WindowId { case: 1, window: 1 };
        let Repetition { switch_after, repeats } = batch.in_window(kind, &Seeds::new([7; 32]), place);
        (switch_after, repeats.get())
    }

    #[test]
    fn a_hot_window_lasts_a_millisecond_after_three_untimed_calls() {
        assert_eq!(calls(WindowKind::Timed, 1, 10_000.0), (3, 100));
        assert_eq!(calls(WindowKind::Timed, 1, 1_000.0), (3, MOST_LAUNCHES));
        let (before, after) = calls(WindowKind::EarlyCheck, 1, 10_000.0);
        assert_eq!(before + after, 100);
    }

    #[test]
    fn long_plans_and_long_calls_are_repeated_less_before_and_after() {
        assert_eq!(calls(WindowKind::Timed, 300, 10_000.0), (1, 1));
        assert_eq!(calls(WindowKind::Timed, 1, 5e6), (1, 1));
        for steps in [1, 7, 100, 150, 399, 400] {
            let (before, after) = calls(WindowKind::Timed, steps, 1.0);
            assert!((before + after) * steps <= 2 * MOST_LAUNCHES, "{steps} steps");
        }
    }
}
