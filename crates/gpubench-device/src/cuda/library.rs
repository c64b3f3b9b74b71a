//! Whether the driver's library is there, and fit for use.

use std::ffi::c_int;

use cudarc::driver::sys::is_culib_present;

use super::api::Api;
use super::call::{DriverError, call};
use crate::{Absence, AbsenceKind};

/// The oldest driver that will do, as `cuDriverGetVersion` counts: CUDA 12.4, the first that tells the parameters of a kernel, with which a plan's arguments are compared.
const OLDEST: c_int = 12_040;

const NEWER: &str = "install driver 550 (CUDA 12.4) or later";

/// What the kernel driver calls itself, where it is loaded.
const KERNEL_DRIVER: &str = "/proc/driver/nvidia/version";

/// The driver's library, initialised.
#[derive(Clone, Copy)]
pub(super) struct Library {
    pub(super) api: Api,
    /// The newest CUDA version the driver supports, times 1000.
    pub(super) version: c_int,
}

impl Library {
    /// Opens and initialises the driver's library.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(super) fn open() -> Result<Library, Absence> {
        // SAFETY: opening the driver's library runs its constructors, which is what every user of it does.
        if !unsafe { is_culib_present() } {
            return Err(not_installed());
        }
        let api = Api::resolve()
            .map_err(|symbol| unusable(format!("the CUDA driver is too old: it lacks `{symbol}`"), NEWER))?;
        // SAFETY: it takes a number.
        unsafe { call!(api, cuInit(0)) }.map_err(|error| refusal_to_start(&error))?;
        let mut version = 0;
        // SAFETY: it writes one number.
        unsafe { call!(api, cuDriverGetVersion(&mut version)) }.map_err(|error| refusal_to_start(&error))?;
        if version < OLDEST {
            let reason = format!("the CUDA driver is too old: it supports CUDA {}", version_text(version));
            return Err(unusable(reason, NEWER));
        }
        Ok(Library { api, version })
    }
}

/// `13.0` for 13000.
pub(super) fn version_text(version: c_int) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// The version of the kernel driver, where it says so.
pub(super) fn kernel_driver_version() -> Option<String> {
    let version = fs_err::read_to_string("/sys/module/nvidia/version").ok()?;
    Some(version.trim().to_owned()).filter(|version| !version.is_empty())
}

pub(super) fn unusable(reason: impl Into<String>, hint: impl Into<String>) -> Absence {
    Absence {
        kind: AbsenceKind::Unusable,
        reason: reason.into(),
        hint: hint.into(),
    }
}

fn not_installed() -> Absence {
    if std::path::Path::new(KERNEL_DRIVER).exists() {
        return unusable(
            "the GPU's kernel driver is loaded, but its library `libcuda.so.1` is not found",
            "in a container, pass the GPU through (`--gpus all`); else install the driver's user-space package or name its folder in `LD_LIBRARY_PATH`",
        );
    }
    Absence {
        kind: AbsenceKind::NotInstalled,
        reason: "no CUDA driver is installed: `libcuda.so.1` is not found".to_owned(),
        hint: format!("{NEWER}; `--device cpu` runs the kernels on the built-in CPU device"),
    }
}

/// Why the driver does not start, told apart by its result.
fn refusal_to_start(error: &DriverError) -> Absence {
    let result = error.result();
    let (reason, hint) = match error.code {
        34 => (
            "the `libcuda` that is found is a stub for linking, not a driver",
            "take the folder `stubs` out of `LD_LIBRARY_PATH`",
        ),
        100 if hides_all_devices() => (
            "`CUDA_VISIBLE_DEVICES` hides every GPU",
            "unset `CUDA_VISIBLE_DEVICES` or name a GPU in it; `--device cpu` needs none",
        ),
        100 => (
            "the CUDA driver finds no GPU",
            "`nvidia-smi -L` lists what the kernel driver sees; in a container, pass the GPU through (`--gpus all`)",
        ),
        803 => (
            "the CUDA driver's library and its kernel module have different versions",
            "reboot after the driver's update, or reload its kernel module",
        ),
        804 => (
            "the forward-compatibility driver library does not support this GPU",
            "take the compatibility package's folder out of `LD_LIBRARY_PATH`, or update the driver",
        ),
        802 => (
            "the GPUs are not ready yet: their fabric manager has not set them up",
            "start `nvidia-fabricmanager`",
        ),
        46 | 101 => (
            "the GPU is busy or not available",
            "`nvidia-smi -q -d COMPUTE` says who may use it",
        ),
        304 => (
            "the operating system refuses the driver what it needs",
            "the device files `/dev/nvidia*` must be accessible, and `/proc` must be mounted",
        ),
        _ => (
            "the CUDA driver does not start",
            "`nvidia-smi` says whether the kernel driver works",
        ),
    };
    unusable(format!("{reason}: `{}` gives {result}", error.call), hint)
}

fn hides_all_devices() -> bool {
    std::env::var("CUDA_VISIBLE_DEVICES").is_ok_and(|visible| {
        let visible = visible.trim();
        visible.is_empty() || visible.starts_with('-')
    })
}
