//! Properties of a GPU.

use std::ffi::{CStr, c_char, c_int};

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use gpubench::catalog::{DeviceFacts, DeviceKind};

use super::call::{DriverError, call};
use super::choice::Gpu;
use super::context::Context;
use super::library::{kernel_driver_version, version_text};
use super::memory::granularity;
use super::peaks::{arithmetic_peaks, peak_bandwidth};
use super::sharing::clock_bound;
use crate::Facts;

/// The alignment that `cudaMalloc` guarantees.
const ALIGNMENT: u64 = 256;

/// Size of a flush in multiples of the last-level cache.
const FLUSH_FACTOR: u64 = 2;

/// Returns the properties of a context's GPU.
pub(super) fn facts(context: &Context, driver_version: c_int) -> Result<Facts, DriverError> {
    let gpu = &context.gpu;
    let number = |attribute: Attribute| -> Result<u32, DriverError> {
        gpu.attribute(attribute).map(|value| u32::try_from(value).unwrap_or(0))
    };
    let name = name(gpu)?;
    let capability = gpu.capability()?;
    let multiprocessors = number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let l2_bytes = u64::from(number(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?);
    Ok(Facts {
        device: DeviceFacts {
            kind: DeviceKind::Cuda,
            name: name.clone(),
            multiprocessors,
            capability,
            warp_size: number(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            max_threads_per_block: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            max_threads_per_multiprocessor: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            max_block: [
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            max_grid: [
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            shared_per_block: u64::from(number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?),
            shared_per_block_optin: u64::from(number(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?),
            l2_bytes,
        },
        identity: Some(identity(gpu)?),
        pci_address: pci_address(gpu),
        driver: Some(driver(driver_version)),
        clock_tick_ns: clock_tick_ns(capability),
        granularity: granularity(context)?,
        alignment: ALIGNMENT,
        free_memory: Some(context.free_memory()?),
        flush_bytes: FLUSH_FACTOR * l2_bytes,
        clock_bound: clock_bound(gpu, &name),
        kernels_run_in: super::KERNELS_RUN_IN,
        peak_bandwidth: peak_bandwidth(
            number(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
            number(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
        ),
        peak_arithmetic: arithmetic_peaks(
            capability,
            multiprocessors,
            number(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
        ),
    })
}

fn name(gpu: &Gpu) -> Result<String, DriverError> {
    let mut name = [0 as c_char; 256];
    let bytes = name.len() as c_int - 1;
    // SAFETY: it writes at most `bytes` bytes, so the last one stays 0.
    unsafe { call!(gpu.api, cuDeviceGetName(name.as_mut_ptr(), bytes, gpu.handle)) }?;
    // SAFETY: the array ends with a 0 and outlives the reference.
    Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
}

/// Returns the UUID in the notation of `nvidia-smi`.
fn identity(gpu: &Gpu) -> Result<String, DriverError> {
    Ok(uuid_text(gpu.uuid()?))
}

/// Returns the address on the PCI bus. It says only which processors are near, so a driver that
/// does not tell it is no failure.
fn pci_address(gpu: &Gpu) -> Option<String> {
    let mut address = [0 as c_char; 32];
    let bytes = address.len() as c_int - 1;
    // SAFETY: it writes at most `bytes` bytes, so the last one stays 0.
    unsafe { call!(gpu.api, cuDeviceGetPCIBusId(address.as_mut_ptr(), bytes, gpu.handle)) }.ok()?;
    // SAFETY: the array ends with a 0 and outlives the reference.
    let text = unsafe { CStr::from_ptr(address.as_ptr()) }.to_str().ok()?;
    // Folders of the system have small letters.
    Some(text.to_ascii_lowercase())
}

fn uuid_text(bytes: [u8; 16]) -> String {
    let mut text = "GPU".to_owned();
    for (position, byte) in bytes.iter().enumerate() {
        if [0, 4, 6, 8, 10].contains(&position) {
            text.push('-');
        }
        text.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
        text.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
    }
    text
}

/// Returns a version such as `580.159 (CUDA 13.0)`.
fn driver(version: c_int) -> String {
    let cuda = format!("CUDA {}", version_text(version));
    match kernel_driver_version() {
        Some(kernel) => format!("{kernel} ({cuda})"),
        None => cuda,
    }
}

/// Returns the resolution of `%globaltimer` and of events: 32 ns, measured on an H200; about a
/// microsecond before Hopper.
fn clock_tick_ns(capability: u32) -> f64 {
    if capability >= 90 { 32.0 } else { 1000.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_reads_as_nvidia_smi_writes_it() {
        let bytes = std::array::from_fn(|position| position as u8 * 17);
        assert_eq!(uuid_text(bytes), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    }
}
