//! Instructions of kernels on the CPU device, counted by valgrind's tool callgrind.
//!
//! The process must run under callgrind, as `launcher` starts it. Threads of the pool turn
//! the collection on only while they run blocks. `request` speaks to callgrind, `profile` reads
//! what it writes, and `counter` puts both together.

mod counter;
mod launcher;
mod profile;
mod request;

pub use counter::PROFILE;
pub(super) use counter::{CallgrindCounter, readable_copy};
pub(crate) use launcher::launcher;
pub(super) use request::toggle_collection;
