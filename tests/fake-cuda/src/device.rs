//! The driver and its devices.

use std::ffi::{c_char, c_int, c_uint};

use cudarc::driver::sys::{CUdevice, CUdevice_attribute as Attribute, CUuuid};
use gpubench_device::Driver as _;

use crate::behaviour::behaviour;
use crate::call::{in_context, lock, plain, with_gpu};
use crate::error::{INVALID_DEVICE, INVALID_VALUE, NOT_SUPPORTED, Refusal};
use crate::gpu::Gpu;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuInit(_flags: c_uint) -> c_int {
    plain("cuInit", || {
        if behaviour().init != 0 {
            return Err(Refusal(behaviour().init));
        }
        let mut gpu = lock();
        if gpu.is_none() {
            *gpu = Some(Gpu::new()?);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    plain("cuDriverGetVersion", || {
        // SAFETY: the caller passes a valid pointer to a number.
        unsafe { *version = behaviour().version };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    with_gpu("cuDeviceGetCount", |_| {
        // SAFETY: the caller passes a valid pointer to a number.
        unsafe { *count = behaviour().devices };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) -> c_int {
    with_gpu("cuDeviceGet", |_| {
        if !(0..behaviour().devices).contains(&ordinal) {
            return Err(Refusal(INVALID_DEVICE));
        }
        // SAFETY: the caller passes a valid pointer to a handle.
        unsafe { *device = ordinal };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, bytes: c_int, device: CUdevice) -> c_int {
    with_gpu("cuDeviceGetName", |_| {
        let known = behaviour().names.get(device as usize);
        copy(known.map_or("Fake GPU", String::as_str), name, bytes)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuDeviceGetPCIBusId(address: *mut c_char, bytes: c_int, device: CUdevice) -> c_int {
    with_gpu("cuDeviceGetPCIBusId", |_| match behaviour().pci.get(device as usize) {
        Some(known) => copy(known, address, bytes),
        None => Err(Refusal(NOT_SUPPORTED)),
    })
}

/// Writes text and a zero to a buffer of `bytes` bytes.
fn copy(text: &str, buffer: *mut c_char, bytes: c_int) -> Result<(), Refusal> {
    if (bytes as usize) <= text.len() {
        return Err(Refusal(INVALID_VALUE));
    }
    // SAFETY: the caller's buffer has `bytes` bytes, which are enough for the text and the zero.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), text.len());
        buffer.add(text.len()).write(0);
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, device: CUdevice) -> c_int {
    with_gpu("cuDeviceGetUuid_v2", |_| {
        // SAFETY: the caller passes a valid pointer to a UUID.
        unsafe { (*uuid).bytes = [device as c_char; 16] };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: CUdevice) -> c_int {
    with_gpu("cuDeviceGetAttribute", |_| {
        let other = behaviour().attributes.iter().find(|(number, _)| *number == attribute);
        // SAFETY: the caller passes a valid pointer to a number.
        unsafe { *value = other.map_or_else(|| usual(attribute), |(_, value)| *value) };
        Ok(())
    })
}

/// Returns the default value of an attribute. Clock rates are missing on purpose: without them the
/// tool computes no peak, which the CPU device could not match.
fn usual(attribute: c_int) -> c_int {
    const VALUES: &[(Attribute, c_int)] = &[
        (Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9),
        (Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0),
        (Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132),
        (Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 1),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65_536),
        (
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            228 << 10,
        ),
        (Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1 << 10),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, c_int::MAX),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65_535),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65_535),
        (Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10),
        (
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            227 << 10,
        ),
        (Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 4 << 20),
        (Attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
        (
            Attribute::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
            1,
        ),
        (Attribute::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1),
        (Attribute::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1),
        (Attribute::CU_DEVICE_ATTRIBUTE_MPS_ENABLED, 1),
    ];
    let found = VALUES.iter().find(|(number, _)| *number as c_int == attribute);
    found.map_or(0, |(_, value)| *value)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> c_int {
    in_context("cuMemGetInfo_v2", |gpu| {
        let bytes = gpu.cpu.facts().free_memory.unwrap_or(1 << 30) as usize;
        // SAFETY: the caller passes valid pointers to numbers.
        unsafe { (*free, *total) = (bytes, bytes) };
        Ok(())
    })
}
