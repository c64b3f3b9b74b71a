//! A kernel in Rust. Its PTX, `add1.ptx`, is kept in the package. After a change, make it again:
//!
//! ```console
//! $ rustup target add nvptx64-nvidia-cuda --toolchain nightly
//! $ rustc +nightly --edition 2024 --target nvptx64-nvidia-cuda -C target-cpu=sm_75 \
//!     --crate-type lib --emit asm -C opt-level=3 -o kernels/add1.ptx kernels/add1.rs
//! ```
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

/// Adds 1 to each of `n` elements. A thread computes one.
///
/// # Safety
///
/// Both pointers have `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn add1(x: *const f32, y: *mut f32, n: usize) {
    unsafe {
        let block = nvptx::_block_idx_x() as usize;
        let i = block * nvptx::_block_dim_x() as usize + nvptx::_thread_idx_x() as usize;
        if i < n {
            *y.add(i) = *x.add(i) + 1.0;
        }
    }
}
