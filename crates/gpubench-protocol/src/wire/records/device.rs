//! That there is no device.

use bytemuck::{CheckedBitPattern, NoUninit};
use gpubench_device::AbsenceKind;

use crate::wire::FixedText;

/// Why there is no device.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct AbsentDevice {
    /// Whether anybody would expect it.
    pub kind: AbsenceKind,
    /// Why.
    pub reason: FixedText,
    /// What can be done.
    pub hint: FixedText,
}
