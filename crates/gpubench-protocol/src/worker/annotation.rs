//! Profiler ranges for windows.

use std::ffi::CString;

use gpubench_device::nvtx::{Nvtx, NvtxError};

/// The ranges of a case. They lie outside of the timed part.
pub(super) struct Annotation {
    nvtx: Nvtx,
    case: String,
}

impl Annotation {
    /// Finds the profiler for the windows of `case`.
    pub(super) fn begin(case: String) -> Result<Annotation, NvtxError> {
        Ok(Annotation {
            nvtx: Nvtx::open()?,
            case,
        })
    }

    /// Begins the range of a window, as `gpubench suite::axpy::n=1024 window 3`.
    pub(super) fn open(&self, window: u32) {
        let text = format!("gpubench {} window {window}", self.case);
        // A C string ends at a zero byte. The part before it is enough.
        let text = text.split('\0').next().unwrap_or_default();
        self.nvtx.push(&CString::new(text).unwrap_or_default());
    }

    /// Ends the range of the window.
    pub(super) fn close(&self) {
        self.nvtx.pop();
    }
}
