//! Probes of drivers that may crash or hang, in a separate process.
//!
//! [`ask`] starts this program with the hidden verb `__probe`, which calls [`answer`]. A crash of
//! that process is a result for the caller.

mod conversation;
mod gpus;
mod trials;

pub use conversation::{Answer, Target, UnknownTarget, answer, ask};
pub use gpus::Gpu;
pub use trials::{Opened, Trial};
