//! The calls of a window.

use std::num::NonZeroU32;

use bytemuck::{CheckedBitPattern, NoUninit};
use gpubench_contract::Mode;

/// The calls of a case's windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct WindowCalls {
    /// How they are measured, which decides their preparation and their stopwatch.
    pub mode: Mode,
    /// How many the recording holds, each with its own tensors.
    pub count: NonZeroU32,
}

impl WindowCalls {
    /// Returns windows of one call.
    pub fn one(mode: Mode) -> WindowCalls {
        WindowCalls {
            mode,
            count: NonZeroU32::MIN,
        }
    }
}
