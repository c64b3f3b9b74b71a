//! candle's device, and the tool's memory as candle sees it.

use std::mem::ManuallyDrop;

use candle_core::backend::BackendDevice;
use candle_core::cuda_backend::cudarc::driver::CudaSlice;
use candle_core::cuda_backend::cudarc::driver::sys::CUdeviceptr;
use candle_core::op::BackpropOp;
use candle_core::{CudaDevice, CudaStorage, Storage, Tensor};
use gpubench::prelude::*;

/// A GPU with the stream and the memory pool that candle uses.
pub struct Device(CudaDevice);

impl Device {
    /// Opens the tool's GPU in its primary context, as `candle_core::Device::new_cuda` does.
    pub fn new(host: &Host) -> Result<Device> {
        Ok(Device(CudaDevice::new(host.ordinal() as usize)?))
    }

    /// Returns a tensor in memory of the tool. candle would free the memory with the tensor, so the
    /// tensor is never dropped.
    ///
    /// # Safety
    ///
    /// `pointer` is memory of this GPU with all elements of the shape, until the process ends.
    pub unsafe fn input(&self, pointer: *const f32, shape: &[usize]) -> ManuallyDrop<Tensor> {
        // SAFETY: as above, and candle never writes to the storage of a tensor.
        let slice = unsafe { self.slice(pointer as CUdeviceptr, shape.iter().product()) };
        let storage = Storage::Cuda(CudaStorage::wrap_cuda_slice(slice, self.0.clone()));
        ManuallyDrop::new(Tensor::from_storage(storage, shape, BackpropOp::none(), false))
    }

    /// Returns memory of the tool for the elements of a result, which is never dropped either.
    ///
    /// # Safety
    ///
    /// `pointer` is memory of this GPU with `length` elements, until the process ends.
    pub unsafe fn output(&self, pointer: *mut f32, length: usize) -> ManuallyDrop<CudaSlice<f32>> {
        // SAFETY: as above.
        ManuallyDrop::new(unsafe { self.slice(pointer as CUdeviceptr, length) })
    }

    /// # Safety
    ///
    /// As for `output`. The slice must not be dropped.
    unsafe fn slice(&self, pointer: CUdeviceptr, length: usize) -> CudaSlice<f32> {
        // SAFETY: as above.
        unsafe { self.0.cuda_stream().upgrade_device_ptr(pointer, length) }
    }

    /// Copies the elements of candle's result to the output, and waits for the stream.
    pub fn copy(&self, result: &Tensor, output: &mut CudaSlice<f32>) -> Result<()> {
        let (storage, _) = result.storage_and_layout();
        let Storage::Cuda(storage) = &*storage else {
            return Err(Error::new("candle computed on another device"));
        };
        self.0.memcpy_dtod(storage.as_cuda_slice::<f32>()?, output)?;
        Ok(self.0.synchronize()?)
    }
}
