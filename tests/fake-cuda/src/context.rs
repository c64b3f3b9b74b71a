//! The primary context.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};

use cudarc::driver::sys::{CUcontext, CUdevice};

use crate::call::{in_context, waiting, with_gpu};
use crate::gpu::CONTEXT;
use crate::ledger::Kind;
use crate::lost::note_opened;

thread_local! {
    static CURRENT: Cell<*mut c_void> = const { Cell::new(std::ptr::null_mut()) };
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuDevicePrimaryCtxSetFlags_v2(_device: CUdevice, _flags: c_uint) -> c_int {
    with_gpu("cuDevicePrimaryCtxSetFlags_v2", |_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice) -> c_int {
    with_gpu("cuDevicePrimaryCtxRetain", |gpu| {
        gpu.ordinal = device;
        note_opened(device);
        gpu.sound()?;
        gpu.ledger.take(Kind::Context);
        // SAFETY: the caller passes a valid pointer to a handle.
        unsafe { *context = CONTEXT.cast() };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuDevicePrimaryCtxRelease_v2(_device: CUdevice) -> c_int {
    with_gpu("cuDevicePrimaryCtxRelease_v2", |gpu| {
        gpu.ledger.give_back(Kind::Context);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuCtxGetCurrent(context: *mut CUcontext) -> c_int {
    with_gpu("cuCtxGetCurrent", |_| {
        // SAFETY: the caller passes a valid pointer to a handle.
        unsafe { *context = CURRENT.get().cast() };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuCtxSetCurrent(context: CUcontext) -> c_int {
    with_gpu("cuCtxSetCurrent", |_| {
        CURRENT.set(context.cast());
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuCtxSynchronize() -> c_int {
    waiting("cuCtxSynchronize", |gpu| gpu.look_for_all())
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuCtxGetLimit(value: *mut usize, _limit: c_uint) -> c_int {
    in_context("cuCtxGetLimit", |_| {
        // SAFETY: the caller passes a valid pointer to a number.
        unsafe { *value = 1024 };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuCtxSetLimit(_limit: c_uint, _value: usize) -> c_int {
    in_context("cuCtxSetLimit", |gpu| gpu.wait_for_all())
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuCtxResetPersistingL2Cache() -> c_int {
    in_context("cuCtxResetPersistingL2Cache", |_| Ok(()))
}
