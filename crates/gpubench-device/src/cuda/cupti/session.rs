//! Counting in a context, pass by pass.

use std::ffi::CString;

use cudarc::driver::sys::CUcontext;

use super::library::{Function, Library};
use super::metrics::Metrics;
use super::parameters::{Handle, OfProfiler, RangeKind, USER_REPLAY};
use crate::DeviceError;

/// The range profiler of a context.
pub(super) struct Session<'a> {
    library: &'a Library,
    profiler: Handle,
    /// What was counted so far. CUPTI has its address from [`Session::reset`] on.
    data: Vec<u8>,
    /// The number of ranges that the data has room for.
    ranges: usize,
}

impl<'a> Session<'a> {
    /// Enables the profiler of a context. It stays enabled until the session is dropped.
    ///
    /// # Errors
    /// When CUPTI refuses.
    pub(super) fn enable(library: &'a Library, context: CUcontext) -> Result<Session<'a>, DeviceError> {
        // SAFETY: the context outlives the session.
        let enabled = unsafe { library.call(&library.cuptiRangeProfilerEnable, |enable| enable.context = context) }?;
        Ok(Session {
            library,
            profiler: enabled.profiler,
            data: Vec::new(),
            ranges: 0,
        })
    }

    /// Forgets everything counted so far, and prepares for calls of at most `ranges` ranges of a
    /// kind.
    ///
    /// # Errors
    /// When CUPTI refuses.
    pub(super) fn reset(&mut self, metrics: &Metrics<'_>, kind: RangeKind, ranges: usize) -> Result<(), DeviceError> {
        let library = self.library;
        if ranges > self.ranges {
            // SAFETY: the names outlive the call.
            let size = unsafe {
                library.call(&library.cuptiRangeProfilerGetCounterDataSize, |size| {
                    size.profiler = self.profiler;
                    size.names = metrics.names().pointer();
                    size.number = metrics.names().number();
                    size.ranges = ranges;
                    size.nodes = ranges as u32;
                })
            }?;
            self.data = vec![0; size.bytes_needed];
            self.ranges = ranges;
        }
        // SAFETY: CUPTI writes at most as many bytes as the data has.
        unsafe {
            library.call(&library.cuptiRangeProfilerCounterDataImageInitialize, |image| {
                image.profiler = self.profiler;
                image.data_bytes = self.data.len();
                image.data = self.data.as_mut_ptr();
            })
        }?;
        // SAFETY: the schedule outlives the call. The data lives until the next reset or the end of
        // the session, and CUPTI writes to it only in `decode`.
        unsafe {
            library.call(&library.cuptiRangeProfilerSetConfig, |config| {
                config.profiler = self.profiler;
                config.config_bytes = metrics.config.len();
                config.config = metrics.config.as_ptr();
                config.data_bytes = self.data.len();
                config.data = self.data.as_mut_ptr();
                config.range = kind as u32;
                config.replay = USER_REPLAY;
                config.ranges_per_pass = self.ranges;
                config.nesting_levels = 1;
                config.first_nesting_level = 1;
            })
        }
        .map(drop)
    }

    /// Begins a pass.
    pub(super) fn start(&self) -> Result<(), DeviceError> {
        self.command(&self.library.cuptiRangeProfilerStart)
    }

    /// Begins a range.
    pub(super) fn push(&self, name: &str) -> Result<(), DeviceError> {
        let name = CString::new(name).unwrap_or_default();
        let library = self.library;
        // SAFETY: the name outlives the call, which copies it.
        unsafe {
            library.call(&library.cuptiRangeProfilerPushRange, |push| {
                push.profiler = self.profiler;
                push.name = name.as_ptr();
            })
        }
        .map(drop)
    }

    /// Ends a range.
    pub(super) fn pop(&self) -> Result<(), DeviceError> {
        self.command(&self.library.cuptiRangeProfilerPopRange)
    }

    /// Ends a pass. Returns whether it was the last one.
    pub(super) fn stop(&self) -> Result<bool, DeviceError> {
        let library = self.library;
        // SAFETY: CUPTI only writes to the parameters.
        let stopped = unsafe { library.call(&library.cuptiRangeProfilerStop, |stop| stop.profiler = self.profiler) }?;
        Ok(stopped.is_last_pass != 0)
    }

    /// Returns the values of the metrics in each range, in order.
    ///
    /// # Errors
    /// When CUPTI refuses, or had no room for a range.
    pub(super) fn decode(&mut self, metrics: &Metrics<'_>) -> Result<Vec<Vec<f64>>, DeviceError> {
        let library = self.library;
        // SAFETY: CUPTI writes to the data of the last reset, which still lives.
        let decoded = unsafe {
            library.call(&library.cuptiRangeProfilerDecodeData, |decode| {
                decode.profiler = self.profiler
            })
        }?;
        // SAFETY: CUPTI reads the data.
        let info = unsafe {
            library.call(&library.cuptiRangeProfilerGetCounterDataInfo, |info| {
                info.data = self.data.as_ptr();
                info.data_bytes = self.data.len();
            })
        }?;
        if decoded.dropped_ranges > 0 {
            let all = info.ranges + decoded.dropped_ranges;
            return Err(DeviceError::Count(format!(
                "CUPTI counted in {} of {all} ranges",
                info.ranges
            )));
        }
        (0..info.ranges)
            .map(|range| metrics.values(&self.data, range))
            .collect()
    }

    fn command(&self, function: &Function<OfProfiler>) -> Result<(), DeviceError> {
        // SAFETY: CUPTI only reads the parameters.
        unsafe { self.library.call(function, |command| command.profiler = self.profiler) }.map(drop)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // The context ends soon, and with it the profiler.
        let _ = self.command(&self.library.cuptiRangeProfilerDisable);
    }
}
