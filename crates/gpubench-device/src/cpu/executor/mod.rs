//! The executor of the CPU device: runs the blocks of a CUDA C++ kernel that was compiled as C++
//! with the shim of `gpubench-harness`.
//!
//! A [`Pool`] of threads shares out the blocks of a launch. Within a block, threads run one after
//! the other in a loop on one coroutine; a thread that meets a barrier keeps its coroutine and the
//! loop goes on with the next thread on another, so only kernels with barriers pay for switches.
//! Faults of a kernel end its launch, not the process, and are reported with block and thread.

mod abi;
mod block;
mod dynamic_shared;
mod exchange;
mod fault;
mod kernel;
mod launch;
mod margin;
mod pool;
mod processors;
mod signals;
mod stack;
mod static_shared;
#[cfg(test)]
mod tests;
mod warp;

pub use fault::{Access, FaultKind, KernelFault};
pub use kernel::{Kernel, LoadError, Module};
pub use launch::{LaunchShape, MAX_DYNAMIC_SHARED, MAX_THREADS_PER_BLOCK, ScheduleSeed};
pub(crate) use margin::MARGIN_BYTES;
pub use pool::Pool;
pub use signals::install_fault_handlers;
