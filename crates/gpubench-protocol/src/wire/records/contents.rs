//! Contents of a tensor in the last window, from the referee's own copies.

use bytemuck::{CheckedBitPattern, NoUninit};

/// Most bytes that one order reads.
pub const MOST_CONTENTS: u64 = 1 << 20;

/// Order to read a part of a tensor's contents in the last window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, NoUninit, CheckedBitPattern)]
#[repr(C)]
pub struct ContentsOrder {
    /// Position of the tensor.
    pub tensor: u64,
    /// First byte.
    pub start: u64,
    /// Number of bytes, at most [`MOST_CONTENTS`].
    pub bytes: u64,
    /// Which contents.
    pub contents: Contents,
    /// Padding.
    pub reserved: u32,
}

/// Which contents of a tensor. No worker can write any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, NoUninit, CheckedBitPattern)]
#[repr(u32)]
pub enum Contents {
    /// Those that the call was given, of an input.
    Input,
    /// The right answer, of an output.
    Expected,
    /// Those that the referee found at *done*, of an output.
    Got,
}
