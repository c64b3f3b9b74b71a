//! Sums that only grow: what a process, a program or all processes did.

use std::ops::{Index, IndexMut};
use std::time::Duration;

use super::durations::Durations;
use super::kernels::LaunchCount;
use crate::{Copy, CopyDirection, Execution, LaunchKind, MemoryKind, Synchronization, Waiting};

/// A number of allocations, or of writes, and their bytes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// How many.
    pub count: u64,
    /// Their bytes together.
    pub bytes: u64,
}

impl Amount {
    /// Adds one of `bytes` bytes.
    pub fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Takes one of `bytes` bytes away.
    pub(super) fn remove(&mut self, bytes: u64) {
        self.count = self.count.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Adds another amount.
    pub fn merge(&mut self, other: Amount) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// An amount of each kind of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByKind([Amount; MemoryKind::ALL.len()]);

impl ByKind {
    /// Returns the amounts of all kinds together.
    pub fn total(&self) -> Amount {
        let mut total = Amount::default();
        self.0.iter().for_each(|amount| total.merge(*amount));
        total
    }

    /// Returns each kind with its amount.
    pub fn iter(&self) -> impl Iterator<Item = (MemoryKind, Amount)> {
        MemoryKind::ALL.into_iter().zip(self.0)
    }

    /// Adds the amounts of another one.
    pub fn merge(&mut self, other: &ByKind) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            own.merge(other);
        }
    }
}

impl Index<MemoryKind> for ByKind {
    type Output = Amount;

    fn index(&self, kind: MemoryKind) -> &Amount {
        &self.0[kind as usize]
    }
}

impl IndexMut<MemoryKind> for ByKind {
    fn index_mut(&mut self, kind: MemoryKind) -> &mut Amount {
        &mut self.0[kind as usize]
    }
}

/// The copies in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyTotal {
    /// All of them.
    pub all: Amount,
    /// Bytes of those whose call waited, and whose bandwidth is known.
    pub waited_bytes: u64,
    /// How long these calls took together.
    pub waited: Duration,
}

impl CopyTotal {
    /// Returns the bytes a second of the copies whose call waited, without those that queued.
    pub fn bandwidth(&self) -> Option<f64> {
        let is_known = self.waited_bytes > 0 && !self.waited.is_zero();
        is_known.then(|| self.waited_bytes as f64 / self.waited.as_secs_f64())
    }

    fn merge(&mut self, other: &CopyTotal) {
        self.all.merge(other.all);
        self.waited_bytes = self.waited_bytes.saturating_add(other.waited_bytes);
        self.waited += other.waited;
    }
}

/// What a process, a program or all processes did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Launches of kernels that run, by [`LaunchKind`].
    pub launches: [u64; 3],
    /// Launches into a capture, which run only with their graph.
    pub captured_launches: u64,
    /// Launches of graphs.
    pub graph_launches: u64,
    /// Functions of the host that were queued on streams.
    pub host_functions: u64,
    /// Copies that run, by [`CopyDirection`].
    pub copies: [CopyTotal; 6],
    /// Copies into a capture.
    pub captured_copies: u64,
    /// Memsets that run.
    pub memsets: Amount,
    /// Memsets into a capture.
    pub captured_sets: u64,
    /// Memory that was allocated. It is the sum of what was freed, what disappeared, what was left
    /// at exits, what is untracked and what is live.
    pub allocated: ByKind,
    /// Memory that was freed by a call.
    pub freed: ByKind,
    /// Memory whose address was allocated again although no call was seen that freed it: its
    /// context ended unseen, or an event was lost.
    pub vanished: ByKind,
    /// Memory that processes had when they, or the contexts it was in, ended: leaks, if the
    /// program meant to free all of it.
    pub left: ByKind,
    /// Memory beyond the limit of allocations, which is not followed.
    pub untracked: ByKind,
    /// Frees of addresses that are not live: allocated before the observation, or untracked.
    pub unknown_frees: u64,
    /// Frees of the address 0, which free nothing.
    pub null_frees: u64,
    /// Calls that allocated memory.
    pub allocation_times: Durations,
    /// Waits for the context, for a stream and for an event.
    pub waits: [Durations; 3],
    /// Streams that were created.
    pub streams_created: u64,
    /// Streams that were destroyed.
    pub streams_destroyed: u64,
    /// Modules that were loaded.
    pub modules_loaded: u64,
    /// Modules that were unloaded.
    pub modules_unloaded: u64,
    /// Calls that failed.
    pub failures: u64,
}

impl Activity {
    /// Returns the launches of kernels that run.
    pub fn kernel_launches(&self) -> u64 {
        self.launches.iter().sum()
    }

    /// Returns the copies in one direction.
    pub fn copies_of(&self, direction: CopyDirection) -> &CopyTotal {
        &self.copies[direction as usize]
    }

    /// Whether nothing was done.
    pub fn is_idle(&self) -> bool {
        *self == Activity::default()
    }

    pub(super) fn launch(&mut self, kind: LaunchKind, count: LaunchCount) {
        self.launches[kind as usize] += count.launches;
        self.captured_launches += count.captured;
    }

    pub(super) fn copy(&mut self, copy: &Copy) {
        if copy.execution == Execution::Captured {
            self.captured_copies += 1;
            return;
        }
        let total = &mut self.copies[copy.direction as usize];
        total.all.add(copy.bytes);
        if copy.waiting == Waiting::Blocks {
            total.waited_bytes = total.waited_bytes.saturating_add(copy.bytes);
            total.waited = total.waited.saturating_add(copy.duration);
        }
    }

    pub(super) fn wait(&mut self, what: Synchronization, duration: Duration) {
        let waits = &mut self.waits[match what {
            Synchronization::Context => 0,
            Synchronization::Stream(_) => 1,
            Synchronization::Event => 2,
        }];
        waits.add(duration);
    }

    /// Adds what another one did.
    pub fn merge(&mut self, other: &Activity) {
        for (own, other) in self.launches.iter_mut().zip(other.launches) {
            *own += other;
        }
        for (own, other) in self.copies.iter_mut().zip(&other.copies) {
            own.merge(other);
        }
        for (own, other) in self.waits.iter_mut().zip(&other.waits) {
            own.merge(other);
        }
        self.allocation_times.merge(&other.allocation_times);
        self.memsets.merge(other.memsets);
        self.allocated.merge(&other.allocated);
        self.freed.merge(&other.freed);
        self.vanished.merge(&other.vanished);
        self.left.merge(&other.left);
        self.untracked.merge(&other.untracked);
        self.captured_launches += other.captured_launches;
        self.graph_launches += other.graph_launches;
        self.host_functions += other.host_functions;
        self.captured_copies += other.captured_copies;
        self.captured_sets += other.captured_sets;
        self.unknown_frees += other.unknown_frees;
        self.null_frees += other.null_frees;
        self.streams_created += other.streams_created;
        self.streams_destroyed += other.streams_destroyed;
        self.modules_loaded += other.modules_loaded;
        self.modules_unloaded += other.modules_unloaded;
        self.failures += other.failures;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(microseconds: u64) -> Durations {
        let mut durations = Durations::default();
        durations.add(Duration::from_micros(microseconds));
        durations
    }

    /// An activity whose sums all differ.
    fn every_sum() -> Activity {
        let mut numbers = 1..;
        let mut next = || numbers.next().unwrap();
        let mut amount = || Amount {
            count: next(),
            bytes: next(),
        };
        let mut by_kind = || ByKind(std::array::from_fn(|_| amount()));
        let [allocated, freed, vanished, left, untracked] = std::array::from_fn(|_| by_kind());
        Activity {
            allocated,
            freed,
            vanished,
            left,
            untracked,
            memsets: amount(),
            copies: std::array::from_fn(|_| CopyTotal {
                all: amount(),
                waited_bytes: amount().bytes,
                waited: Duration::from_nanos(amount().bytes),
            }),
            allocation_times: times(amount().bytes),
            waits: std::array::from_fn(|_| times(amount().bytes)),
            launches: std::array::from_fn(|_| amount().count),
            captured_launches: amount().count,
            graph_launches: amount().count,
            host_functions: amount().count,
            captured_copies: amount().count,
            captured_sets: amount().count,
            unknown_frees: amount().count,
            null_frees: amount().count,
            streams_created: amount().count,
            streams_destroyed: amount().count,
            modules_loaded: amount().count,
            modules_unloaded: amount().count,
            failures: amount().count,
        }
    }

    #[test]
    fn a_merge_adds_every_sum() {
        let one = every_sum();
        let mut merged = Activity::default();
        merged.merge(&one);
        assert_eq!(merged, one, "nothing is lost");
        merged.merge(&one);
        assert_eq!(merged.copies[5].waited_bytes, 2 * one.copies[5].waited_bytes);
        assert_eq!(merged.copies[5].waited, 2 * one.copies[5].waited);
        assert_eq!(merged.waits[2].total(), 2 * one.waits[2].total());
        assert_eq!(merged.allocation_times.total(), 2 * one.allocation_times.total());
        assert_eq!(merged.left.total().bytes, 2 * one.left.total().bytes);
        merged.merge(&Activity::default());
        assert_eq!(merged.failures, 2 * one.failures);
    }

    #[test]
    fn copies_that_do_not_wait_have_no_bandwidth() {
        let total = |waited_bytes, millis| CopyTotal {
            waited_bytes,
            waited: Duration::from_millis(millis),
            ..CopyTotal::default()
        };
        assert_eq!(total(0, 0).bandwidth(), None);
        assert_eq!(total(1_000, 0).bandwidth(), None);
        assert_eq!(total(0, 10).bandwidth(), None);
        assert_eq!(total(1_000, 10).bandwidth(), Some(1e5));
    }
}
