//! What follows from events: processes and their memory, kernels, copies and errors.
//!
//! The [`Ledger`] is pure: events go in, and readers see its state. Its size is bounded by
//! [`Limits`], whatever the observed programs do. What exceeds a limit is still counted in the
//! totals ([`Activity`]) and only loses its own row:
//!
//! - processes beyond the limit share one row, and their memory is counted but not followed;
//! - ended processes beyond the limit are added up, the oldest first;
//! - allocations beyond the limit are *untracked*: their frees are unknown frees;
//! - kernels beyond the limits are *other* kernels, and so are errors.
//!
//! Nothing that runs loses its row to something new. Names of kernels and rows of programs that no
//! process has any more are given up when there is no room for others.

mod activity;
mod demangle;
mod durations;
mod errors;
mod functions;
mod kernels;
#[expect(clippy::module_inception, reason = "the ledger is the concept")]
mod ledger;
mod limits;
mod live_memory;
mod physical;
mod process;
mod programs;

#[cfg(test)]
mod conservation;
#[cfg(test)]
mod memory_tests;
#[cfg(test)]
mod tests;

pub use activity::{Activity, Amount, ByKind, CopyTotal};
pub use demangle::demangled;
pub use durations::Durations;
pub use errors::{ErrorKey, ErrorTable};
pub use kernels::{KernelKey, KernelName, KernelNames, LaunchCount};
pub use ledger::{EndedProcesses, Ledger};
pub use limits::Limits;
pub use live_memory::{AllocationGroup, HeldAllocation, Left, LiveMemory};
pub(crate) use process::program_of;
pub use process::{Ended, Process};
pub use programs::{Program, ProgramKey, Programs};
