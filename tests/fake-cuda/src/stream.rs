//! Streams, events and queued work.

use std::ffi::{c_int, c_uint, c_void};

use cudarc::driver::sys::{CUDA_MEMCPY2D, CUdeviceptr, CUevent, CUresult, CUstream};
use gpubench_device::{DevicePtr, Driver as _, Event, Stream, StridedRows};

use crate::activity::{Operation, queued};
use crate::behaviour::behaviour;
use crate::call::{in_context, waiting};
use crate::error::Refusal;
use crate::gpu::Handle as _;
use crate::ledger::Kind;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuStreamCreate(stream: *mut CUstream, _flags: c_uint) -> c_int {
    in_context("cuStreamCreate", |gpu| {
        let made = gpu.create_stream()?;
        gpu.ledger.take(Kind::Stream);
        // SAFETY: the caller passes a valid pointer to a handle.
        unsafe { *stream = made.to_pointer() };
        Ok(())
    })
}

/// The CPU device keeps a stream's thread until the device is dropped.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuStreamDestroy_v2(stream: CUstream) -> c_int {
    in_context("cuStreamDestroy_v2", |gpu| {
        Stream::of_pointer(stream)?;
        gpu.ledger.give_back(Kind::Stream);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuStreamSynchronize(stream: CUstream) -> c_int {
    waiting("cuStreamSynchronize", |gpu| gpu.look_for(Stream::of_pointer(stream)?))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuStreamQuery(stream: CUstream) -> c_int {
    in_context("cuStreamQuery", |gpu| gpu.query(Stream::of_pointer(stream)?))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuStreamWaitValue32_v2(
    stream: CUstream,
    address: CUdeviceptr,
    value: c_uint,
    _flags: c_uint,
) -> c_int {
    in_context("cuStreamWaitValue32_v2", |gpu| {
        Ok(gpu
            .cpu
            .wait_value(Stream::of_pointer(stream)?, DevicePtr(address), value)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuStreamWriteValue32_v2(
    stream: CUstream,
    address: CUdeviceptr,
    value: c_uint,
    _flags: c_uint,
) -> c_int {
    in_context("cuStreamWriteValue32_v2", |gpu| {
        let value = value.wrapping_add_signed(gpu.added);
        Ok(gpu
            .cpu
            .write_value(Stream::of_pointer(stream)?, DevicePtr(address), value)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemcpyAsync(
    target: CUdeviceptr,
    source: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> c_int {
    in_context("cuMemcpyAsync", |gpu| {
        if gpu.addresses.shares(target) {
            gpu.begin_cheating();
        }
        queued(Operation::Copy);
        copy(gpu, stream, target, source, bytes)
    })
}

/// Copies rows between device memory whose target has no gaps.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream) -> c_int {
    in_context("cuMemcpy2DAsync_v2", |gpu| {
        // SAFETY: the caller passes a valid description.
        let copy = unsafe { &*copy };
        if copy.dstPitch != copy.WidthInBytes || copy.srcPitch < copy.WidthInBytes {
            return Err(Refusal(CUresult::CUDA_ERROR_INVALID_VALUE as c_int));
        }
        queued(Operation::Copy);
        let rows = StridedRows {
            first: DevicePtr(copy.srcDevice),
            bytes: copy.WidthInBytes as u64,
            pitch: copy.srcPitch as u64,
            count: copy.Height as u64,
        };
        let stream = Stream::of_pointer(stream)?;
        Ok(gpu.cpu.gather(stream, DevicePtr(copy.dstDevice), &rows)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    target: *mut c_void,
    source: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> c_int {
    in_context("cuMemcpyDtoHAsync_v2", |gpu| {
        copy(gpu, stream, target as u64, source, bytes)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    target: CUdeviceptr,
    source: *const c_void,
    bytes: usize,
    stream: CUstream,
) -> c_int {
    in_context("cuMemcpyHtoDAsync_v2", |gpu| {
        copy(gpu, stream, target, source as u64, bytes)
    })
}

fn copy(gpu: &mut crate::gpu::Gpu, stream: CUstream, target: u64, source: u64, bytes: usize) -> Result<(), Refusal> {
    let stream = Stream::of_pointer(stream)?;
    Ok(gpu
        .cpu
        .copy(stream, DevicePtr(target), DevicePtr(source), bytes as u64)?)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuMemsetD8Async(
    target: CUdeviceptr,
    value: u8,
    bytes: usize,
    stream: CUstream,
) -> c_int {
    in_context("cuMemsetD8Async", |gpu| {
        let stream = Stream::of_pointer(stream)?;
        queued(Operation::Fill);
        Ok(gpu.cpu.set(stream, DevicePtr(target), value, bytes as u64)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuEventCreate(event: *mut CUevent, _flags: c_uint) -> c_int {
    in_context("cuEventCreate", |gpu| {
        let made = gpu.cpu.event()?;
        gpu.ledger.take(Kind::Event);
        // SAFETY: the caller passes a valid pointer to a handle.
        unsafe { *event = made.to_pointer() };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuEventDestroy_v2(event: CUevent) -> c_int {
    in_context("cuEventDestroy_v2", |gpu| {
        Event::of_pointer(event)?;
        gpu.ledger.give_back(Kind::Event);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuEventRecordWithFlags(event: CUevent, stream: CUstream, _flags: c_uint) -> c_int {
    // SAFETY: the caller's contract is the same.
    unsafe { cuEventRecord(event, stream) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuEventRecord(event: CUevent, stream: CUstream) -> c_int {
    in_context("cuEventRecord", |gpu| {
        gpu.record(Event::of_pointer(event)?, Stream::of_pointer(stream)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) -> c_int {
    in_context("cuEventElapsedTime", |gpu| {
        let elapsed = gpu.elapsed_ns(Event::of_pointer(start)?, Event::of_pointer(end)?)?;
        let factor = gpu.cheat.as_ref().map_or(1.0, |_| behaviour().claimed);
        // SAFETY: the caller passes a valid pointer to a number.
        unsafe { *milliseconds = factor * (elapsed / 1e6) as f32 };
        Ok(())
    })
}
