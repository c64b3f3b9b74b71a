//! The kernels as the host compiler built them.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use crate::Kernel;

/// Whether the kernels were built for the CPU device; otherwise what the C++ compiler, or its
/// absence, had to say.
pub const HOST_BUILD: Result<(), &str> = match option_env!("GPUBENCH_HOST_BUILD") {
    None => Ok(()),
    Some(reason) => Err(reason),
};

/// A descriptor of a kernel built for the host.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct HostKernel(*const Descriptor);

/// The start of `gb_kernel` in `gpubench/abi.h`.
#[repr(C)]
#[derive(Debug)]
struct Descriptor {
    abi: u32,
    param_count: u32,
    param_sizes: *const u32,
    name: *const c_char,
}

// SAFETY: a descriptor is constant data of this executable.
unsafe impl Send for HostKernel {}
// SAFETY: as above; nothing ever writes it.
unsafe impl Sync for HostKernel {}

impl HostKernel {
    /// Address of the `gb_kernel`, as described by `gpubench/abi.h` of [`crate::SHIM`]; valid for
    /// the life of the process.
    pub const fn descriptor(self) -> *const c_void {
        self.0.cast()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        // SAFETY: the descriptor is constant data of this executable and its name a string literal
        // there.
        let name = unsafe { CStr::from_ptr((*self.0).name) };
        name.to_str().unwrap_or_default()
    }
}

/// The kernels for the CPU device, in the order of [`Kernel::ALL`]; none if the tool was built
/// without a C++ compiler, for which [`HOST_BUILD`] has the reason.
pub fn host_kernels() -> Option<&'static [HostKernel]> {
    table()
}

/// One kernel of [`host_kernels`].
pub fn host_kernel(kernel: Kernel) -> Option<HostKernel> {
    host_kernels()?
        .iter()
        .copied()
        .find(|built| built.name() == kernel.name())
}

#[cfg(gpubench_host_kernels)]
fn table() -> Option<&'static [HostKernel]> {
    unsafe extern "C" {
        fn gb_harness_kernels(count: *mut usize) -> *const HostKernel;
    }
    let mut count = 0;
    // SAFETY: the function is this crate's own, in `cuda/host.cpp`, and only writes the count.
    let first = unsafe { gb_harness_kernels(&mut count) };
    // SAFETY: `first` is a constant table of `count` pointers to descriptors, and `HostKernel` is
    // such a pointer.
    Some(unsafe { std::slice::from_raw_parts(first, count) })
}

#[cfg(not(gpubench_host_kernels))]
fn table() -> Option<&'static [HostKernel]> {
    None
}
