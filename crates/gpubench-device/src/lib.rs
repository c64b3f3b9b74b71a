//! Devices behind one narrow waist: what the window protocol needs of a device, in the words of the
//! CUDA driver API, and the devices that provide it.
//!
//! Everything above is one code path that asks a [`Driver`] for its [`Facts`], or the [`Backend`]
//! of a device's kind for what can be done with it, never for the kind.
#![allow(unsafe_code)]

mod backends;
mod code_home;
pub mod compilers;
pub mod cpu;
pub mod cuda;
mod driver;
mod error;
mod facts;
mod fault_code;
#[cfg(any(test, feature = "testing"))]
pub mod faulty;
mod frozen_file;
mod guarded;
pub mod harness;
pub mod memfd;
pub mod nvtx;
mod order;
pub mod telemetry;
pub mod word;

pub use backends::{Backend, CompilerWishes, DeviceWishes, FoundCompiler, open};
pub use code_home::KernelHost;
pub use driver::{
    Access, DevicePtr, Driver, Event, Freeze, Function, HostWork, LaunchConfig, Memory, Module, ModuleImage, Stream,
};
pub use error::{Absence, AbsenceKind, DeviceError, Fault, HostFailure};
pub use facts::{ClockBound, Facts};
pub use fault_code::FaultCode;
pub use frozen_file::{CopyIdentity, FreezeError, FrozenFile};
pub use order::DeviceOrder;
