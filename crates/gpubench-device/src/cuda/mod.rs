//! CUDA GPUs, through the driver library, which is opened at run time.
//!
//! - `library` finds the driver or explains why it cannot be used. `api` is the table of its
//!   functions, `call` turns their results into errors.
//! - `choice` selects the GPU and rejects one that does not support the window protocol. `sharing`
//!   and `mps` detect other users of the GPU. `facts` has its properties, `peaks` its peak rates.
//! - `context`, `memory`, `module` and `launch` manage the objects of one process; `driver`
//!   combines them into a [`Driver`](super::Driver). `fault` decodes kernel faults.
//! - `cupti` counts what kernels do.
//! - `architecture` names compilation targets, `image` is the file format of compiled kernels,
//!   `nvrtc` the compiler library.

mod api;
mod architecture;
mod call;
mod choice;
mod context;
mod cupti;
mod driver;
mod facts;
mod fault;
mod graph;
mod host_thread;
mod image;
mod launch;
mod library;
mod memory;
mod module;
mod mps;
pub mod nvrtc;
mod occupancy;
mod peaks;
pub(crate) mod ptxas;
mod sharing;
mod tensor_map;

#[cfg(test)]
mod tests;

pub use architecture::{Architecture, Features, UnusableArchitecture};
pub use call::DriverError;
pub use driver::CudaDriver;
pub use image::{DamagedImage, ImageForm, KernelImage};
pub use mps::mps_daemon;
pub use ptxas::AssemblerReport;

/// The process that runs the kernels of references and generators on this device.
pub const KERNELS_RUN_IN: crate::KernelHost = crate::KernelHost::Referee;
