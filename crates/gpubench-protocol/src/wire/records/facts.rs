//! What the referee found in a window.

use bytemuck::checked::try_cast;
use bytemuck::{CheckedBitPattern, NoUninit, Pod, Zeroable};

use crate::window::WindowKind;
use crate::wire::MAX_OUTPUTS;

/// No such index: stands for "none" in positions of elements and of buffers.
pub const NOWHERE: u64 = u64::MAX;

/// What the referee found in one output.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct OutputFacts {
    /// Position of the tensor.
    pub tensor: u64,
    /// Elements compared: all of them, or the referee reports a problem instead.
    pub elements: u64,
    /// Elements that agree with the expected ones.
    pub matched: u64,
    /// Wrong elements that still hold the poison; of an in-out tensor, a lower bound on those that
    /// still hold the call's input.
    pub unwritten: u64,
    /// Wrong elements that are not finite where the expected one is.
    pub non_finite: u64,
    /// Elements with the same bits as element 0.
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
    /// Largest absolute error over elements that are finite on both sides.
    pub max_abs: f64,
    /// Largest relative error among those whose expected value is not zero.
    pub max_rel: f64,
    /// The output digest the worker's device wrote.
    pub digest_claimed: u64,
    /// The output digest of the snapshot.
    pub digest_expected: u64,
    /// Bytes that changed between the snapshot and a second look.
    pub late_bytes: u64,
    /// A [`Replay`] as a number, because `bytemuck` does not check enums inside arrays.
    pub replay: u64,
    /// An [`OtherAnswer`] as a number: what was expected of the call before.
    pub old_answer: u64,
    /// An [`OtherAnswer`] as number: zeros.
    pub zeros: u64,
    /// Bits of every element, zero-extended, where all have the same as element 0.
    pub constant_bits: u64,
}

impl OutputFacts {
    /// Whether it is the right answer to another call; an unknown number says that it is none.
    pub fn replay(&self) -> Replay {
        try_cast(self.replay).unwrap_or(Replay::None)
    }

    /// Whether zeros would have passed, though others are expected; an unknown number says that
    /// nobody looked.
    pub fn zeros(&self) -> OtherAnswer {
        try_cast(self.zeros).unwrap_or(OtherAnswer::NotAsked)
    }

    /// The bits that every element has, zero-extended; nothing where they differ.
    pub fn constant(&self) -> Option<u64> {
        (self.elements > 0 && self.same_as_first == self.elements).then_some(self.constant_bits)
    }

    /// Whether the previous call's answer would pass; unknown numbers read as `NotAsked`.
    pub fn old_answer(&self) -> OtherAnswer {
        try_cast(self.old_answer).unwrap_or(OtherAnswer::NotAsked)
    }
}

/// Whether an answer that is not this call's would have passed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u64)]
pub enum OtherAnswer {
    /// It was not looked at, or is this call's too.
    NotAsked = 0,
    /// It is wrong.
    Fails = 1,
    /// It is within the tolerance.
    Passes = 2,
}

/// Whether a wrong output is the right answer to another call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern)]
#[repr(u64)]
pub enum Replay {
    /// It matches no earlier answer that the referee keeps.
    None = 0,
    /// It is the answer to the call before.
    Previous = 1,
    /// It is the answer to the first call.
    First = 2,
    /// It matches both answers: those calls are one and the same, or their answers are equal.
    FirstAndPrevious = 3,
}

/// What the referee found in one window.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit, Zeroable)]
#[repr(C)]
pub struct WindowFacts {
    /// The window.
    pub window: u32,
    /// What it was for.
    pub kind: WindowKind,
    /// How it ended.
    pub end: WindowEnd,
    /// Outputs that follow.
    pub output_count: u32,
    /// The referee's clock before it restores the buffers, in nanoseconds.
    pub s0_ns: u64,
    /// The referee's clock just before *go*, in nanoseconds.
    pub s1_ns: u64,
    /// The same after *done*.
    pub s2_ns: u64,
    /// The same when the outputs have been copied.
    pub s3_ns: u64,
    /// The referee's own time in the window, without the flush and the wait for *done*, in
    /// nanoseconds.
    pub own_ns: u64,
    /// The cache flush, in nanoseconds.
    pub flush_ns: u64,
    /// Digest of all inputs of the window with a key of the case: equal inputs have equal digests.
    pub input_digest: u64,
    /// Position of the first buffer whose redzone was written, or [`NOWHERE`].
    pub redzone_buffer: u64,
    /// First wrong redzone byte, relative to the buffer's first byte.
    pub redzone_offset: i64,
    /// Wrong redzone bytes of that buffer.
    pub redzone_bytes: u64,
    /// What was found in each output.
    pub outputs: [OutputFacts; MAX_OUTPUTS],
}

impl WindowFacts {
    /// The outputs that were checked.
    pub fn outputs(&self) -> &[OutputFacts] {
        &self.outputs[..(self.output_count as usize).min(MAX_OUTPUTS)]
    }
}

/// How a window ended for the referee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit, Zeroable)]
#[repr(u32)]
pub enum WindowEnd {
    /// *Done* came and everything was checked.
    Checked = 0,
    /// *Done* did not arrive before the deadline, or carried another window's number.
    NotDone = 1,
    /// The broker gave the window up.
    Aborted = 2,
}
