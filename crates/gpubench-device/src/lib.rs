//! The device abstraction: a [`Driver`] trait modelled on the CUDA driver API, with everything that
//! the window protocol needs, and the devices that implement it.
//!
//! Code above this crate has one path for all devices. It asks a [`Driver`] for its [`Facts`] and
//! the [`Backend`] of a device kind for its capabilities. It never branches on the kind.
#![allow(unsafe_code)]

mod backends;
pub mod cgroup;
pub mod clocks;
pub mod compilers;
mod counting;
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
mod kernel_host;
pub mod memfd;
mod monotonic;
pub mod nvtx;
mod order;
mod ordinals;
pub mod telemetry;
mod toolkits;
mod tracing;
pub mod word;

pub use backends::{
    Backend, CompilerRequest, DeviceRequest, FindDisassembler, FoundCompiler, NvidiaTools, OpenClocks, kind_in_records,
    open,
};
pub use counting::{Count, CountRequest, Counter, CounterHold, Launcher};
pub use driver::{
    Access, DevicePtr, Driver, Event, Freeze, Function, Graph, HostWork, LaunchConfig, Memory, Module, ModuleImage,
    Profiling, Resources, Stream, StridedRows,
};
pub use error::{Absence, AbsenceKind, DeviceError, Fault, HostFailure, SourceLine};
pub use facts::{ClockBound, Facts};
pub use fault_code::FaultCode;
pub use frozen_file::{CopyIdentity, FreezeError, FrozenFile};
pub use kernel_host::KernelHost;
pub use monotonic::monotonic_ns;
pub use order::DeviceOrder;
pub use ordinals::{Ordinals, OrdinalsError};
pub use tracing::{Operation, OperationKind, Tracer, busy_ns, span_ns};
