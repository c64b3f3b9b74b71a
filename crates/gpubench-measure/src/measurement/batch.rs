//! How often a window repeats its call back to back.

use std::num::NonZeroU32;

use gpubench_contract::Method;
use gpubench_protocol::window::{Seeds, WindowId, WindowKind};

use super::case::ReadyCase;

/// Time that the calls of a hot window should take, in nanoseconds. An empty measurement of two
/// events is about a thousandth of it.
const BATCH_NS: f64 = 1e6;

/// Most launches of a hot window. A GPU's driver blocks the host after about 1 000 queued ones, and
/// the whole window is queued before it starts.
const MOST_LAUNCHES: u32 = 400;

/// Most graphs that are queued in a window that measures energy. Each takes several entries of the
/// queue.
const MOST_GRAPHS: u32 = 100;

/// Untimed calls before the timed ones of a hot window. The first brings the tensors to the caches.
const SETTLING: u32 = 3;

/// The repetitions of a case's call in its windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    method: Method,
    repeats: NonZeroU32,
    most: u32,
    most_for_energy: u32,
}

/// The repetitions of a call in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repetition {
    /// Untimed calls.
    pub(super) settling: u32,
    /// Calls with other inputs, before the true ones replace them.
    pub(super) switch_after: u32,
    /// Calls with the true inputs.
    pub(super) repeats: NonZeroU32,
}

impl Repetition {
    /// One call.
    pub(super) const ONE: Repetition = Repetition {
        settling: 0,
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
            most_for_energy: match case.calls.method {
                Method::Graph => MOST_GRAPHS,
                Method::Cold | Method::Warm | Method::Hot => (MOST_LAUNCHES / steps).max(1),
            },
        }
    }

    /// Returns how often a window that measures energy can repeat its work.
    pub(super) fn most_for_energy(&self) -> NonZeroU32 {
        NonZeroU32::new(self.most_for_energy).unwrap_or(NonZeroU32::MIN)
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

    /// Returns the repetitions in a window. In an early check of hot calls, the key draws a call
    /// before which the inputs change in place: a kernel that answers from an earlier call is then
    /// wrong, though it may have been right in all timed calls.
    pub(super) fn in_window(&self, kind: WindowKind, seeds: &Seeds, place: WindowId) -> Repetition {
        match (self.method, kind) {
            (Method::Hot, WindowKind::EarlyCheck) => {
                let switch_after = seeds.switch_after(place, self.repeats);
                Repetition {
                    settling: 0,
                    switch_after,
                    repeats: NonZeroU32::new(self.repeats.get().saturating_sub(switch_after))
                        .unwrap_or(NonZeroU32::MIN),
                }
            }
            (Method::Hot, _) => Repetition {
                settling: SETTLING.min(self.repeats.get()),
                switch_after: 0,
                repeats: self.repeats,
            },
            _ => Repetition::ONE,
        }
    }
}
