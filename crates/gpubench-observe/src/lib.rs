//! What CUDA processes do, seen from outside: nothing is rebuilt, preloaded or injected.
//!
//! A [`Source`] gives [`Event`]s: what processes asked of the driver, and when they began and
//! ended. [`ledger`] makes state of events.
#![forbid(unsafe_code)]

mod event;
pub mod ledger;
mod memory;
mod process;
mod source;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod timestamp;
mod work;

pub use event::{DriverCall, Event, EventKind};
pub use memory::{Allocation, HandleSpace, MemoryHandle, MemoryKind};
pub use process::{Origin, ProcessId, ProcessStart};
pub use source::{FunctionTotal, Source};
pub use timestamp::Timestamp;
pub use work::{
    Copy, CopyDirection, Execution, FunctionHandle, GraphHandle, Launch, LaunchKind, ModuleHandle, Set, StreamHandle,
    Synchronization, Waiting,
};
