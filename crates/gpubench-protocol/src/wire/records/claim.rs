//! What a worker claims of a window.

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};
use gpubench_device::FaultCode;

use crate::wire::FixedText;

/// What a worker claims of a window. Nothing here is believed for a verdict of `pass` without the
/// referee's facts.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit, Zeroable)]
#[repr(C)]
pub struct Claim {
    /// The window.
    pub window: u32,
    /// Whether the call failed, and by what.
    pub fault: FaultCode,
    /// Time between the two events in nanoseconds; 0 in an early-check window.
    pub elapsed_ns: f64,
    /// Host time of queueing the call in nanoseconds.
    pub host_ns: f64,
    /// Where the fault happened: position of the launch among the plan's steps, or
    /// [`UNKNOWN_STEP`].
    pub step: u32,
    /// Which of `block` and `thread` are known.
    pub place: FaultPlace,
    /// Block of the fault.
    pub block: [u32; 3],
    /// Thread of the fault.
    pub thread: [u32; 3],
    /// The fault in words.
    pub text: FixedText,
}

impl Claim {
    /// A claim of nothing.
    pub fn empty(window: u32) -> Claim {
        Claim {
            window,
            ..Claim::zeroed()
        }
    }
}

/// How exactly the place of a fault is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit, Zeroable)]
#[repr(u32)]
pub enum FaultPlace {
    /// Not at all, as on a GPU.
    Unknown = 0,
    /// The block.
    Block = 1,
    /// Block and thread.
    Thread = 2,
}

/// The step of a fault that may have happened in any of several.
pub const UNKNOWN_STEP: u32 = u32::MAX;
