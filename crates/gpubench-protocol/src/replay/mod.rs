//! Launch plans on a device: buffers become addresses, kernels become functions, and the steps go
//! on a stream.
//!
//! The worker replays the plan under test as a [`ReadyPlan`]. The process that runs a crate's own
//! kernels ([`KernelHost`](gpubench_device::KernelHost)) fills inputs with [`Generators`] and
//! computes expected outputs with a [`ReferencePlan`].
#![forbid(unsafe_code)]

mod address_space;
mod constants;
mod flush;
mod generators;
mod plan;
mod reference;

pub use address_space::{AddressSpace, Operand};
pub use flush::FlushBuffer;
pub use generators::Generators;
pub use plan::ReadyPlan;
pub use reference::ReferencePlan;

use gpubench_device::DeviceError;

/// Why a plan cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The plan does not match the compiled kernels.
    #[error("{0}")]
    Mismatch(String),
    /// The plan names something that does not exist.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A kernel failed.
    #[error("kernel `{kernel}`")]
    Kernel {
        /// The kernel.
        kernel: String,
        /// The error.
        #[source]
        source: DeviceError,
    },
}
