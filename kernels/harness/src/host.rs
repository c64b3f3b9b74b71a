//! The kernels, compiled for the host.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};

use crate::Kernel;

/// `Ok` if the kernels were built for the CPU device; otherwise the output of the C++ compiler, or
/// that there was none.
pub const HOST_BUILD: Result<(), &str> = match option_env!("GPUBENCH_HOST_BUILD") {
    None => Ok(()),
    Some(reason) => Err(reason),
};

/// A descriptor of a kernel built for the host.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct HostKernel(*const Descriptor);

/// The first fields of `gb_kernel` in `gpubench/abi.h`.
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
// SAFETY: as above; nothing writes to it.
unsafe impl Sync for HostKernel {}

impl HostKernel {
    /// Returns the address of the `gb_kernel`, as described by `gpubench/abi.h` of [`crate::SHIM`].
    /// It stays valid until the process ends.
    pub const fn descriptor(self) -> *const c_void {
        self.0.cast()
    }

    /// Returns the kernel's name.
    pub fn name(self) -> &'static str {
        // SAFETY: the descriptor is constant data of this executable, and its name is a string
        // literal in it.
        let name = unsafe { CStr::from_ptr((*self.0).name) };
        name.to_str().unwrap_or_default()
    }
}

/// Returns the kernels for the CPU device, in the order of [`Kernel::ALL`]. The slice is empty if
/// the tool was built without a C++ compiler; [`HOST_BUILD`] has the reason.
pub fn host_kernels() -> Option<&'static [HostKernel]> {
    table()
}

/// Returns one kernel of [`host_kernels`].
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
    // SAFETY: the function is in this crate's `cuda/host.cpp` and only writes the count.
    let first = unsafe { gb_harness_kernels(&mut count) };
    // SAFETY: `first` is a constant table of `count` pointers to descriptors, and `HostKernel` is
    // such a pointer.
    Some(unsafe { std::slice::from_raw_parts(first, count) })
}

#[cfg(not(gpubench_host_kernels))]
fn table() -> Option<&'static [HostKernel]> {
    None
}
