//! Launch plans, and the [`Launcher`](crate::Launcher) that records them. A plan describes one call
//! of a benchmark as data.
//!
//! A benchmark function records its launches in a process without a device. A worker that loads no
//! host code of the user replays them.

pub(crate) mod launcher;
mod library_call;
pub(crate) mod record;
pub(crate) mod rules;
mod tensor_map;
mod types;

pub use library_call::*;
pub use rules::{check, check_counters, check_problem};
pub use tensor_map::*;
pub use types::*;
