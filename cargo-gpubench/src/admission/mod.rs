//! Admission of recorded plans: validation against declared tensors and device limits.
//!
//! A benchmark function records a plan with `gpubench::Launcher` (`gpubench/src/plan/`) in
//! the author's process; `broker/recording/recordings.rs` requests every plan twice. That process
//! runs user code, so no plan is replayed before this module validates it: by the launcher's own
//! rules (`gpubench/src/plan/rules.rs`), and by facts that only the broker knows.

mod arguments;
mod calls_per_sample;
mod read_only;
mod repetition;
mod swapped;
mod validate;

pub use calls_per_sample::{calls_per_sample, fewer_calls};
pub use repetition::unusable;
pub use swapped::swapped_arguments;
pub use validate::{Invalid, memory_needed, memory_needed_in_turns, validate, validate_problem};
