//! A CUDA GPU through its driver's library, which is opened at run time.
//!
//! `library` finds the driver and says why it cannot be used, `api` is the table of its functions,
//! `call` turns their results into errors. `choice` picks the GPU and refuses those that cannot
//! keep to the window protocol, `sharing` and `mps` tell whether others compute on it at the same
//! time, `facts` says what it is, and `peaks` what it can reach. `context`, `memory`, `module` and
//! `launch` hold what one process has on it; `driver` is the [`Driver`](super::Driver) made of
//! them, and `fault` says what a kernel did wrong. `architecture` names what kernels are compiled
//! for, `image` is the file they are compiled to, and `nvrtc` the compiler as a library.

mod api;
mod architecture;
mod call;
mod choice;
mod context;
mod driver;
mod facts;
mod fault;
mod image;
mod launch;
mod library;
mod memory;
mod module;
mod mps;
pub mod nvrtc;
mod peaks;
mod sharing;
mod tensor_map;

#[cfg(test)]
mod tests;

pub use architecture::{Architecture, Features, UnusableArchitecture};
pub use call::DriverError;
pub use driver::CudaDriver;
pub use image::{DamagedImage, KernelImage};
pub use mps::mps_daemon;

/// The role that runs a crate's own kernels on this device.
pub const KERNELS_RUN_IN: crate::KernelHost = crate::KernelHost::Referee;
