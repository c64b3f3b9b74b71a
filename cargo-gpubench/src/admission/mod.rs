//! Whether a recorded plan may run: validation against declared tensors and device limits.
//!
//! Plans are made by a benchmark function with `gpubench::Launcher` (`gpubench-runtime/src/plan/`),
//! called in the author's process; `broker/recording/recordings.rs` asks for each of them twice.
//! That process runs user code, so nothing is replayed that has not been validated here: by the
//! rules that the launcher keeps too (`gpubench-runtime/src/plan/rules.rs`), and by what the broker
//! alone knows.

mod arguments;
mod validate;

pub use validate::{Invalid, memory_needed, validate};
