//! Looking at drivers that may crash or hang, in a process of its own.
//!
//! [`ask`] starts this same program with the hidden verb `__probe`, which calls [`answer`]:
//! whatever the driver does to that process is a finding for the one who asked.

mod conversation;
mod gpus;
mod trials;

pub use conversation::{Answer, Target, UnknownTarget, answer, ask};
pub use gpus::Gpu;
pub use trials::{Opened, Trial};
