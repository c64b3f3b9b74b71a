//! The state at the beginning of an interval, for rates.

use std::collections::HashMap;
use std::time::Duration;

use crate::ledger::{KernelKey, LaunchCount, Ledger};
use crate::{ProcessId, Timestamp};

/// The counts at the beginning of an interval.
#[derive(Clone, Debug, Default)]
pub(super) struct Before {
    pub(super) at: Timestamp,
    pub(super) launches: u64,
    pub(super) graph_launches: u64,
    pub(super) copied: [u64; 6],
    pub(super) errors: u64,
    kernels: HashMap<KernelKey, u64>,
    forgotten: u64,
    processes: HashMap<ProcessId, u64>,
}

impl Before {
    /// Returns the beginning of an observation, before any event.
    pub(super) fn start(at: Timestamp) -> Self {
        Self { at, ..Self::default() }
    }

    /// Returns the counts now.
    pub(super) fn new(ledger: &Ledger, at: Timestamp) -> Self {
        let all = ledger.all();
        Self {
            at,
            launches: all.kernel_launches(),
            graph_launches: all.graph_launches,
            copied: all.copies.map(|total| total.all.bytes),
            errors: all.failures,
            kernels: kernels_of(ledger).map(|(key, count)| (key, count.launches)).collect(),
            forgotten: ledger.forgotten().launches,
            processes: ledger
                .live()
                .map(|process| (process.id, process.activity.kernel_launches()))
                .collect(),
        }
    }

    /// Returns the launches of a kernel then. Those of kernels whose names were given up since are
    /// no launches of the interval.
    pub(super) fn kernel(&self, key: KernelKey, ledger: &Ledger) -> u64 {
        let own = self.kernels.get(&key).copied().unwrap_or(0);
        match key {
            KernelKey::Other => own + ledger.forgotten().launches.saturating_sub(self.forgotten),
            KernelKey::Named(_) | KernelKey::Unnamed => own,
        }
    }

    pub(super) fn process(&self, id: ProcessId) -> u64 {
        self.processes.get(&id).copied().unwrap_or(0)
    }
}

/// Returns each kernel. Launches that still wait for a name are unnamed.
pub(super) fn kernels_of(ledger: &Ledger) -> impl Iterator<Item = (KernelKey, LaunchCount)> {
    let mut kernels: HashMap<KernelKey, LaunchCount> = ledger.kernels().collect();
    let waiting = ledger.unnamed();
    let unnamed = kernels.entry(KernelKey::Unnamed).or_default();
    unnamed.launches += waiting.launches;
    unnamed.captured += waiting.captured;
    kernels
        .into_iter()
        .filter(|(_, count)| *count != LaunchCount::default())
}

/// Returns how much a count grew in a second. 0 for an interval without length.
pub(super) fn rate(now: u64, before: u64, interval: Duration) -> f64 {
    if interval.is_zero() {
        0.0
    } else {
        now.saturating_sub(before) as f64 / interval.as_secs_f64()
    }
}
