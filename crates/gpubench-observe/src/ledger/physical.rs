//! Physical memory that a process maps itself: it lives while a handle or a mapping holds it.

use std::collections::{BTreeMap, HashMap};

use super::limits::Budget;

/// A piece of memory of `cuMemCreate`. No other one gets the same number later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Block(pub(super) u64);

/// What holds physical memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Physical {
    /// By value. The driver may give a value again once all its references are released.
    handles: HashMap<u64, Handle>,
    holds: HashMap<Block, Holds>,
    /// By address.
    mappings: BTreeMap<u64, Block>,
    next: u64,
}

/// A handle and its references.
#[derive(Clone, Copy, Debug)]
struct Handle {
    /// `None` for memory that another process created.
    block: Option<Block>,
    references: u64,
    origin: Origin,
}

/// How a handle came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Created,
    /// It has a row of the budget.
    Shared,
}

/// How often a block is held.
#[derive(Clone, Copy, Debug, Default)]
struct Holds {
    references: u64,
    mappings: u64,
}

/// What the release of a handle did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Released {
    /// Nothing holds the block any more.
    Gone(Block),
    /// Something else holds it, or it is of another process.
    Held,
    /// The handle is not known.
    Unknown,
}

impl Physical {
    /// Returns the block of a new handle. It is the old one if the handle was not seen to be
    /// released, and nothing is mapped.
    pub(super) fn create(&mut self, handle: u64) -> Block {
        let old = self.handles.get(&handle).and_then(|known| known.block);
        let unmapped = old.filter(|block| self.holds.get(block).is_some_and(|holds| holds.mappings == 0));
        let block = unmapped.unwrap_or_else(|| {
            self.next += 1;
            Block(self.next)
        });
        if let (Some(holds), None) = (old.and_then(|old| self.holds.get_mut(&old)), unmapped) {
            holds.references = 0;
        }
        let known = self.handles.entry(handle).or_insert(Handle {
            block: None,
            references: 0,
            origin: Origin::Created,
        });
        (known.block, known.references) = (Some(block), 1);
        let holds = Holds {
            references: 1,
            mappings: 0,
        };
        self.holds.insert(block, holds);
        block
    }

    /// Forgets a block that is not followed.
    pub(super) fn forget(&mut self, handle: u64) {
        if let Some(block) = self.handles.remove(&handle).and_then(|known| known.block) {
            self.holds.remove(&block);
        }
    }

    /// Returns the block of a handle, if it is of this process.
    pub(super) fn block(&self, handle: u64) -> Option<Block> {
        self.handles.get(&handle)?.block
    }

    /// Notes a handle of memory that is mapped at an address, or that another process shares.
    pub(super) fn share(&mut self, handle: u64, address: Option<u64>, budget: &mut Budget) {
        let mapped = address.and_then(|address| Some(*self.mappings.range(..=address).next_back()?.1));
        let known = self.handles.get(&handle).copied();
        if known.is_none() && !budget.take() {
            return;
        }
        let block = mapped.or_else(|| known?.block);
        let known = self.handles.entry(handle).or_insert(Handle {
            block,
            references: 0,
            origin: Origin::Shared,
        });
        known.references += 1;
        if let Some(holds) = known.block.and_then(|block| self.holds.get_mut(&block)) {
            holds.references += 1;
        }
    }

    /// Takes back a reference to a handle.
    pub(super) fn release(&mut self, handle: u64, budget: &mut Budget) -> Released {
        let Some(known) = self.handles.get_mut(&handle) else {
            return Released::Unknown;
        };
        known.references -= 1;
        let Handle {
            block,
            references,
            origin,
        } = *known;
        if references == 0 {
            self.handles.remove(&handle);
            budget.give(usize::from(origin == Origin::Shared));
        }
        match block {
            Some(block) => self.let_go(block, |holds| holds.references = holds.references.saturating_sub(1)),
            None => Released::Held,
        }
    }

    /// Notes a mapping of the memory of a handle. Memory of other processes is not followed.
    pub(super) fn map(&mut self, address: u64, handle: u64, budget: &mut Budget) {
        let Some(block) = self.block(handle) else {
            return;
        };
        if self.mappings.contains_key(&address) || !budget.take() {
            return;
        }
        self.mappings.insert(address, block);
        self.holds.entry(block).or_default().mappings += 1;
    }

    /// Returns the lowest address where a block is mapped.
    pub(super) fn mapped_at(&self, block: Block) -> Option<u64> {
        let mut mappings = self.mappings.iter();
        mappings.find_map(|(address, mapped)| (*mapped == block).then_some(*address))
    }

    /// Ends the mappings in a range, and returns the blocks that nothing holds any more.
    pub(super) fn unmap(&mut self, address: u64, bytes: u64, budget: &mut Budget) -> Vec<Block> {
        let range = address..address.saturating_add(bytes);
        let ended: Vec<_> = self
            .mappings
            .range(range)
            .map(|(address, block)| (*address, *block))
            .collect();
        budget.give(ended.len());
        let mut gone = Vec::new();
        for (address, block) in ended {
            self.mappings.remove(&address);
            if let Released::Gone(block) = self.let_go(block, |holds| holds.mappings -= 1) {
                gone.push(block);
            }
        }
        gone
    }

    /// Returns how many rows are taken from the budget: mappings, and shared handles.
    pub(super) fn rows(&self) -> usize {
        let shared = self.handles.values().filter(|handle| handle.origin == Origin::Shared);
        self.mappings.len() + shared.count()
    }

    fn let_go(&mut self, block: Block, change: impl FnOnce(&mut Holds)) -> Released {
        let Some(holds) = self.holds.get_mut(&block) else {
            return Released::Held;
        };
        change(holds);
        if holds.references > 0 || holds.mappings > 0 {
            return Released::Held;
        }
        self.holds.remove(&block);
        Released::Gone(block)
    }
}
