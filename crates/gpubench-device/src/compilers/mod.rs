//! Compiling kernel sources for a device.
//!
//! [`HostCompiler`] turns a CUDA C++ source into a library for the CPU device: it refuses by name
//! what that device cannot run and compiles the rest as C++ with the shim. [`GpuCompiler`] turns it
//! into an image for a GPU. Both are a [`Compiler`], and keep what they make in a cache addressed
//! by everything that went into it. No user code runs here.

#![forbid(unsafe_code)]

mod alignment;
mod cache_key;
mod compiler;
mod cut;
mod diagnostics;
mod dynamic_shared;
mod error;
mod gpu;
mod host_compiler;
mod items;
mod kept;
mod options;
mod parameters;
mod process;
mod processors;
mod refusal;
mod scan;
mod scratch;
mod static_shared;
#[cfg(test)]
mod tests;
mod undefined;
mod unit;

pub use compiler::{Compiled, Compiler, Wanted};
pub use error::{CompilerMissing, KernelBuildError, NoHostCompiler};
pub use gpu::{
    GpuCompiler, GpuCompilers, NamedCompilers, NamedNotFound, NvccNotFound, NvrtcNotFound, ServeError, serve,
};
pub use host_compiler::HostCompiler;
pub use parameters::{Field, Parameter, ParameterType, declared_parameters};
pub use processors::{PORTABLE, Processors};
pub use scan::{declared_kernels, makes_kernels_by_macros};
