//! The worker's claim about a window.

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};
use gpubench_device::FaultCode;
use serde::{Deserialize, Serialize};

use super::DeviceWork;
use crate::wire::{FixedText, MAX_PARTS, json};

/// The worker's claim about a window. No claim leads to `pass` without the referee's facts.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit, Zeroable, Serialize, Deserialize)]
#[repr(C)]
pub struct Claim {
    /// The window.
    pub window: u32,
    /// The fault of the call, if it failed.
    pub fault: FaultCode,
    /// Time between the two events in nanoseconds; 0 in a window without them.
    #[serde(with = "json::float")]
    pub elapsed_ns: f64,
    /// Number of parts with a time; only in a window of parts.
    pub parts: u64,
    /// Time of each part in nanoseconds.
    #[serde(with = "json::floats")]
    pub part_ns: [f64; MAX_PARTS],
    /// What the device did; only in a window of parts whose call is timed from outside.
    pub work: DeviceWork,
    /// Host time for queueing the call in nanoseconds.
    #[serde(with = "json::float")]
    pub host_ns: f64,
    /// The sum of the counts that follow the claim, if they are complete. A metric of the hardware
    /// is not a sum, so it has no meaning there.
    #[serde(with = "json::float")]
    pub count: f64,
    /// Whether the call was counted.
    pub progress: CountProgress,
    /// Zero.
    #[serde(skip)]
    pub reserved: u32,
    /// Position of the faulting launch in the plan's steps, or [`UNKNOWN_STEP`].
    pub step: u32,
    /// Which of `block` and `thread` are known.
    pub place: FaultPlace,
    /// Block of the fault.
    pub block: [u32; 3],
    /// Thread of the fault.
    pub thread: [u32; 3],
    /// Description of the fault.
    pub text: FixedText,
}

impl Claim {
    /// Returns the times of the parts in nanoseconds.
    pub fn part_times(&self) -> &[f64] {
        &self.part_ns[..(self.parts as usize).min(MAX_PARTS)]
    }

    /// Returns a claim without a time or a fault.
    pub fn empty(window: u32) -> Claim {
        Claim {
            window,
            ..Claim::zeroed()
        }
    }
}

/// How much of what a window's call does has been counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit, Zeroable, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum CountProgress {
    /// Nothing.
    Nothing = 0,
    /// The hardware needs further calls to count the rest.
    Partial = 1,
    /// Everything. The counts follow the claim.
    Complete = 2,
}

/// How exactly the place of a fault is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit, Zeroable, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum FaultPlace {
    /// Unknown, as on a GPU.
    Unknown = 0,
    /// The block is known.
    Block = 1,
    /// Block and thread are known.
    Thread = 2,
}

/// The step of a fault that any of several launches may have caused.
pub const UNKNOWN_STEP: u32 = u32::MAX;
