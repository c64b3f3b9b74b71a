//! The CUDA kernels of `cargo gpubench`, and the headers that let a C++ compiler build CUDA C++ for
//! the CPU device.
//!
//! One source tree (`cuda/`) is compiled twice. The GPU code is checked in under `ptx/` and
//! reproduced by `regenerate.sh`. The host code is built by this crate's build script, and the CPU
//! device's executor runs it like any other kernel. Every kernel takes one struct by value
//! ([`arguments`]) and is correct for every grid and for blocks of up to 256 threads; [`geometry`]
//! recommends one.
//!
//! # Their part in a measured window
//!
//! | when | kernel | purpose |
//! |---|---|---|
//! | before the call | [`Kernel::Fill`] | inputs that no earlier call has seen |
//! | | [`Kernel::Noise`] | poison in outputs and scratch, noise in the redzones of every buffer |
//! | | [`Kernel::Lines`] | decoy lines in the inputs |
//! | | [`Kernel::Flush`] | a cold last-level cache |
//! | | [`Kernel::Reveal`] | the referee's clock, then the true lines, put back at the last moment |
//! | in place of the call | [`Kernel::Twin`] | the case's memory traffic, in a control window |
//! | at both ends | [`Kernel::Stamp`] | the referee's clock |
//! | right after the call | [`Kernel::Digest`] | the output digest, and in early-check windows the digest of the whole output |
//! | after the call | [`Kernel::Check`] | comparison of every output element with the expected one, folded by [`CheckSummary`] |
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
pub use image::{Capability, Image, image_for, ptx_for};
pub use kernel::Kernel;
pub use shim::SHIM;
pub use summary::{CheckSummary, NoiseSummary, SummaryError};
