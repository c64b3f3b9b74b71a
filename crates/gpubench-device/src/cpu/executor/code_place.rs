//! Places in the code of kernels.

/// The place of a processor trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodePlace {
    /// The address of the instruction.
    pub(super) instruction: usize,
    /// The word at the top of the stack. If a library function without a frame trapped, such as
    /// `memset`, the function returns there.
    pub(super) top_of_stack: usize,
}
