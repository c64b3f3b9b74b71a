//! The arguments of CUPTI's functions: `cupti_target.h`, `cupti_profiler_target.h`,
//! `cupti_profiler_host.h` and `cupti_range_profiler.h`.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

use cudarc::driver::sys::CUcontext;

/// `CUPTI_PROFILER_TYPE_RANGE_PROFILER`.
pub(super) const RANGE_PROFILER: u32 = 0;
/// What a range is: `CUpti_ProfilerRange`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum RangeKind {
    /// `CUPTI_AutoRange`: each kernel.
    Kernel = 1,
    /// `CUPTI_UserRange`: what the program says.
    Program = 2,
}

/// `CUPTI_UserReplay`: the program makes the calls that further passes need.
pub(super) const USER_REPLAY: u32 = 3;

/// A structure that says its own size, by which CUPTI knows its version.
pub(super) trait Parameters: Sized {
    /// Returns the structure with zeros in all other fields.
    fn new() -> Self;
}

/// Declares structures that begin with their size and a pointer for CUPTI's own use. The size ends
/// with the last field, without padding.
macro_rules! parameters {
    ($($(#[$meta:meta])* struct $name:ident { $($field:ident: $type:ty,)* ; $last:ident: $last_type:ty })*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            pub(super) struct $name {
                bytes: usize,
                own: *mut c_void,
                $(pub(super) $field: $type,)*
                pub(super) $last: $last_type,
            }

            impl Parameters for $name {
                fn new() -> Self {
                    // SAFETY: all fields are numbers or pointers, for which zero is a value.
                    let zeroed: Self = unsafe { std::mem::zeroed() };
                    Self { bytes: offset_of!(Self, $last) + size_of::<$last_type>(), ..zeroed }
                }
            }
        )*
    };
}

/// CUPTI's objects, which only it knows the contents of.
pub(super) type Handle = *mut c_void;

parameters! {
    /// `CUpti_Device_GetChipName_Params`
    struct ChipName { device: usize,; name: *const c_char }
    /// `CUpti_Profiler_GetCounterAvailability_Params`
    struct Availability { context: CUcontext, image_bytes: usize,; image: *mut u8 }
    /// `CUpti_Profiler_Host_Initialize_Params`
    struct HostInitialize { kind: u32, chip: *const c_char, availability: *const u8,; host: Handle }
    /// `CUpti_Profiler_Host_ConfigAddMetrics_Params`
    struct AddMetrics { host: Handle, names: *const *const c_char,; number: usize }
    /// `CUpti_Profiler_Host_GetConfigImageSize_Params`
    struct ConfigSize { host: Handle,; bytes_needed: usize }
    /// `CUpti_Profiler_Host_GetConfigImage_Params`
    struct ConfigImage { host: Handle, image_bytes: usize,; image: *mut u8 }
    /// `CUpti_Profiler_Host_EvaluateToGpuValues_Params`
    struct Evaluate {
        host: Handle,
        data: *const u8,
        data_bytes: usize,
        range: usize,
        names: *const *const c_char,
        number: usize,;
        values: *mut f64
    }
    /// `CUpti_RangeProfiler_Enable_Params`
    struct Enable { context: CUcontext,; profiler: Handle }
    /// `CUpti_RangeProfiler_GetCounterDataSize_Params`
    struct DataSize {
        profiler: Handle,
        names: *const *const c_char,
        number: usize,
        ranges: usize,
        nodes: u32,;
        bytes_needed: usize
    }
    /// `CUpti_RangeProfiler_CounterDataImage_Initialize_Params`
    struct DataInitialize { profiler: Handle, data_bytes: usize,; data: *mut u8 }
    /// `CUpti_RangeProfiler_SetConfig_Params`
    struct SetConfig {
        profiler: Handle,
        config_bytes: usize,
        config: *const u8,
        data_bytes: usize,
        data: *mut u8,
        range: u32,
        replay: u32,
        ranges_per_pass: usize,
        nesting_levels: u16,
        first_nesting_level: u16,
        pass: usize,;
        target_nesting_level: u16
    }
    /// `CUpti_RangeProfiler_PushRange_Params`
    struct PushRange { profiler: Handle,; name: *const c_char }
    /// `CUpti_RangeProfiler_Stop_Params`
    struct Stop { profiler: Handle, pass: usize, target_nesting_level: usize,; is_last_pass: u8 }
    /// `CUpti_RangeProfiler_DecodeData_Params`
    struct DecodeData { profiler: Handle,; dropped_ranges: usize }
    /// `CUpti_RangeProfiler_GetCounterDataInfo_Params`
    struct DataInfo { data: *const u8, data_bytes: usize,; ranges: usize }
    /// `CUpti_RangeProfiler_Start_Params`, and the same for `PopRange` and `Disable`.
    struct OfProfiler { ; profiler: Handle }
    /// `CUpti_Profiler_Host_Deinitialize_Params`
    struct OfHost { ; host: Handle }
}

/// `CUpti_Profiler_Initialize_Params`, which has no fields of its own.
#[repr(C)]
pub(super) struct NoParameters {
    bytes: usize,
    own: *mut c_void,
}

impl Parameters for NoParameters {
    fn new() -> Self {
        Self {
            bytes: size_of::<Self>(),
            own: std::ptr::null_mut(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_end_with_the_last_field() {
        // The sizes that CUPTI 13.0's headers compute.
        assert_eq!(NoParameters::new().bytes, 16);
        assert_eq!(Stop::new().bytes, 41);
        assert_eq!(SetConfig::new().bytes, 90);
        assert_eq!(DataSize::new().bytes, 64);
        assert_eq!(HostInitialize::new().bytes, 48);
        assert_eq!(Evaluate::new().bytes, 72);
    }
}
