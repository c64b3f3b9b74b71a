//! Windows as ranges that a profiler shows.

use std::ffi::CString;

use gpubench_device::nvtx::{Nvtx, NvtxError};

/// The ranges of a case. They lie outside of what is timed.
pub(super) struct Annotation {
    nvtx: Nvtx,
    case: String,
}

impl Annotation {
    /// Finds the profiler that the windows of `case` are marked for.
    pub(super) fn begin(case: String) -> Result<Annotation, NvtxError> {
        Ok(Annotation {
            nvtx: Nvtx::open()?,
            case,
        })
    }

    /// A window begins: `gpubench suite::axpy::n=1024 window 3`.
    pub(super) fn open(&self, window: u32) {
        let text = format!("gpubench {} window {window}", self.case);
        // A name with a zero byte has no C string; what stands before it is enough.
        let text = text.split('\0').next().unwrap_or_default();
        self.nvtx.push(&CString::new(text).unwrap_or_default());
    }

    /// The window has ended.
    pub(super) fn close(&self) {
        self.nvtx.pop();
    }
}
