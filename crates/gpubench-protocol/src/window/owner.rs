//! The owner of a window.

use bytemuck::{CheckedBitPattern, NoUninit};

/// The side whose call runs in a window. Each has its own shared page, so that no side can write
/// another's timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, CheckedBitPattern, NoUninit)]
#[repr(u32)]
pub enum WindowOwner {
    /// The code under test.
    #[default]
    Candidate,
    /// The code to compare it with, in alternating windows.
    Baseline,
    /// The control worker, which has only the tool's code.
    Control,
}
