//! How often a window repeats its call back to back.

use std::num::NonZeroU32;

use gpubench::catalog::Execution;
use gpubench_contract::Method;
use gpubench_protocol::window::{MOST_LAUNCHES, Seeds, WindowId, WindowKind, repeats_in_graphs};

use super::case::ReadyCase;

/// Time that the calls of a hot window should take, in nanoseconds. An empty measurement of two
/// events is about a thousandth of it.
const BATCH_NS: f64 = 1e6;

/// Untimed calls before the timed ones of a hot window. The first brings the tensors to the caches.
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
            (Method::Hot, _) => SETTLING,
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
