//! The metrics of a counter: their schedule on a chip, and their values after counting.

use std::ffi::{CString, c_char};
use std::ptr;

use cudarc::driver::sys::CUcontext;

use super::library::Library;
use super::parameters::{Handle, RANGE_PROFILER};
use crate::DeviceError;

/// Metrics that are scheduled for a chip.
pub(super) struct Metrics<'a> {
    library: &'a Library,
    host: Handle,
    names: Names,
    /// Which counters are read in which pass.
    pub(super) config: Vec<u8>,
}

/// Names as CUPTI reads them.
pub(super) struct Names {
    /// Keeps what `pointers` points to.
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Names {
    fn new(names: &[String]) -> Names {
        let texts: Vec<CString> = names
            .iter()
            .filter_map(|name| CString::new(name.as_str()).ok())
            .collect();
        let pointers = texts.iter().map(|text| text.as_ptr()).collect();
        Names {
            _texts: texts,
            pointers,
        }
    }

    pub(super) fn pointer(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }

    pub(super) fn number(&self) -> usize {
        self.pointers.len()
    }
}

impl<'a> Metrics<'a> {
    /// Schedules metrics for the chip of a context. CUPTI's profiler is initialized.
    ///
    /// # Errors
    /// When the chip does not have one of them, or CUPTI refuses.
    pub(super) fn schedule(
        library: &'a Library,
        context: CUcontext,
        ordinal: u32,
        names: &[String],
    ) -> Result<Metrics<'a>, DeviceError> {
        // SAFETY: CUPTI writes the address of a name that it keeps.
        let chip = unsafe { library.call(&library.cuptiDeviceGetChipName, |chip| chip.device = ordinal as usize) }?;
        let mut availability = availability(library, context)?;
        // SAFETY: both the name and the image outlive the call, which copies them.
        let host = unsafe {
            library.call(&library.cuptiProfilerHostInitialize, |host| {
                host.kind = RANGE_PROFILER;
                host.chip = chip.name;
                host.availability = availability.as_mut_ptr();
            })
        }?
        .host;
        let mut metrics = Metrics {
            library,
            host,
            names: Names::new(names),
            config: Vec::new(),
        };
        for name in names {
            metrics.add(name)?;
        }
        metrics.config = metrics.make_config()?;
        Ok(metrics)
    }

    fn add(&self, name: &str) -> Result<(), DeviceError> {
        let one = Names::new(&[name.to_owned()]);
        // SAFETY: the name outlives the call, which copies it.
        let added = unsafe {
            self.library
                .call(&self.library.cuptiProfilerHostConfigAddMetrics, |add| {
                    add.host = self.host;
                    add.names = one.pointer();
                    add.number = one.number();
                })
        };
        match added {
            Ok(_) => Ok(()),
            Err(DeviceError::UnknownMetric(_)) => Err(DeviceError::UnknownMetric(name.to_owned())),
            Err(error) => Err(error),
        }
    }

    fn make_config(&self) -> Result<Vec<u8>, DeviceError> {
        let library = self.library;
        // SAFETY: CUPTI only writes a number.
        let size = unsafe {
            library.call(&library.cuptiProfilerHostGetConfigImageSize, |size| {
                size.host = self.host
            })
        }?;
        let mut image = vec![0; size.bytes_needed];
        // SAFETY: CUPTI writes at most as many bytes as the image has.
        unsafe {
            library.call(&library.cuptiProfilerHostGetConfigImage, |config| {
                config.host = self.host;
                config.image_bytes = image.len();
                config.image = image.as_mut_ptr();
            })
        }?;
        Ok(image)
    }

    /// The names of the metrics.
    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the values of all metrics for a range of counted data.
    pub(super) fn values(&self, data: &[u8], range: usize) -> Result<Vec<f64>, DeviceError> {
        let mut values = vec![0.0; self.names.number()];
        // SAFETY: CUPTI reads the data and the names, and writes a value for each name.
        unsafe {
            self.library
                .call(&self.library.cuptiProfilerHostEvaluateToGpuValues, |evaluate| {
                    evaluate.host = self.host;
                    evaluate.data = data.as_ptr();
                    evaluate.data_bytes = data.len();
                    evaluate.range = range;
                    evaluate.names = self.names.pointer();
                    evaluate.number = self.names.number();
                    evaluate.values = values.as_mut_ptr();
                })
        }?;
        Ok(values)
    }
}

impl Drop for Metrics<'_> {
    fn drop(&mut self) {
        let library = self.library;
        // SAFETY: the object is CUPTI's, and nothing uses it any more.
        let _ = unsafe { library.call(&library.cuptiProfilerHostDeinitialize, |own| own.host = self.host) };
    }
}

/// Returns CUPTI's description of the counters that a context may use.
fn availability(library: &Library, context: CUcontext) -> Result<Vec<u8>, DeviceError> {
    let query = |bytes: usize, image: *mut u8| {
        // SAFETY: CUPTI writes the size, and at most `bytes` bytes of the image if there is one.
        unsafe {
            library.call(&library.cuptiProfilerGetCounterAvailability, |available| {
                available.context = context;
                available.image_bytes = bytes;
                available.image = image;
            })
        }
    };
    let bytes = query(0, ptr::null_mut())?.image_bytes;
    let mut image = vec![0; bytes];
    query(bytes, image.as_mut_ptr())?;
    Ok(image)
}
