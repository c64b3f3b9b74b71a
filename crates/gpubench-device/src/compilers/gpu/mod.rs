//! Compiles kernel sources for NVIDIA GPUs.
//!
//! [`GpuCompiler`] turns a source into a [`KernelImage`](crate::cuda::KernelImage) with NVRTC or
//! nvcc, depending on the source and the machine. It accepts PTX, cubins and fatbins without
//! compilation. NVRTC runs in a separate process, where [`serve`] handles the requests.
//! [`Disassembler`] reads the machine code of compiled kernels.

mod check;
mod compiler;
mod device_code;
mod front_end;
mod headers;
mod image;
mod job;
mod nvcc;
mod nvrtc;
mod opcodes;
mod options;
mod request;
mod sass;
mod serve;
mod store;
mod tool;

pub use check::{GpuCheck, GpuVerdict};
pub use compiler::{GpuCompiler, GpuCompilers, NamedCompilers, NamedNotFound, NvccNotFound, NvrtcNotFound};
pub(super) use options::{Known, Shape, known};
pub use sass::{Disassembler, NoDisassembler, Unreadable};
pub use serve::{ServeError, serve};
