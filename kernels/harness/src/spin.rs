//! The kernel of known length, which `cargo gpubench calibrate` measures like a kernel under test.

#![forbid(unsafe_code)]

/// Its name.
pub const SPIN_KERNEL: &str = "gb_spin";

/// Its source, for catalogs. Nothing compiles it: [`SPIN_LIBRARY`] and
/// [`image_for`](crate::image_for) have the compiled kernel.
pub const SPIN_SOURCE: &str = include_str!("../cuda/spin.cuh");

/// The kernel as a library for the CPU device. `None` if the tool was built without a C++ compiler;
/// [`HOST_BUILD`](crate::HOST_BUILD) has the reason.
pub const SPIN_LIBRARY: Option<&[u8]> = library();

#[cfg(gpubench_host_kernels)]
const fn library() -> Option<&'static [u8]> {
    Some(include_bytes!(concat!(env!("OUT_DIR"), "/spin.so")))
}

#[cfg(not(gpubench_host_kernels))]
const fn library() -> Option<&'static [u8]> {
    None
}
