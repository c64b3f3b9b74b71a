//! Loads the CUDA driver library and checks that it can be used.

use std::ffi::c_int;
use std::sync::OnceLock;

use libloading::Library as Opened;

use super::api::Api;
use super::call::{DriverError, call};
use crate::{Absence, AbsenceKind};

/// The oldest supported CUDA version, as `cuDriverGetVersion` counts: 12.4, the first that reports
/// kernel parameters. A plan's arguments are checked against them.
const OLDEST: c_int = 12_040;

const NEWER: &str = "install driver 550 (CUDA 12.4) or later";

/// The file that exists while NVIDIA's kernel module is loaded.
const KERNEL_DRIVER: &str = "/proc/driver/nvidia/version";

/// The names of the library. `cuda-gdb` knows the driver only by the first, and a file with the
/// second can be a link-time stub.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// Opens the library once. It stays open until the process ends.
fn opened() -> Option<&'static Opened> {
    static OPENED: OnceLock<Opened> = OnceLock::new();
    if OPENED.get().is_none() {
        // SAFETY: opening the driver library runs its constructors, as in every CUDA program.
        let found = NAMES.into_iter().find_map(|name| unsafe { Opened::new(name) }.ok())?;
        return Some(OPENED.get_or_init(|| found));
    }
    OPENED.get()
}

/// The driver's library, initialized.
#[derive(Clone, Copy)]
pub(super) struct Library {
    pub(super) api: Api,
    /// The newest CUDA version that the driver supports: 1000 * major + 10 * minor.
    pub(super) version: c_int,
}

impl Library {
    /// Opens and initializes the driver's library.
    ///
    /// # Errors
    /// The library is missing, too old, or fails to initialize.
    pub(super) fn open() -> Result<Library, Absence> {
        let opened = opened().ok_or_else(not_installed)?;
        let api = Api::resolve(opened)
            .map_err(|symbol| unusable(format!("the CUDA driver is too old: it lacks `{symbol}`"), NEWER))?;
        // SAFETY: `cuInit` takes an integer and no pointers.
        unsafe { call!(api, cuInit(0)) }.map_err(|error| failed_start(&error))?;
        let mut version = 0;
        // SAFETY: it writes one number.
        unsafe { call!(api, cuDriverGetVersion(&mut version)) }.map_err(|error| failed_start(&error))?;
        if version < OLDEST {
            let reason = format!(
                "the CUDA driver is too old: it supports only CUDA {}",
                version_text(version)
            );
            return Err(unusable(reason, NEWER));
        }
        Ok(Library { api, version })
    }
}

/// Returns `13.0` for 13000 and `12.4` for 12040.
pub(super) fn version_text(version: c_int) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// Returns the version of NVIDIA's kernel module; `None` if it is not loaded.
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
            "the GPU's kernel driver is loaded, but its library `libcuda.so.1` was not found",
            "in a container, pass the GPU through (`--gpus all`); otherwise install the driver's user-space package, or add its folder to `LD_LIBRARY_PATH`",
        );
    }
    Absence {
        kind: AbsenceKind::NotInstalled,
        reason: "no CUDA driver is installed: `libcuda.so.1` was not found".to_owned(),
        hint: format!("{NEWER}; `--device cpu` runs the kernels on the built-in CPU device"),
    }
}

/// Explains the result of a failed initialization.
fn failed_start(error: &DriverError) -> Absence {
    let result = error.result();
    let (reason, hint) = match error.code {
        34 => (
            "the `libcuda` found is a link-time stub, not a driver",
            "remove the `stubs` folder from `LD_LIBRARY_PATH`",
        ),
        100 if hides_all_devices() => (
            "`CUDA_VISIBLE_DEVICES` hides every GPU",
            "unset `CUDA_VISIBLE_DEVICES` or name a GPU in it; `--device cpu` needs no GPU",
        ),
        100 => (
            "the CUDA driver finds no GPU",
            "`nvidia-smi -L` lists what the kernel driver sees; in a container, pass the GPU through (`--gpus all`)",
        ),
        803 => (
            "the CUDA driver's library and its kernel module have different versions",
            "reboot after a driver update, or reload its kernel module",
        ),
        804 => (
            "the forward-compatibility driver library does not support this GPU",
            "remove the compatibility package's folder from `LD_LIBRARY_PATH`, or update the driver",
        ),
        802 => (
            "the GPUs are not ready yet: their fabric manager has not set them up",
            "start `nvidia-fabricmanager`",
        ),
        46 | 101 => (
            "the GPU is unavailable: busy, exclusive, or not a valid device",
            "check its compute mode with `nvidia-smi -q -d COMPUTE`",
        ),
        304 => (
            "the operating system denied access to the driver",
            "make the device files `/dev/nvidia*` accessible, and mount `/proc`",
        ),
        _ => (
            "the CUDA driver failed to initialize",
            "`nvidia-smi` shows whether the kernel driver works",
        ),
    };
    unusable(format!("{reason}: `{}` returned {result}", error.call), hint)
}

fn hides_all_devices() -> bool {
    std::env::var("CUDA_VISIBLE_DEVICES").is_ok_and(|visible| {
        let visible = visible.trim();
        visible.is_empty() || visible.starts_with('-')
    })
}
