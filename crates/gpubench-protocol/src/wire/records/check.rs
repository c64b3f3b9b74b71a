//! Orders to run the check of a crate, and what it says.

use bytemuck::{CheckedBitPattern, NoUninit};

/// An order to check the outputs of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct CheckOrder {
    /// Number of calls that the window made.
    pub calls: u32,
    /// Whose outputs they are.
    pub subject: CheckSubject,
}

/// Whose outputs a check judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u32)]
pub enum CheckSubject {
    /// Those of the worker.
    Worker = 0,
    /// Other ones, to learn what the check accepts.
    OtherAnswer = 1,
}

/// What a check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct Checked {
    /// The verdict.
    pub verdict: CheckVerdict,
    /// The first rejected call of the window.
    pub call: u32,
}

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u32)]
pub enum CheckVerdict {
    /// The elements that it accepts are right.
    Accepted = 0,
    /// The outputs of a call are wrong.
    Rejected = 1,
    /// The check failed. Nobody reads the facts of the window.
    Failed = 2,
}
