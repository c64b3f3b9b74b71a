//! That there is no device.

use bytemuck::{Pod, Zeroable};

use crate::wire::FixedText;

/// Why there is no device.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct AbsentDevice {
    /// An [`AbsenceKind`](gpubench_device::AbsenceKind) as number.
    pub kind: u64,
    /// Why.
    pub reason: FixedText,
    /// What can be done.
    pub hint: FixedText,
}
