//! Instructions of kernels on the CPU device, counted by valgrind's tool callgrind.
//!
//! The process must run under callgrind, as `launcher` starts it. Threads of the pool turn
//! the collection on only while they run blocks. `profile` reads
//! what callgrind writes, and `counter` puts it together with the requests of `valgrind`.

mod counter;
mod launcher;
mod profile;

pub use counter::PROFILE;
pub(super) use counter::{CallgrindCounter, countable_copy};
pub(crate) use launcher::launcher;
