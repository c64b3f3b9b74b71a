//! The kinds of windows.

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};
use gpubench_device::harness::Coverage;
use serde::{Deserialize, Serialize};

/// The kind of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit, Zeroable, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
    /// As [`WindowKind::Timed`], but with an event before and after each step of the call's plan,
    /// which keep steps from overlapping. If the call is timed from outside, the device's
    /// operations are recorded instead.
    Parts,
    /// As [`WindowKind::Timed`], but only the first of the window's calls is made. Its output must
    /// be complete without the others, so its time shows how much work the others share with it.
    Single,
    /// As [`WindowKind::Single`], but with the twin of the first call.
    SingleControl,
    /// As [`WindowKind::Control`], but with no call at all. In the control worker, it measures what
    /// a window without a stream's gate adds to the time of its call. In an audited worker, it
    /// measures what any window adds to the submissions of its call.
    Empty,
    /// As [`WindowKind::Timed`], for a call that may wait for the device and is held by its stream
    /// in other windows. Here nothing holds it, and the referee's host times it from outside.
    Outside,
}

/// Control windows have their own numbers, so that the numbers of calls have no gaps.
const FIRST_CONTROL: u32 = 1 << 30;

/// So have inputs that only provide decoys.
const FIRST_DECOYS: u32 = 1 << 29;

/// Which calls of a window are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeCalls {
    /// All of them.
    All,
    /// The first.
    First,
}

/// Which calls the windows of a worker make, as the key draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawnCalls {
    /// Always all of them.
    All,
    /// All of them or the first.
    AllOrFirst,
}

/// What runs in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowContent {
    /// The call under test.
    Call,
    /// The twin of the call.
    Twin,
    /// Nothing.
    Nothing,
}

impl WindowKind {
    /// Whether the time between the worker's two events is compared with the referee's clock.
    pub fn is_timed(self) -> bool {
        match self {
            WindowKind::Timed | WindowKind::Control => true,
            WindowKind::EarlyCheck
            | WindowKind::Parts
            | WindowKind::Single
            | WindowKind::SingleControl
            | WindowKind::Empty
            | WindowKind::Outside => false,
        }
    }

    /// Returns what runs in the window.
    pub fn content(self) -> WindowContent {
        match self {
            WindowKind::Timed
            | WindowKind::EarlyCheck
            | WindowKind::Parts
            | WindowKind::Single
            | WindowKind::Outside => WindowContent::Call,
            WindowKind::Control | WindowKind::SingleControl => WindowContent::Twin,
            WindowKind::Empty => WindowContent::Nothing,
        }
    }

    /// Returns which calls of the window are made.
    pub fn made_calls(self) -> MadeCalls {
        match self {
            WindowKind::Single | WindowKind::SingleControl => MadeCalls::First,
            WindowKind::Timed
            | WindowKind::EarlyCheck
            | WindowKind::Control
            | WindowKind::Parts
            | WindowKind::Empty
            | WindowKind::Outside => MadeCalls::All,
        }
    }

    /// Returns how much of each output the output digest covers.
    pub fn coverage(self) -> Coverage {
        match self {
            WindowKind::EarlyCheck => Coverage::Whole,
            WindowKind::Timed
            | WindowKind::Control
            | WindowKind::Parts
            | WindowKind::Single
            | WindowKind::SingleControl
            | WindowKind::Empty
            | WindowKind::Outside => Coverage::Sample,
        }
    }

    /// Returns the number of a control window with `before` earlier ones in its case.
    pub fn control_window(before: usize) -> u32 {
        FIRST_CONTROL + before as u32
    }

    /// Returns the number of the inputs that provide the decoys of a worker's first call, in the
    /// window `window`. No window has that number.
    pub fn decoys_before(window: u32) -> u32 {
        FIRST_DECOYS + window
    }
}
