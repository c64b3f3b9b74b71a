//! Whose window it is.

use bytemuck::{CheckedBitPattern, NoUninit};

/// Who is called in a window. Each has a shared page of its own: what one could write would be no
/// clock to hold against another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, CheckedBitPattern, NoUninit)]
#[repr(u32)]
pub enum WindowOwner {
    /// The code that is measured.
    #[default]
    Candidate,
    /// The other state of the code that it is compared with, in turns.
    Baseline,
    /// The control worker, which holds no code but the tool's.
    Control,
}
