//! Compiles kernel sources for NVIDIA GPUs.
//!
//! [`GpuCompiler`] turns a source into a [`KernelImage`](crate::cuda::KernelImage) with NVRTC or
//! nvcc, depending on the source and the machine. It accepts PTX, cubins and fatbins without
//! compilation. NVRTC runs in a separate process, where [`serve`] handles the requests.
//! [`Listing`] prints compiled kernels as PTX or SASS.

mod compiler;
mod device_code;
mod front_end;
mod headers;
mod image;
mod job;
mod listing;
mod nvcc;
mod nvrtc;
mod opcodes;
mod options;
mod ptx_text;
mod request;
mod sass;
mod serve;
mod store;

pub use compiler::{GpuCompiler, GpuCompilers, NamedCompilers, NamedNotFound, NvccNotFound, NvrtcNotFound};
pub use listing::{Listing, NoListing};
pub(super) use options::{Known, Shape, known};
pub use sass::{Disassembler, NoDisassembler};
pub use serve::{ServeError, serve};
