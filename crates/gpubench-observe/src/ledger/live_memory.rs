//! The memory that a process has.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::activity::ByKind;
use super::limits::Budget;
use super::physical::{Block, Physical, Released};
use crate::{Allocation, ContextHandle, HandleSpace, MemoryHandle, MemoryKind, Timestamp};

/// An allocation that was not freed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) kind: MemoryKind,
    pub(super) bytes: u64,
    at: Timestamp,
    thread: u32,
    context: ContextHandle,
}

/// An allocation whose address was allocated again although no call was seen that freed it. Such a
/// call may still come: another thread can get the address before the free returns.
#[derive(Clone, Copy, Debug)]
struct Replaced {
    kind: MemoryKind,
    bytes: u64,
    /// When the next allocation of the address returned.
    until: Timestamp,
}

/// Replaced allocations of a process that are remembered. Calls that free them come soon.
const MOST_REPLACED: usize = 256;
/// Addresses in graphs of a process that are remembered.
const MOST_IN_GRAPHS: usize = 4096;

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

/// What is kept of memory that was not freed, the largest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// In groups, at most 64.
    pub groups: Vec<AllocationGroup>,
    /// One by one, as many as the limits say.
    pub allocations: Vec<HeldAllocation>,
}

/// Groups of memory that a process left which are kept.
const MOST_LEFT: usize = 64;

impl Left {
    /// Adds what something else left, and keeps the largest.
    pub(super) fn add(&mut self, other: Left, listed: usize) {
        self.groups.extend(other.groups);
        self.groups
            .sort_by_key(|group| Reverse(group.bytes.saturating_mul(group.count)));
        self.groups.truncate(MOST_LEFT);
        self.allocations.extend(other.allocations);
        self.allocations
            .sort_by_key(|allocation| (Reverse(allocation.bytes), allocation.address));
        self.allocations.truncate(listed);
    }
}

/// An allocation that was not freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldAllocation {
    /// Its address, or the handle of an array. Of physical memory, the lowest address where it is
    /// mapped, or `None` if it is not.
    pub address: Option<u64>,
    /// How it was allocated.
    pub kind: MemoryKind,
    /// Its size, in bytes.
    pub bytes: u64,
    /// The thread that allocated it.
    pub thread: u32,
    /// When it was allocated.
    pub at: Timestamp,
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
    /// It freed the address 0, or what a launch of a graph allocates.
    Nothing,
    /// It released a handle of memory that something else holds.
    Held,
    /// It freed memory that is not known.
    Unknown,
}

/// The memory that a process has.
#[derive(Clone, Debug, Default)]
pub struct LiveMemory {
    /// Physical memory by [`Block`], since handles of it come and go.
    allocations: BTreeMap<MemoryHandle, Live>,
    replaced: HashMap<MemoryHandle, VecDeque<Replaced>>,
    physical: Physical,
    in_graphs: HashSet<u64>,
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

    /// Returns the largest live allocations, by size and address.
    pub fn largest(&self, most: usize) -> Vec<HeldAllocation> {
        self.largest_of(&self.allocations, most)
    }

    fn largest_of(&self, allocations: &BTreeMap<MemoryHandle, Live>, most: usize) -> Vec<HeldAllocation> {
        let mut largest: Vec<_> = allocations.iter().collect();
        largest.sort_unstable_by_key(|(handle, live)| (Reverse(live.bytes), **handle));
        largest.truncate(most);
        let address = |handle: &MemoryHandle| match handle.space {
            HandleSpace::Physical => self.physical.mapped_at(Block(handle.value)),
            _ => Some(handle.value),
        };
        let told = largest.into_iter().map(|(handle, live)| HeldAllocation {
            address: address(handle),
            kind: live.kind,
            bytes: live.bytes,
            thread: live.thread,
            at: live.at,
        });
        told.collect()
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
        let named = allocation.handle();
        let handle = match named.space {
            HandleSpace::Physical => of_block(self.physical.create(named.value)),
            _ => named,
        };
        let before = self.allocations.remove(&handle).map(|live| (live.kind, live.bytes));
        if let Some((kind, bytes)) = before {
            self.totals[kind].remove(bytes);
            self.bytes = self.bytes.saturating_sub(bytes);
            self.replace(named, Replaced { kind, bytes, until: at });
        } else if !budget.take() {
            if named.space == HandleSpace::Physical {
                self.physical.forget(named.value);
            }
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
            },
        );
        before.map_or(Allocated::Live, |(kind, bytes)| Allocated::InPlaceOf(kind, bytes))
    }

    pub(super) fn free(&mut self, named: MemoryHandle, at: Timestamp, budget: &mut Budget) -> Freed {
        if named.value == 0 {
            return Freed::Nothing;
        }
        let handle = match named.space {
            HandleSpace::Physical => self.physical.block(named.value).map(of_block),
            _ => Some(named),
        };
        let live = handle.and_then(|handle| self.allocations.get(&handle));
        match (live, named.space) {
            // It began before the address was allocated again.
            (Some(live), _) if at < live.at => self.free_replaced(named, at),
            (_, HandleSpace::Physical) => match self.physical.release(named.value, budget) {
                Released::Gone(block) => self.end(of_block(block), budget),
                Released::Held => Freed::Held,
                Released::Unknown => self.free_replaced(named, at),
            },
            (Some(_), _) => self.end(named, budget),
            (None, _) => match self.free_replaced(named, at) {
                Freed::Unknown if self.in_graphs.contains(&named.value) => Freed::Nothing,
                freed => freed,
            },
        }
    }

    /// Notes that an address belongs to allocations of a graph.
    pub(super) fn put_in_graph(&mut self, address: u64) {
        if self.in_graphs.len() < MOST_IN_GRAPHS {
            self.in_graphs.insert(address);
        }
    }

    pub(super) fn map(&mut self, address: u64, handle: u64, budget: &mut Budget) {
        self.physical.map(address, handle, budget);
    }

    pub(super) fn share(&mut self, handle: u64, address: Option<u64>, budget: &mut Budget) {
        self.physical.share(handle, address, budget);
    }

    /// Ends mappings, and returns what nothing holds any more.
    pub(super) fn unmap(&mut self, address: u64, bytes: u64, budget: &mut Budget) -> Vec<Freed> {
        let gone = self.physical.unmap(address, bytes, budget);
        gone.into_iter()
            .map(|block| self.end(of_block(block), budget))
            .collect()
    }

    /// Ends live memory.
    fn end(&mut self, handle: MemoryHandle, budget: &mut Budget) -> Freed {
        let Some(Live { kind, bytes, .. }) = self.allocations.remove(&handle) else {
            return Freed::Unknown;
        };
        self.totals[kind].remove(bytes);
        self.bytes = self.bytes.saturating_sub(bytes);
        budget.give(1);
        Freed::Live(kind, bytes)
    }

    fn replace(&mut self, named: MemoryHandle, replaced: Replaced) {
        let remembered: usize = self.replaced.values().map(VecDeque::len).sum();
        if remembered >= MOST_REPLACED {
            // Their calls would have come.
            self.replaced.clear();
        }
        self.replaced.entry(named).or_default().push_back(replaced);
    }

    /// Frees the first allocation of an address that ended before the call that frees it returned.
    fn free_replaced(&mut self, named: MemoryHandle, at: Timestamp) -> Freed {
        let Some(replaced) = self.replaced.get_mut(&named) else {
            return Freed::Unknown;
        };
        let place = replaced.iter().position(|replaced| at < replaced.until);
        let freed = place.and_then(|place| replaced.remove(place));
        if replaced.is_empty() {
            self.replaced.remove(&named);
        }
        freed.map_or(Freed::Unknown, |Replaced { kind, bytes, .. }| {
            Freed::Before(kind, bytes)
        })
    }

    /// Ends what ends with a context, and returns it by kind, and as what is kept of it.
    pub(super) fn end_context(&mut self, context: ContextHandle, listed: usize, budget: &mut Budget) -> (ByKind, Left) {
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
        let kept = Left {
            groups: groups_of(ended.values()),
            allocations: self.largest_of(&ended, listed),
        };
        (left, kept)
    }

    /// Returns what is kept of live memory at the end of its process.
    pub(super) fn left(&self, listed: usize) -> Left {
        Left {
            groups: self.groups(),
            allocations: self.largest(listed),
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self, budget: &mut Budget) {
        budget.give(self.allocations.len() + self.physical.rows());
        *self = LiveMemory::default();
    }
}

fn of_block(Block(value): Block) -> MemoryHandle {
    MemoryHandle {
        space: HandleSpace::Physical,
        value,
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
    groups.sort_by_key(|group| Reverse(group.bytes.saturating_mul(group.count)));
    groups
}
