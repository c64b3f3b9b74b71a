//! The primary context of this process.

use std::ffi::{c_int, c_uint, c_void};

use cudarc::driver::sys::{CUcontext, CUctx_flags, CUlimit, CUstream, CUstream_flags};

use super::api::Api;
use super::call::{DriverError, call};
use super::choice::Gpu;
use crate::{DeviceError, HostFailure, HostWork};

/// The bytes that a new context copies and sets once.
const WARM_UP_BYTES: usize = 4096;

/// Stack bytes for a kernel's call frames, in addition to its local variables.
const CALL_FRAMES: usize = 1024;

/// The GPU's primary context, current on the thread that opened it, with a stream for copies
/// between host and device. Released on drop.
pub(super) struct Context {
    pub(super) api: Api,
    pub(super) gpu: Gpu,
    handle: CUcontext,
    copies: CUstream,
    /// Local memory per thread that the context has reserved, in bytes.
    local_bytes: usize,
    persistence: Persistence,
}

/// Whether the last-level cache can keep persisting lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Persistence {
    /// Not checked yet.
    Unknown,
    /// Disabled for this context.
    Forbidden,
    /// Not supported by the GPU.
    Absent,
}

/// `CUDA_ERROR_INVALID_VALUE`, `CUDA_ERROR_UNSUPPORTED_LIMIT` and `CUDA_ERROR_NOT_SUPPORTED`.
const NOT_ON_THIS_GPU: [c_int; 3] = [1, 215, 801];

impl Context {
    /// Returns the driver's handle.
    pub(super) fn handle(&self) -> CUcontext {
        self.handle
    }

    /// Retains the primary context and makes it current on this thread.
    ///
    /// # Errors
    /// When the driver refuses.
    pub(super) fn open(gpu: Gpu) -> Result<Context, DriverError> {
        let api = gpu.api;
        // With this flag, local memory that has grown is kept. Growing it waits for the whole
        // device, which never ends while a stream waits for *go*.
        let flags = CUctx_flags::CU_CTX_LMEM_RESIZE_TO_MAX as c_uint;
        // SAFETY: it takes two numbers.
        unsafe { call!(api, cuDevicePrimaryCtxSetFlags_v2(gpu.handle, flags)) }?;
        let mut context = std::ptr::null_mut();
        // SAFETY: it writes one pointer.
        unsafe { call!(api, cuDevicePrimaryCtxRetain(&mut context, gpu.handle)) }?;
        // From here on, dropping the value releases the context.
        let mut opened = Context {
            api,
            gpu,
            handle: context,
            copies: std::ptr::null_mut(),
            local_bytes: 0,
            persistence: Persistence::Unknown,
        };
        opened.make_current()?;
        opened.copies = opened.create_stream()?;
        opened.warm_up()?;
        Ok(opened)
    }

    /// Makes the context current on this thread.
    pub(super) fn make_current(&self) -> Result<(), DriverError> {
        self.entry().make_current()
    }

    /// Returns what host code of a thread needs to run in the context.
    pub(super) fn entry(&self) -> Entry {
        Entry {
            api: self.api,
            handle: self.handle,
        }
    }

    /// Creates a stream that does not synchronize with the default stream.
    pub(super) fn create_stream(&self) -> Result<CUstream, DriverError> {
        let mut stream = std::ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint;
        // SAFETY: it writes one pointer.
        unsafe { call!(self.api, cuStreamCreate(&mut stream, flags)) }?;
        Ok(stream)
    }

    /// Returns the free memory in bytes.
    pub(super) fn free_memory(&self) -> Result<u64, DriverError> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: it writes two numbers.
        unsafe { call!(self.api, cuMemGetInfo_v2(&mut free, &mut total)) }?;
        Ok(free as u64)
    }

    /// Copies device memory to the host and waits for the copy.
    pub(super) fn read(&self, source: u64, target: &mut [u8]) -> Result<(), DriverError> {
        let (pointer, bytes): (*mut c_void, usize) = (target.as_mut_ptr().cast(), target.len());
        // SAFETY: `target` is writable for its length until the copy ends, and the function waits
        // for that; `source` is the caller's.
        unsafe { call!(self.api, cuMemcpyDtoHAsync_v2(pointer, source, bytes, self.copies)) }?;
        self.wait_for(self.copies)
    }

    /// Copies host bytes to device memory and waits for the copy.
    pub(super) fn write(&self, target: u64, source: &[u8]) -> Result<(), DriverError> {
        let (pointer, bytes): (*const c_void, usize) = (source.as_ptr().cast(), source.len());
        // SAFETY: `source` is readable for its length until the copy ends, and the function waits
        // for that; `target` is the caller's.
        unsafe { call!(self.api, cuMemcpyHtoDAsync_v2(target, pointer, bytes, self.copies)) }?;
        self.wait_for(self.copies)
    }

    pub(super) fn wait_for(&self, stream: CUstream) -> Result<(), DriverError> {
        // SAFETY: the callers' streams live as long as the driver.
        unsafe { call!(self.api, cuStreamSynchronize(stream)) }
    }

    /// Waits for all streams of the context.
    pub(super) fn wait_for_all(&self) -> Result<(), DriverError> {
        // SAFETY: it takes no arguments.
        unsafe { call!(self.api, cuCtxSynchronize()) }
    }

    /// Returns whether all work of a stream has run.
    pub(super) fn is_idle(&self, stream: CUstream) -> Result<bool, DriverError> {
        // SAFETY: as above.
        match unsafe { call!(self.api, cuStreamQuery(stream)) } {
            Ok(()) => Ok(true),
            // `CUDA_ERROR_NOT_READY`.
            Err(error) if error.code == 600 => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reserves local memory for a kernel that uses `bytes` per thread, so that its first launch
    /// does not wait for the device.
    pub(super) fn reserve_local(&mut self, bytes: usize) -> Result<(), DriverError> {
        let wanted = bytes + CALL_FRAMES;
        if wanted <= self.local_bytes {
            return Ok(());
        }
        let limit = CUlimit::CU_LIMIT_STACK_SIZE as c_uint;
        let mut current = 0;
        // SAFETY: it writes one number.
        unsafe { call!(self.api, cuCtxGetLimit(&mut current, limit)) }?;
        if current < wanted {
            // SAFETY: it takes two numbers.
            unsafe { call!(self.api, cuCtxSetLimit(limit, wanted)) }?;
        }
        self.local_bytes = wanted;
        Ok(())
    }

    /// Disables persisting lines of the last-level cache in this context, and releases the existing
    /// ones.
    pub(super) fn reset_persisting_lines(&mut self) -> Result<(), DriverError> {
        if self.persistence == Persistence::Unknown {
            self.persistence = self.forbid_persisting_lines()?;
        }
        if self.persistence == Persistence::Absent {
            return Ok(());
        }
        // SAFETY: it takes no arguments.
        match unsafe { call!(self.api, cuCtxResetPersistingL2Cache()) } {
            Err(error) if NOT_ON_THIS_GPU.contains(&error.code) => {
                self.persistence = Persistence::Absent;
                Ok(())
            }
            other => other,
        }
    }

    fn forbid_persisting_lines(&self) -> Result<Persistence, DriverError> {
        let limit = CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE as c_uint;
        // SAFETY: it takes two numbers.
        match unsafe { call!(self.api, cuCtxSetLimit(limit, 0)) } {
            Ok(()) => Ok(Persistence::Forbidden),
            Err(error) if NOT_ON_THIS_GPU.contains(&error.code) => Ok(Persistence::Absent),
            Err(error) => Err(error),
        }
    }

    /// Makes the driver load its own kernels for setting and copying memory. Loading them after a
    /// stream wait was queued could block for ever.
    fn warm_up(&self) -> Result<(), DriverError> {
        let api = &self.api;
        let mut memory = 0;
        // SAFETY: it writes one address.
        unsafe { call!(api, cuMemAlloc_v2(&mut memory, 2 * WARM_UP_BYTES)) }?;
        let used = self.use_once(memory);
        // SAFETY: the memory was allocated above and its use has ended.
        let freed = unsafe { call!(api, cuMemFree_v2(memory)) };
        used.and(freed)
    }

    fn use_once(&self, memory: u64) -> Result<(), DriverError> {
        let second = memory + WARM_UP_BYTES as u64;
        // SAFETY: both halves lie in the allocation of the warm-up.
        unsafe {
            call!(self.api, cuMemsetD8Async(memory, 0, WARM_UP_BYTES, self.copies))?;
            call!(self.api, cuMemcpyAsync(second, memory, WARM_UP_BYTES, self.copies))?;
        }
        let mut byte = [0xff];
        self.read(second, &mut byte)?;
        self.write(memory, &byte)
    }
}

/// A context for host code, on any thread. The context must outlive the calls.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    api: Api,
    handle: CUcontext,
}

// SAFETY: the handle of a context may be made current on any thread.
unsafe impl Send for Entry {}

impl Entry {
    /// Calls host code with the context current.
    ///
    /// # Errors
    /// When the code fails, or leaves another context current.
    pub(super) fn call(self, work: HostWork) -> Result<(), DeviceError> {
        self.make_current()?;
        let ended = work();
        // The context must be current again before anything else is queued.
        let own = self.is_current();
        let restored = self.make_current();
        ended?;
        restored?;
        if own? {
            Ok(())
        } else {
            Err(HostFailure::ForeignContext.into())
        }
    }

    /// Makes the context current on this thread.
    fn make_current(self) -> Result<(), DriverError> {
        // SAFETY: the context is retained as long as its owner lives, which outlives the calls.
        unsafe { call!(self.api, cuCtxSetCurrent(self.handle)) }
    }

    /// Returns whether the context is current on this thread.
    fn is_current(self) -> Result<bool, DriverError> {
        let mut current = std::ptr::null_mut();
        // SAFETY: it writes one pointer.
        unsafe { call!(self.api, cuCtxGetCurrent(&mut current)) }?;
        Ok(current == self.handle)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // After a panic, a stream may still wait for a word that nobody will write.
        if std::thread::panicking() {
            return;
        }
        // After a fault every call fails; the end of the process frees the rest.
        if !self.copies.is_null() {
            // SAFETY: `open` created the stream, and each use waited for its work.
            let _ = unsafe { (self.api.cuStreamDestroy_v2)(self.copies) };
        }
        // SAFETY: `open` retained the context once.
        let _ = unsafe { (self.api.cuDevicePrimaryCtxRelease_v2)(self.gpu.handle) };
    }
}
