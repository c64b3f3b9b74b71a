//! The driver functions that this crate uses, looked up once.
//!
//! The types come from cudarc. Results are plain integers: a driver newer than the
//! bindings returns codes that the bindings' enum does not have. Missing functions are found here,
//! before any call.
#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use cudarc::driver::sys::{
    CUDA_MEMCPY2D, CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphExec, CUjit_option,
    CUlaunchConfig, CUmemAccessDesc, CUmemAllocationHandleType, CUmemAllocationProp, CUmemGenericAllocationHandle,
    CUmodule, CUstream, CUuuid,
};

macro_rules! driver_api {
    (
        required { $(fn $name:ident($($type:ty),* $(,)?);)* }
        optional { $(fn $newer:ident($($newer_type:ty),* $(,)?);)* }
    ) => {
        /// The driver's functions under their own names.
        #[derive(Clone, Copy)]
        pub(super) struct Api {
            $(pub(super) $name: unsafe extern "C" fn($($type),*) -> c_int,)*
            $(pub(super) $newer: Option<unsafe extern "C" fn($($newer_type),*) -> c_int>,)*
        }

        impl Api {
            /// The functions that every supported driver has.
            #[cfg(test)]
            pub(super) const REQUIRED: &[&str] = &[$(stringify!($name)),*];

            /// Looks up all functions in the driver library.
            ///
            /// # Errors
            /// The name of the first missing function.
            pub(super) fn resolve(library: &'static libloading::Library) -> Result<Api, &'static str> {
                Ok(Api {
                    $(
                        // SAFETY: the signature is the one that `cuda.h` declares for the symbol.
                        $name: unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }
                            .map(|symbol| *symbol)
                            .map_err(|_| stringify!($name))?,
                    )*
                    $(
                        // SAFETY: as above.
                        $newer: unsafe { library.get(concat!(stringify!($newer), "\0").as_bytes()) }
                            .map(|symbol| *symbol)
                            .ok(),
                    )*
                })
            }
        }
    };
}

driver_api! {
    required {
        fn cuInit(c_uint);
        fn cuDriverGetVersion(*mut c_int);
        fn cuGetErrorName(c_int, *mut *const c_char);
        fn cuGetErrorString(c_int, *mut *const c_char);
        fn cuDeviceGetCount(*mut c_int);
        fn cuDeviceGet(*mut CUdevice, c_int);
        fn cuDeviceGetName(*mut c_char, c_int, CUdevice);
        fn cuDeviceGetUuid_v2(*mut CUuuid, CUdevice);
        fn cuDeviceGetPCIBusId(*mut c_char, c_int, CUdevice);
        fn cuDeviceGetAttribute(*mut c_int, c_int, CUdevice);
        fn cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
        fn cuDevicePrimaryCtxRelease_v2(CUdevice);
        fn cuDevicePrimaryCtxSetFlags_v2(CUdevice, c_uint);
        fn cuCtxGetCurrent(*mut CUcontext);
        fn cuCtxSetCurrent(CUcontext);
        fn cuCtxGetLimit(*mut usize, c_uint);
        fn cuCtxSetLimit(c_uint, usize);
        fn cuCtxResetPersistingL2Cache();
        fn cuMemGetInfo_v2(*mut usize, *mut usize);
        fn cuMemGetAllocationGranularity(*mut usize, *const CUmemAllocationProp, c_uint);
        fn cuMemCreate(*mut CUmemGenericAllocationHandle, usize, *const CUmemAllocationProp, c_ulonglong);
        fn cuMemRelease(CUmemGenericAllocationHandle);
        fn cuMemExportToShareableHandle(
            *mut c_void,
            CUmemGenericAllocationHandle,
            CUmemAllocationHandleType,
            c_ulonglong,
        );
        fn cuMemImportFromShareableHandle(*mut CUmemGenericAllocationHandle, *mut c_void, CUmemAllocationHandleType);
        fn cuMemAddressReserve(*mut CUdeviceptr, usize, usize, CUdeviceptr, c_ulonglong);
        fn cuMemAddressFree(CUdeviceptr, usize);
        fn cuMemMap(CUdeviceptr, usize, usize, CUmemGenericAllocationHandle, c_ulonglong);
        fn cuMemUnmap(CUdeviceptr, usize);
        fn cuMemSetAccess(CUdeviceptr, usize, *const CUmemAccessDesc, usize);
        fn cuMemAlloc_v2(*mut CUdeviceptr, usize);
        fn cuMemFree_v2(CUdeviceptr);
        fn cuMemHostRegister_v2(*mut c_void, usize, c_uint);
        fn cuMemHostUnregister(*mut c_void);
        fn cuMemHostGetDevicePointer_v2(*mut CUdeviceptr, *mut c_void, c_uint);
        fn cuMemcpyAsync(CUdeviceptr, CUdeviceptr, usize, CUstream);
        fn cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
        fn cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
        fn cuMemcpy2DAsync_v2(*const CUDA_MEMCPY2D, CUstream);
        fn cuMemsetD8Async(CUdeviceptr, u8, usize, CUstream);
        fn cuModuleLoadDataEx(*mut CUmodule, *const c_void, c_uint, *mut CUjit_option, *mut *mut c_void);
        fn cuModuleUnload(CUmodule);
        fn cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
        fn cuModuleGetGlobal_v2(*mut CUdeviceptr, *mut usize, CUmodule, *const c_char);
        fn cuFuncGetAttribute(*mut c_int, c_uint, CUfunction);
        fn cuFuncSetAttribute(CUfunction, c_uint, c_int);
        fn cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, CUfunction, c_int, usize);
        fn cuLaunchKernelEx(*const CUlaunchConfig, CUfunction, *mut *mut c_void, *mut *mut c_void);
        fn cuStreamCreate(*mut CUstream, c_uint);
        fn cuStreamDestroy_v2(CUstream);
        fn cuStreamQuery(CUstream);
        fn cuStreamSynchronize(CUstream);
        fn cuCtxSynchronize();
        fn cuStreamWaitValue32_v2(CUstream, CUdeviceptr, c_uint, c_uint);
        fn cuStreamWriteValue32_v2(CUstream, CUdeviceptr, c_uint, c_uint);
        fn cuEventCreate(*mut CUevent, c_uint);
        fn cuEventDestroy_v2(CUevent);
        fn cuEventRecord(CUevent, CUstream);
        fn cuEventRecordWithFlags(CUevent, CUstream, c_uint);
        fn cuProfilerStart();
        fn cuProfilerStop();
        fn cuEventElapsedTime(*mut f32, CUevent, CUevent);
        fn cuStreamBeginCapture_v2(CUstream, c_uint);
        fn cuStreamEndCapture(CUstream, *mut CUgraph);
        fn cuGraphInstantiateWithFlags(*mut CUgraphExec, CUgraph, c_ulonglong);
        fn cuGraphUpload(CUgraphExec, CUstream);
        fn cuGraphLaunch(CUgraphExec, CUstream);
        fn cuGraphDestroy(CUgraph);
        fn cuGraphExecDestroy(CUgraphExec);
    }
    optional {
        fn cuFuncLoad(CUfunction);
        fn cuFuncGetParamInfo(CUfunction, usize, *mut usize, *mut usize);
        fn cuOccupancyMaxActiveClusters(*mut c_int, CUfunction, *const CUlaunchConfig);
        fn cuTensorMapEncodeTiled(
            *mut c_void,
            c_uint,
            c_uint,
            *mut c_void,
            *const u64,
            *const u64,
            *const u32,
            *const u32,
            c_uint,
            c_uint,
            c_uint,
            c_uint,
        );
    }
}
