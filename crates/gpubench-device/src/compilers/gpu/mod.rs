//! Compiling kernel sources for NVIDIA GPUs.
//!
//! [`GpuCompiler`] makes a [`KernelImage`](crate::cuda::KernelImage) of a source, by NVRTC or nvcc,
//! whichever the source needs and the machine has; PTX, cubins and fatbins it takes as they are.
//! NVRTC runs in a process of its own: [`serve`] is what happens there.

mod compiler;
mod device_code;
mod find;
mod front_end;
mod headers;
mod image;
mod job;
mod nvcc;
mod nvrtc;
mod options;
mod request;
mod serve;
mod store;

pub use compiler::{GpuCompiler, GpuCompilers, NamedCompilers, NamedNotFound, NvccNotFound, NvrtcNotFound};
pub(super) use options::{Known, Shape, known};
pub use serve::{ServeError, serve};
