//! The kinds of windows.

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};
use gpubench_device::harness::Coverage;

/// What a window is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit, Zeroable)]
#[repr(u32)]
pub enum WindowKind {
    /// wait(go) · event · call · event · output digest · done.
    Timed,
    /// wait(go) · call · check kernel launched with programmatic stream serialization and nothing
    /// between them · done. It carries no times: an event between the two would keep the check from
    /// being on the GPU early (measured on an H200: 3.1 µs after the kernel's end instead of 96.6
    /// µs before it). It waits there for the end of the call's kernels, so that it reads what they
    /// stored and at once.
    EarlyCheck,
    /// As [`WindowKind::Timed`], with the tool's own twin of the call: what the tool's own part of
    /// a window takes. Run by the worker under test where it holds no host code but the tool's,
    /// else by the control worker.
    Control,
}

/// Control windows have numbers of their own, so that a case's calls are numbered without gaps.
const FIRST_NULL: u32 = 1 << 30;

impl WindowKind {
    /// Whether its worker takes the time of events round the call.
    pub fn is_timed(self) -> bool {
        match self {
            WindowKind::Timed | WindowKind::Control => true,
            WindowKind::EarlyCheck => false,
        }
    }

    /// How much of each output its output digest covers.
    pub fn coverage(self) -> Coverage {
        match self {
            WindowKind::Timed | WindowKind::Control => Coverage::Sample,
            WindowKind::EarlyCheck => Coverage::Whole,
        }
    }

    /// The number of the control window that `before` others preceded in its case.
    pub fn control_window(before: usize) -> u32 {
        FIRST_NULL + before as u32
    }
}
