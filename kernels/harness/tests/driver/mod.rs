//! Runs harness kernels without the tool's executor: blocks on a few OS threads, threads of a block
//! in the order of the shim's loop. This is enough for kernels whose threads never wait for each
//! other.

#![allow(unsafe_code)]
#![allow(dead_code)]

use std::ffi::{c_char, c_void};
use std::num::NonZeroU32;

use gpubench_harness::arguments::Arguments;
use gpubench_harness::{Geometry, HOST_BUILD, Kernel, Processors, geometry, host_kernel};

#[repr(C)]
struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
}

#[repr(C)]
struct Unit {
    install: *const c_void,
    begin: unsafe extern "C" fn(worker: *mut c_void, shape: *const Shape, arguments: *const *const c_void),
    block: unsafe extern "C" fn(x: u32, y: u32, z: u32),
    thread: *const c_void,
}

#[repr(C)]
struct Descriptor {
    abi: u32,
    param_count: u32,
    param_sizes: *const u32,
    name: *const c_char,
    unit: *const Unit,
    fast: unsafe extern "C" fn(first: u32, end: u32),
    precise: unsafe extern "C" fn(first: u32, end: u32),
}

// SAFETY: descriptors and the data that they point to are constant.
unsafe impl Sync for Descriptor {}

/// Launches the kernel of `arguments` on `os_threads` OS threads. The threads take blocks
/// alternately, the last blocks first.
///
/// # Safety
///
/// The addresses in `arguments` must be valid.
pub(crate) unsafe fn launch_on<A: Arguments>(os_threads: u32, arguments: &A, geometry: Geometry) {
    let kernel = host_kernel(A::KERNEL).unwrap_or_else(|| panic!("no kernels for the host: {HOST_BUILD:?}"));
    // SAFETY: the address is that of a `gb_kernel`, and `Descriptor` has the same layout.
    let descriptor = unsafe { &*kernel.descriptor().cast::<Descriptor>() };
    assert_eq!((descriptor.abi, descriptor.param_count), (1, 1));
    // SAFETY: the kernel has one parameter.
    assert_eq!(unsafe { *descriptor.param_sizes } as usize, size_of::<A>());
    let bytes = arguments.as_bytes();
    // SAFETY: the kernel copies the argument, which outlives the launch; the caller guarantees the
    // addresses.
    let turn = |first| unsafe { run_blocks(descriptor, bytes.as_ptr().cast(), geometry, first, os_threads) };
    std::thread::scope(|scope| {
        for first in 1..os_threads {
            let turn = &turn;
            scope.spawn(move || turn(first));
        }
        turn(0);
    });
}

unsafe fn run_blocks(descriptor: &Descriptor, argument: *const c_void, geometry: Geometry, first: u32, step: u32) {
    let Geometry { grid, block } = geometry;
    let shape = Shape {
        grid,
        block,
        dynamic_shared: 0,
    };
    let arguments = [argument];
    let blocks = grid[0] * grid[1] * grid[2];
    // SAFETY: the caller guarantees the argument; the shape and the argument list outlive the
    // launch.
    unsafe {
        ((*descriptor.unit).begin)(std::ptr::null_mut(), &shape, arguments.as_ptr());
        for index in (first..blocks).step_by(step as usize) {
            let index = blocks - 1 - index;
            ((*descriptor.unit).block)(index % grid[0], index / grid[0] % grid[1], index / grid[0] / grid[1]);
            (descriptor.fast)(0, block[0] * block[1] * block[2]);
        }
    }
}

/// Same as [`launch_on`], with two OS threads.
///
/// # Safety
///
/// Same as [`launch_on`].
pub(crate) unsafe fn launch<A: Arguments>(arguments: &A, geometry: Geometry) {
    // SAFETY: the caller guarantees the addresses.
    unsafe { launch_on(2, arguments, geometry) }
}

/// Two cores of the CPU device.
pub(crate) fn recommended(kernel: Kernel, bytes: u64) -> Geometry {
    geometry(kernel, bytes, Processors::Cores(NonZeroU32::MIN.saturating_add(1)))
}

/// Geometries without a common pattern.
pub(crate) const GEOMETRIES: [Geometry; 6] = [
    Geometry {
        grid: [1, 1, 1],
        block: [1, 1, 1],
    },
    Geometry {
        grid: [3, 1, 1],
        block: [1, 1, 1],
    },
    Geometry {
        grid: [1, 1, 1],
        block: [33, 1, 1],
    },
    Geometry {
        grid: [7, 1, 1],
        block: [64, 1, 1],
    },
    Geometry {
        grid: [2, 3, 2],
        block: [5, 2, 3],
    },
    Geometry {
        grid: [300, 1, 1],
        block: [2, 1, 1],
    },
];

/// Returns the address of a slice's first element.
pub(crate) fn address<T>(slice: &[T]) -> u64 {
    slice.as_ptr() as u64
}

/// Returns the address of a slice's first element, for writing.
pub(crate) fn address_mut<T>(slice: &mut [T]) -> u64 {
    slice.as_mut_ptr() as u64
}

/// A simple implementation of Philox4x32-7 for one block.
pub(crate) fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..7 {
        let a = u64::from(counter[0]) * 0xd251_1f53;
        let b = u64::from(counter[2]) * 0xcd9e_8d57;
        counter = [
            (b >> 32) as u32 ^ counter[1] ^ key[0],
            b as u32,
            (a >> 32) as u32 ^ counter[3] ^ key[1],
            a as u32,
        ];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

/// Returns byte `position` of the noise of `key`.
pub(crate) fn noise_byte(key: u64, position: u64) -> u8 {
    let block = position / 16;
    let words = philox(
        [block as u32, (block >> 32) as u32, 0, 1],
        [key as u32, (key >> 32) as u32],
    );
    words[(position % 16 / 4) as usize].to_le_bytes()[(position % 4) as usize]
}
