//! The owner of a window.

use bytemuck::{Pod, Zeroable};

/// Whose call runs in a window: one of the cases that are measured alternately, or the control
/// worker's. Each has its own shared page, so that none can write another's timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct WindowOwner(u32);

impl WindowOwner {
    /// The control worker, which has only the tool's code.
    pub const CONTROL: WindowOwner = WindowOwner(u32::MAX);

    /// Returns the owner for a position among the cases that are measured alternately. A case that
    /// is measured alone has position 0.
    pub const fn arm(position: usize) -> WindowOwner {
        WindowOwner(position as u32)
    }

    /// Returns the position among the cases that are measured alternately. The control worker's is
    /// beyond all of them.
    pub const fn position(self) -> usize {
        self.0 as usize
    }
}
