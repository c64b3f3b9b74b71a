//! The CUDA kernels of `cargo gpubench` itself, and the headers that let a C++ compiler build CUDA
//! C++ for the CPU device.
//!
//! One source tree (`cuda/`) is compiled twice: for GPUs, checked in under `ptx/` and reproduced by
//! `regenerate.sh`, and by this crate's build script to code of the host, which the CPU device's
//! executor runs like any other kernel. Every kernel takes one struct by value ([`arguments`]) and
//! is right for every grid and for blocks of up to 256 threads; [`geometry`] recommends one.
//!
//! # Their part in a measured window
//!
//! | when | kernel | what for |
//! |---|---|---|
//! | before the call | [`Kernel::Fill`] | inputs that no earlier call has seen |
//! | | [`Kernel::Noise`] | poison in outputs and scratch, noise in the redzone behind every buffer |
//! | | [`Kernel::Lines`] | decoy lines in the inputs |
//! | | [`Kernel::Flush`] | a cold last-level cache |
//! | | [`Kernel::Reveal`] | the true lines, put back at the last moment, and the referee's clock right before |
//! | in place of the call | [`Kernel::Twin`] | what the case does to memory, in a control window |
//! | at both ends | [`Kernel::Stamp`] | the referee's own clock |
//! | right behind the call | [`Kernel::Digest`] | the output digest, and in early-check windows the digest of the whole output |
//! | after the call | [`Kernel::Check`] | every element of every output against the expected one, folded by [`CheckSummary`] |
//! | | [`Kernel::NoiseCheck`] | writes outside of buffers, folded by [`NoiseSummary`] |

pub mod arguments;
#[rustfmt::skip]
pub mod bindings;
mod geometry;
mod host;
mod image;
mod kernel;
pub mod shim;
mod summary;

pub use geometry::{Geometry, Processors, geometry};
pub use host::{HOST_BUILD, HostKernel, host_kernel, host_kernels};
pub use image::{Capability, Image, PTX_COMPUTE_75, PTX_COMPUTE_90, image_for, ptx_for};
pub use kernel::Kernel;
pub use shim::SHIM;
pub use summary::{CheckSummary, NoiseSummary, SummaryError};
