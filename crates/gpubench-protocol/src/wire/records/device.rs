//! The report of a missing device.

use bytemuck::{CheckedBitPattern, NoUninit};
use gpubench_device::AbsenceKind;

use crate::wire::FixedText;

/// Why a device cannot be used.
#[derive(Clone, Copy, Debug, CheckedBitPattern, NoUninit)]
#[repr(C)]
pub struct AbsentDevice {
    /// The kind of absence.
    pub kind: AbsenceKind,
    /// The reason.
    pub reason: FixedText,
    /// The hint for the user.
    pub hint: FixedText,
}
