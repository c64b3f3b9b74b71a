//! What CUDA processes do, seen from outside: nothing is rebuilt, preloaded or injected.
//!
//! A [`Source`] gives [`Event`]s: what processes asked of the driver, and when they began and
//! ended. [`ledger`] makes state of events, [`sample`] makes records of the state, and [`metrics`]
//! makes pages for Prometheus.
#![forbid(unsafe_code)]

mod attach;
mod audit;
mod cuda;
mod doorbell;
mod event;
mod filter;
pub mod ledger;
mod memory;
pub mod metrics;
mod owner;
mod process;
mod result_code;
pub mod sample;
mod source;
mod system;
mod system_calls;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod timestamp;
mod work;

pub use attach::{Attachment, Descendants, Driver, Lifecycles, ObserveError, Observer, Target};
pub use audit::observed_calls;
pub use cuda::{Recognised, Traps};
pub use doorbell::{Doorbell, DoorbellError};
pub use event::{DriverCall, Event, EventKind};
pub use filter::{Filter, Filtered, LeftOut};
pub use memory::{Allocation, ContextHandle, HandleSpace, MemoryHandle, MemoryKind};
pub use owner::{Owner, OwnerLabel};
pub use process::{Origin, ProcessId, ProcessStart};
pub use result_code::result_name;
pub use source::{FunctionTotal, Source};
pub use system::{mappings_of, sees_its_own_process_ids};
pub use system_calls::{SystemCall, SystemCalls};
pub use timestamp::Timestamp;
pub use work::{
    Copy, CopyDirection, Execution, FunctionHandle, GraphHandle, Launch, LaunchKind, Launches, ModuleHandle, Set,
    StreamHandle, Synchronization, Users, Waiting,
};
