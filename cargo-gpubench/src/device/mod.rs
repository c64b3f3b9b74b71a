//! Devices behind one narrow waist: what the window protocol needs of a device, in the words of the CUDA driver API, and the devices that provide it.
//!
//! Everything above this module is one code path that asks a [`Driver`] for its [`Facts`], never for its name.

mod code_home;
pub mod cpu;
pub mod cuda;
mod driver;
mod error;
mod facts;
#[cfg(test)]
pub(crate) mod faulty;
pub mod harness;
mod kernel_part;
pub(crate) mod memfd;
pub mod nvtx;
mod open;
pub(crate) mod word;

pub use code_home::CodeHome;
pub use driver::{
    Access, DevicePtr, Driver, Event, Function, HostWork, LaunchConfig, Memory, Module, ModuleImage, Seal, Stream,
};
pub use error::{Absence, AbsenceKind, DeviceError, Fault, HostFailure};
pub use facts::{ClockBound, Facts};
pub use kernel_part::{KernelPart, KernelPartSource};
pub use open::open;
