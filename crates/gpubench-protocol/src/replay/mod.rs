//! Launch plans on a device: buffers become addresses, kernels become functions, and what is left
//! is put on a stream.
//!
//! The worker replays the plan under test so ([`ReadyPlan`]). Whoever runs a crate's own kernels
//! ([`KernelHost`](gpubench_device::KernelHost)) fills inputs with [`Generators`] and computes what is
//! expected with a [`ReferencePlan`].
#![forbid(unsafe_code)]

mod address_space;
mod constants;
mod generators;
mod plan;
mod reference;

pub use address_space::{AddressSpace, Operand};
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
    /// The plan does not fit the compiled kernels.
    #[error("{0}")]
    Mismatch(String),
    /// The plan names something that there is not.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A kernel failed.
    #[error("kernel `{kernel}`")]
    Kernel {
        /// The kernel.
        kernel: String,
        /// What became of it.
        #[source]
        source: DeviceError,
    },
}
