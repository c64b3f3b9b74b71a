//! Compiles kernel sources for a device.
//!
//! [`HostCompiler`] turns a CUDA C++ source into a library for the CPU device. It refuses
//! unsupported constructs by name and compiles the rest as C++ with the shim. [`GpuCompiler`] turns
//! a source into an image for a GPU. Both implement [`Compiler`] and keep their files in a cache,
//! under a hash of all inputs. No user code runs here.

#![forbid(unsafe_code)]

mod alignment;
mod cache_file;
mod cache_key;
mod compiler;
mod constants;
mod cuda_functions;
mod cut;
mod declared;
mod diagnostics;
mod dynamic_shared;
mod error;
mod gpu;
mod host_compiler;
mod items;
mod missing_header;
mod optimization;
mod options;
mod process;
mod processors;
mod readable;
mod refusal;
mod scratch;
mod static_shared;
#[cfg(test)]
mod tests;
mod undefined;
mod unit;

pub use compiler::{Compiled, Compiler, Wanted};
pub use declared::{declared_kernels, declared_parameters, declared_thread_limit, makes_kernels_by_macros};
pub use error::{CompilerMissing, KernelBuildError, NoHostCompiler};
pub use gpu::{
    Disassembler, GpuCheck, GpuCompiler, GpuCompilers, GpuVerdict, NamedCompilers, NamedNotFound, NoDisassembler,
    NvccNotFound, NvrtcNotFound, ServeError, Unreadable, serve,
};
pub use host_compiler::{HostCompiler, cut_for_cpu};
pub use optimization::Optimization;
pub use processors::{PORTABLE, Processors};
