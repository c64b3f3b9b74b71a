//! What the referee is told of a run, a case and a window.

use bytemuck::{CheckedBitPattern, NoUninit, Pod, Zeroable};
use gpubench_contract::{Flush, Method};

use crate::window::{WindowKind, WindowOwner};
use crate::wire::FixedText;
use crate::wire::PLACES;

/// How the referee measures.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct Begin {
    /// The run's master seed.
    pub master_seed: [u8; 32],
    /// Bytes that the cold method flushes.
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
    /// Number of the case in the run; separates its seeds from other cases'.
    pub case: u64,
    /// Bytes of the positions of modules that follow: the kernels that the referee runs itself.
    pub module_bytes: u32,
    /// Its workers.
    pub workers_of_case: CaseWorkers,
    /// Number behind which those of its windows begin.
    pub opening: u32,
    /// How its calls are measured: what the referee prepares before each.
    pub method: Method,
}

/// Which workers a case has beside the one under test. Each has a shared page of its own, which the
/// others cannot write.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct CaseWorkers {
    /// Whether one of the baseline is among them.
    pub has_baseline: bool,
    /// Whether a control worker is among them.
    pub has_control: bool,
    /// Zero.
    pub reserved: u16,
}

impl CaseWorkers {
    /// Who has a page, in the order in which their descriptors are sent.
    pub fn owners(self) -> impl Iterator<Item = WindowOwner> {
        let baseline = self.has_baseline.then_some(WindowOwner::Baseline);
        let control = self.has_control.then_some(WindowOwner::Control);
        [Some(WindowOwner::Candidate), baseline, control].into_iter().flatten()
    }

    /// How many pages each of them takes in turns.
    pub fn places(self) -> u32 {
        if self.has_control { PLACES } else { 1 }
    }
}

/// Head of an `OCCUPANCY` frame, which the kernel's name follows. Its descriptor is the compiled
/// kernel.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct OccupancyOrder {
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
}

/// Where a buffer lies in its allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct BufferLayout {
    /// Bytes of the allocation, whole pages.
    pub allocation: u64,
    /// First byte of the buffer: the front redzone lies before it.
    pub offset: u64,
    /// Bytes of the buffer; what is left of the allocation behind them is the back redzone.
    pub len: u64,
}

/// An order about one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct WindowOrder {
    /// The window, counted from 1 within its case: the value of *go*.
    pub window: u32,
    /// What it is for.
    pub kind: WindowKind,
    /// Nanoseconds the referee waits for *done* before it reports that it did not come; used by
    /// `RELEASE`.
    pub patience_ns: u64,
    /// Whose page it is; used by `RELEASE`.
    pub owner: WindowOwner,
    /// Zero.
    pub reserved: u32,
}

impl WindowOrder {
    /// An order about a window that nobody waits in.
    pub fn about(window: u32, kind: WindowKind) -> WindowOrder {
        WindowOrder {
            window,
            kind,
            patience_ns: 0,
            owner: WindowOwner::Candidate,
            reserved: 0,
        }
    }
}

/// An order that failed, in words.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Problem {
    /// What happened.
    pub text: FixedText,
}
