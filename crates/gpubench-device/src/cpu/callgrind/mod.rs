//! Instructions of kernels on the CPU device, counted by valgrind's tool callgrind.
//!
//! The process must run under callgrind with the options of [`OPTIONS`]. Threads of the pool turn
//! the collection on only while they run blocks. `request` speaks to callgrind, `profile` reads what
//! it writes, and `counter` puts both together.

mod counter;
mod profile;
mod request;

pub use counter::PROFILE;
pub(super) use counter::{CallgrindCounter, readable_copy};
pub(super) use request::toggle_collection;

/// The options of callgrind, besides the file for its output.
pub const OPTIONS: [&str; 6] = [
    "--tool=callgrind",
    "--quiet",
    "--collect-atstart=no",
    "--compress-strings=no",
    "--compress-pos=no",
    // Thread-local memory and stacks of many kernels exceed the default.
    "--max-stackframe=8388608",
];
