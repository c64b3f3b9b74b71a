//! Launch plans: what one call of a benchmark does on a device, as data, and the
//! [`Launcher`](crate::Launcher) that makes them.
//!
//! A benchmark function describes its launches to a launcher in a process without a device; a
//! worker that holds no user host code replays what was described.

pub(crate) mod launcher;
pub(crate) mod rules;
mod tensor_map;
mod types;

pub use rules::check;
pub use tensor_map::*;
pub use types::*;
