//! The driver functions that launch plans need.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::LazyLock;

use gpubench::plan::{Cooperation, Dependence, Launch, TensorMapDescription};
use gpubench::prelude::*;
use libloading::os::unix::Library;

static DRIVER: LazyLock<Library> = LazyLock::new(|| {
    // SAFETY: the driver library is already loaded.
    unsafe { Library::new("libcuda.so.1") }.expect("a driver")
});

/// Calls a driver function.
macro_rules! call {
    ($name:literal ( $($argument:expr => $type:ty),* $(,)? )) => {{
        let name: &CStr = $name;
        // SAFETY: the types match the driver's header.
        let function = unsafe { DRIVER.get::<unsafe extern "C" fn($($type),*) -> c_int>(name.to_bytes_with_nul()) };
        let function = function.map_err(|error| Error::new(error.to_string()))?;
        // SAFETY: the arguments meet the header's requirements.
        match unsafe { function($($argument),*) } {
            0 => Ok(()),
            code => Err(Error::new(format!("`{}` answered {code}", name.to_string_lossy()))),
        }
    }};
}

/// A module, a function or a stream.
#[derive(Clone, Copy)]
pub(crate) struct Handle(pub(crate) *mut c_void);

pub(crate) fn load(image: &[u8]) -> Result<Handle> {
    let mut module = null_mut();
    call!(c"cuModuleLoadDataEx"(
        &raw mut module => *mut *mut c_void,
        image.as_ptr().cast() => *const c_void,
        0 => c_uint,
        null_mut() => *mut c_int,
        null_mut() => *mut *mut c_void,
    ))?;
    Ok(Handle(module))
}

pub(crate) fn function(module: Handle, symbol: &str) -> Result<Handle> {
    let symbol = CString::new(symbol).map_err(|error| Error::new(error.to_string()))?;
    let mut function = null_mut();
    call!(c"cuModuleGetFunction"(
        &raw mut function => *mut *mut c_void,
        module.0 => *mut c_void,
        symbol.as_ptr() => *const c_char,
    ))?;
    Ok(Handle(function))
}

/// Raises the limit of dynamic shared memory to this many bytes.
pub(crate) fn permit_shared(function: Handle, bytes: u32) -> Result<()> {
    call!(c"cuFuncSetAttribute"(function.0 => *mut c_void, 8 => c_int, bytes as c_int => c_int))
}

/// Returns the number of blocks that fit on a multiprocessor.
pub(crate) fn occupancy(function: Handle, threads: u32, shared: u32) -> Result<u32> {
    let mut blocks = 0;
    call!(c"cuOccupancyMaxActiveBlocksPerMultiprocessor"(
        &raw mut blocks => *mut c_int,
        function.0 => *mut c_void,
        threads as c_int => c_int,
        shared as usize => usize,
    ))?;
    Ok(blocks as u32)
}

pub(crate) fn allocate(bytes: u64) -> Result<u64> {
    let mut address = 0;
    call!(c"cuMemAlloc_v2"(&raw mut address => *mut u64, bytes.max(1) as usize => usize))?;
    Ok(address)
}

pub(crate) fn set(address: u64, value: u8, bytes: u64, stream: Handle) -> Result<()> {
    call!(c"cuMemsetD8Async"(address => u64, value => u8, bytes as usize => usize, stream.0 => *mut c_void))
}

pub(crate) fn copy(target: u64, source: u64, bytes: u64, stream: Handle) -> Result<()> {
    call!(c"cuMemcpyAsync"(target => u64, source => u64, bytes as usize => usize, stream.0 => *mut c_void))
}

/// A tensor map in the driver's format.
#[repr(C, align(64))]
struct Encoded([u8; 128]);

pub(crate) fn tensor_map(address: u64, map: &TensorMapDescription) -> Result<Vec<u8>> {
    let mut encoded = Encoded([0; 128]);
    call!(c"cuTensorMapEncodeTiled"(
        &raw mut encoded => *mut Encoded,
        map.element as c_uint => c_uint,
        map.dims.len() as c_uint => c_uint,
        address => u64,
        map.dims.as_ptr() => *const u64,
        map.strides.as_ptr() => *const u64,
        map.box_dims.as_ptr() => *const u32,
        map.element_strides.as_ptr() => *const u32,
        map.interleave as c_uint => c_uint,
        map.swizzle as c_uint => c_uint,
        map.l2_promotion as c_uint => c_uint,
        map.fill as c_uint => c_uint,
    ))?;
    Ok(encoded.0.to_vec())
}

/// `CUlaunchAttribute`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attribute {
    id: c_uint,
    pad: [u8; 4],
    value: [u32; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    stream: *mut c_void,
    attributes: *const Attribute,
    count: c_uint,
}

const COOPERATIVE: c_uint = 2;
const CLUSTER: c_uint = 4;
const PROGRAMMATIC: c_uint = 6;

/// Queues a launch.
pub(crate) fn launch(function: Handle, launch: &Launch, arguments: &[Vec<u8>], stream: Handle) -> Result<()> {
    let attribute = |id, words: &[u32]| {
        let mut value = [0; 16];
        value[..words.len()].copy_from_slice(words);
        Attribute { id, pad: [0; 4], value }
    };
    let mut attributes = Vec::new();
    if launch.cluster != [1; 3] {
        attributes.push(attribute(CLUSTER, &launch.cluster));
    }
    if launch.cooperation == Cooperation::Grid {
        attributes.push(attribute(COOPERATIVE, &[1]));
    }
    if launch.dependence == Dependence::Programmatic {
        attributes.push(attribute(PROGRAMMATIC, &[1]));
    }
    let config = Config {
        grid: launch.grid,
        block: launch.block,
        shared: launch.dynamic_shared,
        stream: stream.0,
        attributes: attributes.as_ptr(),
        count: attributes.len() as c_uint,
    };
    let mut values: Vec<*const c_void> = arguments.iter().map(|argument| argument.as_ptr().cast()).collect();
    call!(c"cuLaunchKernelEx"(
        &raw const config => *const Config,
        function.0 => *mut c_void,
        values.as_mut_ptr() => *mut *const c_void,
        null_mut() => *mut *mut c_void,
    ))
}
