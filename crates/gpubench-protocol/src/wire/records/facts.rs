//! The referee's facts about a window.

use bytemuck::checked::try_cast;
use bytemuck::{CheckedBitPattern, NoUninit, Pod, Zeroable};
use serde::{Deserialize, Serialize};

use crate::window::{Gate, WindowKind};
use crate::wire::{MAX_OUTPUTS, json};

/// Stands for "none" in positions of elements and buffers.
pub const NOWHERE: u64 = u64::MAX;

/// The referee's facts about one output.
#[derive(Clone, Copy, Debug, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C)]
pub struct OutputFacts {
    /// Position of the tensor.
    pub tensor: u64,
    /// Position of the field, if the tensor holds structs; 0 otherwise.
    #[serde(default)]
    pub field: u64,
    /// Number of compared elements. It is always all of them.
    pub elements: u64,
    /// Number of elements that match the expected ones, with those in `mismatched`.
    pub matched: u64,
    /// Number of elements outside the tolerance that the tolerance lets differ by more.
    #[serde(default)]
    pub mismatched: u64,
    /// Number of wrong elements that still hold the poison. For an in-out tensor, a lower bound on
    /// those that still hold the call's input.
    pub unwritten: u64,
    /// Number of wrong elements that are not finite though the expected one is.
    pub non_finite: u64,
    /// Number of elements with the same bits as element 0.
    pub same_as_first: u64,
    /// First wrong element, or [`NOWHERE`].
    pub first_wrong: u64,
    /// Element with the largest absolute error, or [`NOWHERE`]. A wrong NaN or infinity ranks
    /// first.
    pub worst: u64,
    /// Bits of the expected element at `first_wrong`, zero-extended.
    pub expected_bits: u64,
    /// Bits of the element found there.
    pub got_bits: u64,
    /// Largest absolute error of elements that are finite on both sides.
    #[serde(with = "json::float")]
    pub max_abs: f64,
    /// Largest relative error of those whose expected value is not zero.
    #[serde(with = "json::float")]
    pub max_rel: f64,
    /// The output digest that the worker's device wrote.
    pub digest_claimed: u64,
    /// The output digest of the snapshot.
    pub digest_expected: u64,
    /// Number of bytes that changed after the snapshot.
    pub late_bytes: u64,
    /// A [`Replay`] as a number, because `bytemuck` does not check enums in arrays.
    pub replay: u64,
    /// An [`OtherAnswer`] as a number: whether the previous call's answer would pass.
    pub old_answer: u64,
    /// An [`OtherAnswer`] as a number: whether zeros would pass.
    pub zeros: u64,
    /// Bits of every element, zero-extended, if all equal element 0.
    pub constant_bits: u64,
}

impl OutputFacts {
    /// Returns which earlier call's answer the output repeats. An unknown number means none.
    pub fn replay(&self) -> Replay {
        try_cast(self.replay).unwrap_or(Replay::None)
    }

    /// Returns whether zeros would pass where other values are expected. An unknown number means
    /// `NotAsked`.
    pub fn zeros(&self) -> OtherAnswer {
        try_cast(self.zeros).unwrap_or(OtherAnswer::NotAsked)
    }

    /// Returns the bits of every element, zero-extended, or `None` if they differ.
    pub fn constant(&self) -> Option<u64> {
        (self.elements > 0 && self.same_as_first == self.elements).then_some(self.constant_bits)
    }

    /// Returns whether the previous call's answer would pass. An unknown number means `NotAsked`.
    pub fn old_answer(&self) -> OtherAnswer {
        try_cast(self.old_answer).unwrap_or(OtherAnswer::NotAsked)
    }
}

/// Whether an answer other than this call's would pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u64)]
pub enum OtherAnswer {
    /// It was not tried, or it is the right answer too.
    NotAsked = 0,
    /// It would fail.
    Fails = 1,
    /// It would pass.
    Passes = 2,
}

/// Which earlier call's answer a wrong output repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u64)]
pub enum Replay {
    /// No earlier answer that the referee keeps.
    None = 0,
    /// The previous call's answer.
    Previous = 1,
    /// The first call's answer.
    First = 2,
    /// Both: the two calls are the same one, or their answers are equal.
    FirstAndPrevious = 3,
}

/// The referee's facts about one window.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit, Zeroable, Serialize, Deserialize)]
#[repr(C)]
pub struct WindowFacts {
    /// The window.
    pub window: u32,
    /// The kind of the window.
    pub kind: WindowKind,
    /// How the window ended.
    pub end: WindowEnd,
    /// Number of outputs.
    pub output_count: u32,
    /// The referee's clock before it restores the buffers, in nanoseconds.
    pub s0_ns: u64,
    /// The referee's clock just before *go*, in nanoseconds.
    pub s1_ns: u64,
    /// The referee's clock after *done*, in nanoseconds.
    pub s2_ns: u64,
    /// The referee's clock after the copies of the outputs, in nanoseconds.
    pub s3_ns: u64,
    /// The referee's own time in the window, without the flush and the wait for *done*, in
    /// nanoseconds.
    pub own_ns: u64,
    /// Time of the cache flush in nanoseconds.
    pub flush_ns: u64,
    /// Time from *go* to *returned* by the clock of the referee's host, in nanoseconds; 0 if the
    /// worker's stream held the call back, or *returned* did not come.
    pub call_ns: u64,
    /// When the referee's host last saw that *go* had not come, in nanoseconds of
    /// `CLOCK_MONOTONIC`; 0 if `call_ns` is, or if the host reads the device's clock instead.
    pub go_missed_ns: u64,
    /// When the referee's host had seen *returned*, likewise; 0 if `call_ns` is.
    pub returned_seen_ns: u64,
    /// What held the call back until *go*.
    pub gate: Gate,
    /// Zero.
    #[serde(skip)]
    pub reserved: u32,
    /// Digest of all inputs of the window, with a key of the case. Equal inputs have equal digests.
    pub input_digest: u64,
    /// Position of the first buffer with a write to its redzone, or [`NOWHERE`].
    pub redzone_buffer: u64,
    /// Offset of the first changed redzone byte from the buffer's first byte.
    pub redzone_offset: i64,
    /// Number of changed redzone bytes of that buffer.
    pub redzone_bytes: u64,
    /// The facts about each output.
    #[serde(with = "json::places")]
    pub outputs: [OutputFacts; MAX_OUTPUTS],
}

impl WindowFacts {
    /// Returns the facts about the checked outputs.
    pub fn outputs(&self) -> &[OutputFacts] {
        &self.outputs[..(self.output_count as usize).min(MAX_OUTPUTS)]
    }
}

/// How a window ended for the referee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit, Zeroable, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum WindowEnd {
    /// *Done* came, and everything was checked.
    Checked = 0,
    /// *Done* did not come before the deadline, or had another window's number.
    NotDone = 1,
    /// The broker aborted the window.
    Aborted = 2,
}
