//! The worker process: fresh for every case, it makes the calls of a benchmark on its own mapping
//! of the buffers. The control worker is the same program without a plan, one for all cases of a run.
//!
//! It holds this window's buffers and what launches, and nothing else: no seeds, no expected
//! outputs, no verdicts. What launches is a plan that `call` puts on a stream, or, where the
//! benchmark is `hosted`, the user's library. `process` takes the broker's orders, `setup` reads
//! what came with one, `case` is what the worker has. `window` arms a window and finishes it;
//! `stopwatch` is what is armed round the call and read after it.

mod annotation;
mod buffers;
mod call;
mod case;
mod hosted;
mod process;
mod setup;
mod stopwatch;
mod twin;
mod window;

pub use process::serve;

use crate::replay::ReplayError;
use crate::wire::ChannelError;
use gpubench_device::nvtx::NvtxError;
use gpubench_device::{DeviceError, HostFailure};

/// Why a worker could not carry out an order.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The device refuses the plan or its kernels.
    #[error(transparent)]
    Plan(DeviceError),
    /// The broker is gone.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The shared page cannot be used.
    #[error("cannot use the shared page")]
    Page(#[source] std::io::Error),
    /// The plan cannot be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Windows cannot be marked for a profiler.
    #[error("the windows cannot be marked for a profiler")]
    Annotation(#[from] NvtxError),
    /// The user's host code could not be set up.
    #[error("the host code could not be set up")]
    Refused(#[source] HostFailure),
    /// The broker's order makes no sense.
    #[error("the broker's order makes no sense: {0}")]
    Order(&'static str),
}
