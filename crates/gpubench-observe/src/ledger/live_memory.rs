//! The memory that a process has.

use std::collections::BTreeMap;

use super::activity::ByKind;
use super::limits::Budget;
use crate::{Allocation, ContextHandle, HandleSpace, MemoryHandle, MemoryKind, Timestamp};

/// An allocation that was not freed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) kind: MemoryKind,
    pub(super) bytes: u64,
    at: Timestamp,
    thread: u32,
    context: ContextHandle,
    /// The allocation that had this address before, if no call was seen that freed it. Such a call
    /// may still come: another thread can get the address before the free returns.
    before: Option<(MemoryKind, u64)>,
}

/// Allocations of the same kind and size by the same thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationGroup {
    /// How they were allocated.
    pub kind: MemoryKind,
    /// The size of each, in bytes.
    pub bytes: u64,
    /// The thread that allocated them.
    pub thread: u32,
    /// How many they are.
    pub count: u64,
    /// When the first was allocated.
    pub oldest: Timestamp,
    /// When the last was allocated.
    pub newest: Timestamp,
}

/// The fate of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allocated {
    /// It is live.
    Live,
    /// It is live, and the one that had its address is gone without a call that freed it.
    InPlaceOf(MemoryKind, u64),
    /// It is beyond the limit and not followed.
    Untracked,
}

/// What a free did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freed {
    /// It freed live memory.
    Live(MemoryKind, u64),
    /// It freed the memory that had the address before: it began before the address was allocated
    /// again.
    Before(MemoryKind, u64),
    /// It freed the address 0.
    Null,
    /// It freed memory that is not known.
    Unknown,
}

/// The memory that a process has.
#[derive(Clone, Debug, Default)]
pub struct LiveMemory {
    allocations: BTreeMap<MemoryHandle, Live>,
    totals: ByKind,
    bytes: u64,
}

impl LiveMemory {
    /// Returns the live allocations by kind.
    pub fn totals(&self) -> &ByKind {
        &self.totals
    }

    /// Returns the live bytes of all kinds.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns when the oldest live allocation was made.
    pub fn oldest(&self) -> Option<Timestamp> {
        self.allocations.values().map(|live| live.at).min()
    }

    /// Returns the live allocations in groups, those with the most bytes first.
    pub fn groups(&self) -> Vec<AllocationGroup> {
        groups_of(self.allocations.values())
    }

    /// Returns the kind of the memory at an address, if it is live.
    pub(super) fn kind_at(&self, address: u64) -> Option<MemoryKind> {
        let handle = MemoryHandle {
            space: HandleSpace::Address,
            value: address,
        };
        let (start, live) = self.allocations.range(..=handle).next_back()?;
        let is_inside = start.space == HandleSpace::Address && address - start.value < live.bytes.max(1);
        is_inside.then_some(live.kind)
    }

    pub(super) fn allocate(
        &mut self,
        allocation: &Allocation,
        at: Timestamp,
        thread: u32,
        budget: &mut Budget,
    ) -> Allocated {
        let handle = allocation.handle();
        let before = self.allocations.remove(&handle).map(|live| (live.kind, live.bytes));
        if let Some((kind, bytes)) = before {
            self.totals[kind].remove(bytes);
            self.bytes = self.bytes.saturating_sub(bytes);
        } else if !budget.take() {
            return Allocated::Untracked;
        }
        let Allocation {
            kind, bytes, context, ..
        } = *allocation;
        self.totals[kind].add(bytes);
        self.bytes = self.bytes.saturating_add(bytes);
        self.allocations.insert(
            handle,
            Live {
                kind,
                bytes,
                at,
                thread,
                context,
                before,
            },
        );
        before.map_or(Allocated::Live, |(kind, bytes)| Allocated::InPlaceOf(kind, bytes))
    }

    pub(super) fn free(&mut self, handle: MemoryHandle, at: Timestamp, budget: &mut Budget) -> Freed {
        if handle.value == 0 {
            return Freed::Null;
        }
        let Some(live) = self.allocations.get_mut(&handle) else {
            return Freed::Unknown;
        };
        if at < live.at {
            return live
                .before
                .take()
                .map_or(Freed::Unknown, |(kind, bytes)| Freed::Before(kind, bytes));
        }
        let (kind, bytes) = (live.kind, live.bytes);
        self.allocations.remove(&handle);
        self.totals[kind].remove(bytes);
        self.bytes = self.bytes.saturating_sub(bytes);
        budget.give(1);
        Freed::Live(kind, bytes)
    }

    /// Ends what ends with a context, and returns it, by kind and in groups.
    pub(super) fn end_context(
        &mut self,
        context: ContextHandle,
        budget: &mut Budget,
    ) -> (ByKind, Vec<AllocationGroup>) {
        let all = std::mem::take(&mut self.allocations).into_iter();
        let (ended, staying): (BTreeMap<_, _>, _) =
            all.partition(|(_, live)| live.context == context && live.kind.ends_with_context());
        self.allocations = staying;
        budget.give(ended.len());
        let mut left = ByKind::default();
        for live in ended.values() {
            left[live.kind].add(live.bytes);
            self.totals[live.kind].remove(live.bytes);
            self.bytes = self.bytes.saturating_sub(live.bytes);
        }
        (left, groups_of(ended.values()))
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self, budget: &mut Budget) {
        budget.give(self.allocations.len());
        *self = LiveMemory::default();
    }
}

/// Returns allocations in groups, those with the most bytes first.
fn groups_of<'a>(memory: impl Iterator<Item = &'a Live>) -> Vec<AllocationGroup> {
    let mut groups: BTreeMap<(MemoryKind, u64, u32), AllocationGroup> = BTreeMap::new();
    for live in memory {
        let group = groups
            .entry((live.kind, live.bytes, live.thread))
            .or_insert(AllocationGroup {
                kind: live.kind,
                bytes: live.bytes,
                thread: live.thread,
                count: 0,
                oldest: live.at,
                newest: live.at,
            });
        group.count += 1;
        group.oldest = group.oldest.min(live.at);
        group.newest = group.newest.max(live.at);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.bytes.saturating_mul(group.count)));
    groups
}
