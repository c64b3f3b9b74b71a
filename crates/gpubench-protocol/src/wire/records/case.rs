//! Orders to the referee about a run, a case and a window.

use std::num::NonZeroU32;

use bytemuck::{CheckedBitPattern, NoUninit, Pod, Zeroable};
use gpubench_contract::Flush;
use gpubench_device::Facts;

use crate::window::{Gate, WindowCalls, WindowKind, WindowOwner};
use crate::wire::FixedText;
use crate::wire::PLACES;

/// Settings of a run.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct Begin {
    /// The run's master seed.
    pub master_seed: [u8; 32],
    /// Bytes that the cold mode flushes.
    pub flush_bytes: u64,
    /// How the cache is flushed.
    pub flush_kind: Flush,
    /// Zero.
    pub reserved: u32,
}

/// Head of an `OPEN_CASE` frame.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct OpenCase {
    /// Number of the case in the run. It separates the seeds of cases.
    pub case: u64,
    /// Bytes of the module positions after the scratch. The referee runs their kernels.
    pub module_bytes: u32,
    /// The workers of the case.
    pub workers_of_case: CaseWorkers,
    /// The number before that of the first window.
    pub opening: u32,
    /// The calls of its windows.
    pub calls: WindowCalls,
    /// Number of scratch allocations of all sides, which follow.
    pub scratch: u32,
}

/// A scratch allocation of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SideScratch {
    /// Bytes of the allocation.
    pub bytes: u64,
    /// Position of the side.
    pub side: u32,
    /// Zero.
    pub reserved: u32,
}

impl SideScratch {
    /// Returns the scratch of all sides, each given as the sizes of its allocations.
    pub fn of_sides<'s>(sides: impl IntoIterator<Item = &'s [u64]>) -> Vec<SideScratch> {
        let sides = sides.into_iter().enumerate();
        let all = sides.flat_map(|(side, scratch)| scratch.iter().map(move |bytes| (side as u32, *bytes)));
        all.map(|(side, bytes)| SideScratch {
            bytes,
            side,
            reserved: 0,
        })
        .collect()
    }
}

/// The workers of a case. Each has its own shared page, which the others cannot write.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct CaseWorkers {
    /// Whether there is a control worker.
    pub has_control: bool,
    /// Zero.
    pub reserved: u8,
    /// Number of cases that are measured alternately. Each has a worker.
    pub arms: u16,
}

impl CaseWorkers {
    /// Returns the owners of pages, in the order of their descriptors.
    pub fn owners(self) -> impl Iterator<Item = WindowOwner> {
        let arms = (0..usize::from(self.arms)).map(WindowOwner::arm);
        arms.chain(self.has_control.then_some(WindowOwner::CONTROL))
    }

    /// Returns the number of pages that each worker uses in rotation.
    pub fn places(self) -> u32 {
        if self.has_control { PLACES } else { 1 }
    }
}

/// The position of a buffer in its allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct BufferLayout {
    /// Bytes of the allocation, in whole pages.
    pub allocation: u64,
    /// Offset of the buffer.
    pub offset: u64,
    /// Bytes of the buffer.
    pub len: u64,
    /// Bytes of the redzone before it.
    pub front: u64,
    /// Bytes of the redzone after it.
    pub back: u64,
}

/// Least bytes of the redzone between two buffers of an allocation.
const BETWEEN: u64 = 256;

impl BufferLayout {
    /// Returns the layout of a buffer of `len` bytes that is alone in its allocation.
    pub fn alone(facts: &Facts, len: u64) -> Option<BufferLayout> {
        BufferLayout::in_row(facts, len, 0, 1)
    }

    /// Returns the layout of the buffer at `position` among `buffers` equal ones in a row. The last
    /// ends as close to the allocation's end as its alignment allows, so that the unmapped page
    /// after it catches overruns. `None` if the allocation would be too long.
    pub fn in_row(facts: &Facts, len: u64, position: u64, buffers: u64) -> Option<BufferLayout> {
        let between = BETWEEN.next_multiple_of(facts.alignment);
        let padded = len.checked_next_multiple_of(facts.alignment)?;
        let step = padded.checked_add(between)?;
        let row = step.checked_mul(buffers)? - between;
        let allocation = row.max(1).checked_next_multiple_of(facts.granularity)?;
        let (begins, is_last) = (allocation - row, position + 1 == buffers);
        let offset = begins + step * position;
        Some(BufferLayout {
            allocation,
            offset,
            len,
            front: if position == 0 { offset } else { between },
            back: if is_last { allocation - offset } else { padded } - len,
        })
    }

    /// Returns the start and the bytes of the redzones: before the buffer, and after it.
    pub fn redzones(&self) -> [(u64, u64); 2] {
        [
            (self.offset - self.front, self.front),
            (self.offset + self.len, self.back),
        ]
    }
}

/// An order about one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct WindowOrder {
    /// Number of the window in its case, counted from 1: the value of *go*.
    pub window: u32,
    /// The kind of the window.
    pub kind: WindowKind,
    /// Time limit of the referee for *done* in nanoseconds; for `RELEASE`.
    pub patience_ns: u64,
    /// The owner of the page; for `RELEASE`.
    pub owner: WindowOwner,
    /// The side whose outputs and scratch the window uses: the owner, or the one that the control
    /// worker's window belongs to.
    pub side: WindowOwner,
    /// How often the worker queues its work back to back on the same tensors; for `ARM`.
    pub repeats: NonZeroU32,
    /// What holds the call back until *go*.
    pub gate: Gate,
}

impl WindowOrder {
    /// Returns an order without a wait.
    pub fn about(window: u32, kind: WindowKind) -> WindowOrder {
        WindowOrder {
            window,
            kind,
            patience_ns: 0,
            owner: WindowOwner::default(),
            side: WindowOwner::default(),
            repeats: NonZeroU32::MIN,
            gate: Gate::Stream,
        }
    }
}

/// The error of a failed order.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Problem {
    /// The message.
    pub text: FixedText,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn facts() -> Facts {
        gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN)
    }

    proptest! {
        #[test]
        fn buffers_in_a_row_and_their_redzones_fill_an_allocation(len in 0_u64..100_000, buffers in 1_u64..65) {
            let facts = facts();
            let mut next = 0;
            for position in 0..buffers {
                let layout = BufferLayout::in_row(&facts, len, position, buffers).unwrap();
                prop_assert_eq!(layout.offset % facts.alignment, 0);
                let [(front, front_bytes), (back, back_bytes)] = layout.redzones();
                prop_assert_eq!((front, front + front_bytes), (next, layout.offset));
                prop_assert_eq!(back, layout.offset + len);
                prop_assert!(position == 0 || front_bytes >= BETWEEN);
                next = back + back_bytes;
            }
            let last = BufferLayout::in_row(&facts, len, buffers - 1, buffers).unwrap();
            prop_assert_eq!((next, last.allocation % facts.granularity), (last.allocation, 0));
            prop_assert!(last.back < facts.alignment, "the last one ends at the guard page");
        }
    }

    #[test]
    fn an_empty_buffer_is_at_the_end_of_a_page_of_redzone() {
        let facts = facts();
        let layout = BufferLayout::alone(&facts, 0).unwrap();
        assert_eq!(
            (layout.allocation, layout.offset),
            (facts.granularity, facts.granularity)
        );
        assert_eq!((layout.len, layout.front, layout.back), (0, facts.granularity, 0));
    }

    #[test]
    fn a_row_that_is_too_long_has_no_layout() {
        assert_eq!(BufferLayout::in_row(&facts(), u64::MAX / 4, 0, 8), None);
        assert_eq!(BufferLayout::alone(&facts(), u64::MAX), None);
    }
}
