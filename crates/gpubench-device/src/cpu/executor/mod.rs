//! The executor of the CPU device. It runs the blocks of a CUDA C++ kernel that was compiled as C++
//! with the shim of `gpubench-harness`.
//!
//! A [`Pool`] of threads shares the blocks of a launch. Within a block, threads run one after
//! another in a loop on one coroutine. A thread that reaches a barrier keeps its coroutine, and the
//! loop continues with the next thread on another one. Thus only kernels with barriers pay for
//! switches. A kernel fault ends its launch, not the process, and is reported with block and
//! thread.

mod abi;
mod block;
mod code_place;
mod dynamic_shared;
mod exchange;
mod fault;
mod kernel;
mod launch;
mod margin;
mod pool;
mod processors;
mod signals;
mod source_line;
mod stack;
mod static_shared;
#[cfg(test)]
mod tests;
mod trap;
mod warp;

pub use code_place::CodePlace;
pub use fault::{Access, FaultKind, KernelFault};
pub use kernel::{Kernel, LoadError, Module};
pub use launch::{LaunchShape, MAX_DYNAMIC_SHARED, MAX_THREADS_PER_BLOCK, ScheduleSeed};
pub(crate) use margin::MARGIN_BYTES;
pub use pool::Pool;
pub use signals::install_fault_handlers;
pub use source_line::{GENERATED_FILE, line_at};
