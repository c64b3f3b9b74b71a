//! Launch plans on the tool's side: validation against declared tensors and device limits.
//!
//! A plan is made by `gpubench::Launcher` in the author's process and checked there too; but that process runs user code, so nothing
//! is replayed that has not been validated here.
#![forbid(unsafe_code)]

mod validate;

pub use validate::{Invalid, memory_needed, validate};
