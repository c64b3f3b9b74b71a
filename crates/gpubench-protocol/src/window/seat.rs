//! Whose window it is.

use bytemuck::{CheckedBitPattern, NoUninit};

/// Which side of a case a worker under test is on. Each side has a shared page of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, CheckedBitPattern, NoUninit)]
#[repr(u32)]
pub enum Seat {
    /// The code that is measured.
    #[default]
    Candidate,
    /// The other state of the code that it is compared with, in turns.
    Baseline,
}
