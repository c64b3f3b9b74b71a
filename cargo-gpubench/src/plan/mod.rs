//! Launch plans on the tool's side: validation against declared tensors and device limits.
//!
//! Plans are made by a benchmark function with `gpubench::Launcher` (`gpubench-runtime/src/launcher`), called in the author's process; `broker/recordings.rs`
//! asks for them twice.
//!
//! A plan is made by `gpubench::Launcher` in the author's process and checked there too; but that process runs user code, so nothing
//! is replayed that has not been validated here.
#![forbid(unsafe_code)]

mod validate;

pub use validate::{Invalid, memory_needed, validate};
