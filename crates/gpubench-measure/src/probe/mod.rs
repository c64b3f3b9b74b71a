//! Probes of drivers that may crash or hang, in a separate process.
//!
//! [`ask`] starts this program with the hidden verb `__probe`, which calls [`answer`]. A crash of
//! that process is a result for the caller.

mod conversation;
mod gpus;
mod trials;

pub use conversation::{Answer, CounterTarget, Target, UnknownTarget, answer, ask, ask_counter};
pub use gpus::Gpu;
pub use trials::{Opened, Trial};
