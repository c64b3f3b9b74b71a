//! CUPTI's library: where it is, its functions, and what its results mean.
#![allow(non_snake_case)]

use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use libloading::os::unix::{Library as Opened, RTLD_GLOBAL, RTLD_NOW};

use super::parameters::{
    AddMetrics, Availability, ChipName, ConfigImage, ConfigSize, DataInfo, DataInitialize, DataSize, DecodeData,
    Enable, Evaluate, HostInitialize, NoParameters, OfHost, OfProfiler, Parameters, PushRange, SetConfig, Stop,
};
use crate::cuda::library::unusable;
use crate::toolkits::cupti_libraries;
use crate::{Absence, AbsenceKind, DeviceError};

/// Libraries that CUPTI opens by name. They are next to it, where the loader may not search.
const COMPANIONS: [&str; 2] = ["libnvperf_target.so", "libnvperf_host.so"];

pub(super) const INSTALL: &str = "install CUPTI of CUDA 12.6 or later: it is part of the CUDA toolkit and of the Python package `nvidia-cuda-cupti`; `CUDA_HOME` names the folder of a toolkit";

/// A function of CUPTI, with its name for errors.
pub(super) struct Function<P> {
    name: &'static str,
    address: unsafe extern "C" fn(*mut P) -> c_int,
}

macro_rules! library {
    ($(fn $name:ident($parameters:ty);)*) => {
        /// CUPTI, open until the process ends.
        pub(super) struct Library {
            $(pub(super) $name: Function<$parameters>,)*
            cuptiGetResultString: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int,
            cuptiGetVersion: unsafe extern "C" fn(*mut u32) -> c_int,
        }

        impl Library {
            /// Looks up all functions. Returns the name of the first one that is missing.
            fn resolve(library: &Opened) -> Result<Library, &'static str> {
                Ok(Library {
                    $(
                        $name: Function {
                            name: stringify!($name),
                            // SAFETY: the signature is the one that CUPTI's headers declare.
                            address: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }
                                .map_err(|_| stringify!($name))?,
                        },
                    )*
                    // SAFETY: as above.
                    cuptiGetResultString: *unsafe { library.get(b"cuptiGetResultString\0") }
                        .map_err(|_| "cuptiGetResultString")?,
                    // SAFETY: as above.
                    cuptiGetVersion: *unsafe { library.get(b"cuptiGetVersion\0") }.map_err(|_| "cuptiGetVersion")?,
                })
            }
        }
    };
}

library! {
    fn cuptiProfilerInitialize(NoParameters);
    fn cuptiDeviceGetChipName(ChipName);
    fn cuptiProfilerGetCounterAvailability(Availability);
    fn cuptiProfilerHostInitialize(HostInitialize);
    fn cuptiProfilerHostDeinitialize(OfHost);
    fn cuptiProfilerHostConfigAddMetrics(AddMetrics);
    fn cuptiProfilerHostGetConfigImageSize(ConfigSize);
    fn cuptiProfilerHostGetConfigImage(ConfigImage);
    fn cuptiProfilerHostEvaluateToGpuValues(Evaluate);
    fn cuptiRangeProfilerEnable(Enable);
    fn cuptiRangeProfilerDisable(OfProfiler);
    fn cuptiRangeProfilerGetCounterDataSize(DataSize);
    fn cuptiRangeProfilerCounterDataImageInitialize(DataInitialize);
    fn cuptiRangeProfilerSetConfig(SetConfig);
    fn cuptiRangeProfilerStart(OfProfiler);
    fn cuptiRangeProfilerStop(Stop);
    fn cuptiRangeProfilerPushRange(PushRange);
    fn cuptiRangeProfilerPopRange(OfProfiler);
    fn cuptiRangeProfilerDecodeData(DecodeData);
    fn cuptiRangeProfilerGetCounterDataInfo(DataInfo);
}

impl Library {
    /// Opens the first CUPTI that has a range profiler.
    ///
    /// # Errors
    /// None is found, or all are too old.
    pub(super) fn open() -> Result<Library, Absence> {
        let mut too_old = None;
        for path in cupti_libraries() {
            let Some(library) = open_with_companions(&path) else {
                continue;
            };
            match Library::resolve(&library) {
                Ok(functions) => {
                    // It stays open: the functions must remain valid.
                    std::mem::forget(library);
                    return Ok(functions);
                }
                Err(missing) => {
                    too_old.get_or_insert((path, missing));
                }
            }
        }
        Err(match too_old {
            Some((path, missing)) => unusable(
                format!("`{}` is too old to count: it lacks `{missing}`", path.display()),
                INSTALL,
            ),
            None => not_found("what kernels do on a GPU is counted by CUPTI"),
        })
    }

    /// Returns the version of CUPTI's interface, if CUPTI tells it.
    pub(super) fn version(&self) -> Option<u32> {
        let mut version = 0;
        // SAFETY: the function writes one number.
        let result = unsafe { (self.cuptiGetVersion)(&mut version) };
        (result == 0).then_some(version)
    }

    /// Returns the name of a result.
    fn name_of(&self, result: c_int) -> String {
        let mut name = std::ptr::null();
        // SAFETY: the function writes a pointer to a string that is never freed.
        let is_known = unsafe { (self.cuptiGetResultString)(result, &mut name) } == 0 && !name.is_null();
        if is_known {
            // SAFETY: as above.
            unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
        } else {
            "unknown".to_owned()
        }
    }

    /// Calls a function with parameters that `fill` completes. Returns them with its results. Waits
    /// for counters that another process has: two workers that are set up at the same time both
    /// look at them.
    ///
    /// # Safety
    /// All that the parameters point to is valid for what the function does with it.
    ///
    /// # Errors
    /// When CUPTI refuses.
    pub(super) unsafe fn call<P: Parameters>(
        &self,
        function: &Function<P>,
        fill: impl FnOnce(&mut P),
    ) -> Result<P, DeviceError> {
        let mut parameters = P::new();
        fill(&mut parameters);
        let deadline = Instant::now() + PATIENCE;
        loop {
            // SAFETY: the structure says its size; the caller guarantees the rest.
            let result = unsafe { (function.address)(&mut parameters) };
            if result != HARDWARE_BUSY || Instant::now() >= deadline {
                return self.check(function.name, result).map(|()| parameters);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Returns the error for a result, unless it is success.
    fn check(&self, call: &str, result: c_int) -> Result<(), DeviceError> {
        let name = match result {
            0 => return Ok(()),
            failure => self.name_of(failure),
        };
        let told = |reason: &str| format!("{reason}: `{call}` returned `{name}` ({result})");
        Err(DeviceError::Absent(match result {
            INSUFFICIENT_PRIVILEGES | VIRTUAL_WITHOUT_PRIVILEGES => unusable(
                told("the GPU's counters need rights that this process does not have"),
                "run as root or with the capability `CAP_PERFMON` (`--cap-add=PERFMON` or `SYS_ADMIN` in a container), or let all users count: load the kernel module `nvidia` with `NVreg_RestrictProfilingToAdminUsers=0`",
            ),
            HARDWARE_BUSY | SEVERAL_SUBSCRIBERS => unusable(
                told("another profiler uses the GPU's counters"),
                "end `ncu`, `nsys`, `dcgm` and other profilers (`dcgmi profstats --pause` pauses the last), and wait for another `cargo gpubench` that counts",
            ),
            VIRTUAL | NOT_SUPPORTED | NOT_COMPATIBLE | CONFIDENTIAL => unusable(
                told("this GPU or its driver cannot count for CUPTI"),
                "CUPTI may be newer than the driver, the GPU virtual or confidential",
            ),
            INVALID_METRIC => return Err(DeviceError::UnknownMetric(String::new())),
            // All that CUPTI 13.0 says of an unknown name. The user gives no other parameter.
            INVALID_PARAMETER if call == self.cuptiProfilerHostConfigAddMetrics.name => {
                return Err(DeviceError::UnknownMetric(String::new()));
            }
            _ => {
                return Err(DeviceError::Count(format!(
                    "`{call}` of CUPTI returned `{name}` ({result})"
                )));
            }
        }))
    }
}

/// How long a function waits for counters that another process has.
const PATIENCE: Duration = Duration::from_secs(3);

/// Pause between two attempts to get the counters.
const PAUSE: Duration = Duration::from_millis(10);

/// `CUPTI_ERROR_INVALID_PARAMETER`.
const INVALID_PARAMETER: c_int = 1;
/// `CUPTI_ERROR_INVALID_METRIC_NAME`.
const INVALID_METRIC: c_int = 17;
const NOT_COMPATIBLE: c_int = 14;
const HARDWARE_BUSY: c_int = 26;
const NOT_SUPPORTED: c_int = 27;
const VIRTUAL: c_int = 33;
const INSUFFICIENT_PRIVILEGES: c_int = 35;
const SEVERAL_SUBSCRIBERS: c_int = 39;
const VIRTUAL_WITHOUT_PRIVILEGES: c_int = 40;
const CONFIDENTIAL: c_int = 41;

/// Returns the absence of the library that is needed because of `need`.
pub(super) fn not_found(need: &str) -> Absence {
    Absence {
        kind: AbsenceKind::NotInstalled,
        reason: format!("{need}, and `libcupti.so` was not found"),
        hint: INSTALL.to_owned(),
    }
}

pub(super) fn open_with_companions(path: &Path) -> Option<Opened> {
    let folder = path.parent().filter(|folder| folder.is_dir());
    for companion in COMPANIONS {
        let companion: PathBuf = folder.map_or_else(|| companion.into(), |folder| folder.join(companion));
        // SAFETY: opening NVIDIA's library runs its constructors, as in every profiler.
        if let Ok(library) = unsafe { Opened::open(Some(companion), RTLD_NOW | RTLD_GLOBAL) } {
            std::mem::forget(library);
        }
    }
    // SAFETY: as above.
    unsafe { Opened::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.ok()
}
