//! The programs that the kernel runs at the driver's functions, and when processes begin and end.
//!
//! A call that is made within another one is the driver's own and is not recorded: its stack
//! pointer is below that of the call that the thread is in.

mod calls;
mod code;
mod kernel;
mod loaded;
mod processes;

pub(super) use calls::NAME_BYTES;
pub(crate) use code::end_if_of_another;
pub(crate) use loaded::{Place, Probe, Programs};
