//! The worker process: fresh for every case, it replays a launch plan on its own mapping of the buffers. The null worker is the same program without a plan, one for
//! all cases of a run.
//!
//! It holds this window's buffers and the kernels, and nothing else: no seeds, no expected outputs, no verdicts. `replay` puts a plan on a
//! stream, `process` takes the broker's orders.
#![forbid(unsafe_code)]

mod annotation;
mod process;
mod replay;

pub use process::serve;

use crate::device::DeviceError;
use crate::device::nvtx::NvtxError;
use crate::replay::ReplayError;
use crate::wire::ChannelError;

/// Why a worker could not carry out an order.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
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
    /// The broker's order makes no sense.
    #[error("the broker's order makes no sense: {0}")]
    Order(&'static str),
}
