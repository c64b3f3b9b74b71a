//! The Rust side of `gpubench/abi.h`.

use std::ffi::{c_char, c_void};

use super::launch::LaunchShape;

pub(super) const ABI: u32 = 1;

/// `gb_wait`: why a thread yields before its end.
pub(super) mod wait {
    pub(crate) const BARRIER: u32 = 1;
    pub(crate) const WARP: u32 = 2;
    pub(crate) const SHUFFLE: u32 = 3;
    pub(crate) const BALLOT: u32 = 4;
    pub(crate) const MATCH_ANY: u32 = 5;
    pub(crate) const MATCH_ALL: u32 = 6;
    pub(crate) const ACTIVE: u32 = 7;
    pub(crate) const REDUCE: u32 = 8;
    pub(crate) const PARK: u32 = 9;
}

/// `gb_vote`: the result of a block barrier.
pub(super) mod vote {
    pub(crate) const NONE: u32 = 0;
    pub(crate) const COUNT: u32 = 1;
    pub(crate) const AND: u32 = 2;
    pub(crate) const OR: u32 = 3;
}

/// `gb_reduction`: the operation of a warp reduction.
pub(super) mod reduction {
    pub(crate) const ADD: u32 = 0;
    pub(crate) const MIN: u32 = 1;
    pub(crate) const MAX: u32 = 2;
    pub(crate) const AND: u32 = 3;
    pub(crate) const OR: u32 = 4;
    pub(crate) const XOR: u32 = 5;
    pub(crate) const MIN_SIGNED: u32 = 6;
    pub(crate) const MAX_SIGNED: u32 = 7;
}

/// `gb_stop`: why a kernel stops itself.
pub(super) mod stop {
    pub(crate) const TRAP: u32 = 1;
    pub(crate) const ASSERT: u32 = 2;
}

/// `gb_request`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) kind: u32,
    pub(super) line: u32,
    pub(super) mask: u32,
    pub(super) arg: u32,
    pub(super) value: u64,
    pub(super) thread: u32,
    pub(super) reserved: u32,
    pub(super) stack: u64,
    pub(super) frame: u64,
    pub(super) place: u64,
}

/// Encodes the reply of `gb_callbacks.wait` to [`wait::PARK`]: run threads `first..end`.
pub(super) fn range(first: u32, end: u32) -> u64 {
    u64::from(end) << 32 | u64::from(first + 1)
}

/// `gb_callbacks.wait`.
#[cfg(target_arch = "x86_64")]
pub(super) type Wait = unsafe extern "C" fn(worker: *mut c_void, request: *const Request) -> !;
/// `gb_callbacks.wait`.
#[cfg(not(target_arch = "x86_64"))]
pub(super) type Wait = unsafe extern "C" fn(worker: *mut c_void, request: *const Request) -> u64;

/// `gb_callbacks`.
#[repr(C)]
pub(super) struct Callbacks {
    pub(super) wait: Wait,
    pub(super) stop: unsafe extern "C" fn(worker: *mut c_void, kind: u32, line: u32, thread: u32),
}

/// `gb_unit`.
#[repr(C)]
pub(super) struct Unit {
    pub(super) install: unsafe extern "C" fn(callbacks: *const Callbacks),
    pub(super) begin:
        unsafe extern "C" fn(worker: *mut c_void, shape: *const LaunchShape, arguments: *const *const c_void),
    pub(super) block: unsafe extern "C" fn(x: u32, y: u32, z: u32),
    pub(super) thread: unsafe extern "C" fn(index: *mut u32),
}

/// `gb_threads`.
pub(super) type Threads = unsafe extern "C" fn(first: u32, end: u32);

/// `gb_kernel`.
#[repr(C)]
pub(super) struct Descriptor {
    pub(super) abi: u32,
    pub(super) param_count: u32,
    pub(super) param_sizes: *const u32,
    pub(super) name: *const c_char,
    pub(super) unit: *const Unit,
    pub(super) fast: Threads,
    pub(super) precise: Threads,
}

/// `gb_module`.
#[repr(C)]
pub(super) struct ModuleTable {
    pub(super) abi: u32,
    pub(super) count: u32,
    pub(super) kernels: *const *const Descriptor,
}
