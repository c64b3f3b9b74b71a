//! The kinds of windows.

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};
use gpubench_device::harness::Coverage;

/// The kind of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit, Zeroable)]
#[repr(u32)]
pub enum WindowKind {
    /// wait(go) · event · call · event · output digest · done.
    Timed,
    /// wait(go) · call · digest kernel with programmatic stream serialization and nothing in
    /// between · done. The digest kernel is on the GPU early and waits there for the end of the
    /// call's kernels, so it reads their outputs at once. There are no events, because one before
    /// the digest kernel would delay it: on an H200 it then arrived 3.1 µs after the call's end
    /// instead of 96.6 µs before it.
    EarlyCheck,
    /// As [`WindowKind::Timed`], but with the tool's own twin instead of the call. It measures the
    /// tool's own part of a window. It runs in the worker under test, or in the control worker if
    /// that worker has the user's host code.
    Control,
    /// As [`WindowKind::Timed`], but with an event before and after each part of the call: each
    /// step of a plan, or each call of a graph. The events keep parts from overlapping, and the
    /// caches are flushed before each call of a graph. If the call is timed from outside, the
    /// device's operations are recorded instead.
    Parts,
    /// As [`WindowKind::Control`], but with no call at all. In the control worker, it measures what
    /// a window without a stream's gate adds to the time of its call. In an audited worker, it
    /// measures what any window adds to the submissions of its call.
    Empty,
}

/// Control windows have their own numbers, so that the numbers of calls have no gaps.
const FIRST_CONTROL: u32 = 1 << 30;

impl WindowKind {
    /// Whether the time between the worker's two events is evidence.
    pub fn is_timed(self) -> bool {
        match self {
            WindowKind::Timed | WindowKind::Control => true,
            WindowKind::EarlyCheck | WindowKind::Parts | WindowKind::Empty => false,
        }
    }

    /// Returns how much of each output the output digest covers.
    pub fn coverage(self) -> Coverage {
        match self {
            WindowKind::Timed | WindowKind::Control | WindowKind::Parts | WindowKind::Empty => Coverage::Sample,
            WindowKind::EarlyCheck => Coverage::Whole,
        }
    }

    /// Returns the number of a control window with `before` earlier ones in its case.
    pub fn control_window(before: usize) -> u32 {
        FIRST_CONTROL + before as u32
    }
}
