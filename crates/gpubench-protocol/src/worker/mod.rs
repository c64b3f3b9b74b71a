//! The worker process. It is new for every case and makes the calls of a benchmark on its own
//! mapping of the buffers. The control worker is the same program without a plan, one for all cases
//! of a run.
//!
//! A worker has the buffers of the current window and the code to launch, but no seeds, expected
//! outputs or verdicts. The code is a plan, which `call` puts on a stream, or the user's library if
//! the benchmark is `hosted`. `process` carries out the broker's orders, `setup` reads a set-up,
//! and `case` has the state. `window` arms and finishes a window, `stopwatch` times its call, and
//! `parts` the parts of a call. `counted` runs a window whose call is counted instead.

mod annotation;
mod buffers;
mod call;
mod case;
mod copies;
mod counted;
mod gate_guard;
mod graphs;
mod hold;
mod hosted;
mod parts;
mod process;
mod setup;
mod stopwatch;
mod tracing;
mod twin;
mod window;

#[cfg(test)]
mod tests;

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
    /// The device rejected the plan or its kernels.
    #[error(transparent)]
    Plan(DeviceError),
    /// The calls of a window cannot be one graph.
    #[error("the calls cannot be captured in a graph")]
    Capture(#[source] DeviceError),
    /// The connection to the broker failed.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The shared page cannot be used.
    #[error("cannot use the shared page")]
    Page(#[source] std::io::Error),
    /// The plan cannot be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Profiler ranges are not available.
    #[error("cannot mark windows for a profiler")]
    Annotation(#[from] NvtxError),
    /// The set-up of the user's host code failed.
    #[error("the host code could not be set up")]
    Refused(#[source] HostFailure),
    /// Rights that the case does not need cannot be given up.
    #[error("cannot drop capabilities")]
    Capabilities(#[source] rustix::io::Errno),
    /// The broker's order is invalid.
    #[error("invalid order from the broker: {0}")]
    Order(&'static str),
}
