//! Chooses the GPU and checks that it supports the window protocol.

use std::ffi::c_int;

use cudarc::driver::sys::{CUdevice, CUdevice_attribute, CUuuid};

use super::api::Api;
use super::architecture::Architecture;
use super::call::{DriverError, call};
use super::library::unusable;
use super::mps::mps_daemon;
use crate::{Absence, AbsenceKind, DeviceOrder};

/// Values of `CU_DEVICE_ATTRIBUTE_COMPUTE_MODE`.
const PROHIBITED: c_int = 2;
const EXCLUSIVE_PROCESS: c_int = 3;

/// A GPU of this machine.
#[derive(Clone, Copy)]
pub(super) struct Gpu {
    pub(super) api: Api,
    pub(super) handle: CUdevice,
    pub(super) ordinal: u32,
}

impl Gpu {
    /// Returns the GPU with a UUID if that is known, else the one with an index in the driver's
    /// order.
    ///
    /// # Errors
    /// When there is no such GPU, or it does not support the window protocol.
    pub(super) fn choose(api: Api, order: &DeviceOrder) -> Result<Gpu, Absence> {
        let failed = |error: DriverError| unusable(error.to_string(), "`nvidia-smi` shows whether the GPU works");
        let mut count = 0;
        // SAFETY: it writes one number.
        unsafe { call!(api, cuDeviceGetCount(&mut count)) }.map_err(failed)?;
        let at = |index: c_int| {
            let mut handle = 0;
            // SAFETY: it writes one number.
            unsafe { call!(api, cuDeviceGet(&mut handle, index)) }.map_err(failed)?;
            let ordinal = u32::try_from(index).unwrap_or_default();
            Ok(Gpu { api, handle, ordinal })
        };
        let gpu = match order.uuid() {
            None => {
                let index = c_int::try_from(order.ordinal).ok().filter(|index| *index < count);
                at(index.ok_or_else(|| out_of_range(order.ordinal, count))?)?
            }
            Some(wanted) => {
                let gpus = (0..count).map(at).collect::<Result<Vec<Gpu>, Absence>>()?;
                let mut gpus = gpus.into_iter();
                gpus.find(|gpu| gpu.uuid().is_ok_and(|uuid| uuid == wanted))
                    .ok_or_else(|| gone(order.ordinal, count))?
            }
        };
        gpu.check_support(failed)?;
        Ok(gpu)
    }

    /// Returns the UUID.
    pub(super) fn uuid(&self) -> Result<[u8; 16], DriverError> {
        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: it writes 16 bytes.
        unsafe { call!(self.api, cuDeviceGetUuid_v2(&mut uuid, self.handle)) }?;
        Ok(uuid.bytes.map(|byte| byte as u8))
    }

    /// Returns an attribute that every supported driver has.
    pub(super) fn attribute(&self, attribute: CUdevice_attribute) -> Result<c_int, DriverError> {
        let mut value = 0;
        let number = attribute as c_int;
        // SAFETY: it writes one number.
        unsafe { call!(self.api, cuDeviceGetAttribute(&mut value, number, self.handle)) }?;
        Ok(value)
    }

    /// Returns the compute capability as `major * 10 + minor`.
    pub(super) fn capability(&self) -> Result<u32, DriverError> {
        let major = self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok(u32::try_from(10 * major + minor).unwrap_or(0))
    }

    /// Returns whether this process uses the GPU through MPS.
    pub(super) fn uses_mps(&self) -> bool {
        match self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MPS_ENABLED) {
            Ok(enabled) => enabled != 0,
            // The driver does not know the attribute, so look for the daemon's control pipe.
            Err(_) => mps_daemon().is_some(),
        }
    }

    fn check_support(&self, failed: impl Fn(DriverError) -> Absence) -> Result<(), Absence> {
        let number = self.ordinal;
        let capability = self.capability().map_err(&failed)?;
        if capability < Architecture::LEAST_CAPABILITY {
            let (major, minor) = (capability / 10, capability % 10);
            return Err(unusable(
                format!("`cuda:{number}` has compute capability {major}.{minor}"),
                "use a GPU of compute capability 7.5 or later",
            ));
        }
        let mode = self
            .attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)
            .map_err(&failed)?;
        let mode_hint = format!("run `nvidia-smi -i {number} -c DEFAULT` to let several processes use it");
        match mode {
            PROHIBITED => {
                let reason = format!("`cuda:{number}` is in prohibited compute mode: no process may use it");
                return Err(unusable(reason, mode_hint));
            }
            EXCLUSIVE_PROCESS if !self.uses_mps() => {
                let reason = format!(
                    "`cuda:{number}` is in exclusive-process compute mode, but the referee and a worker must use it at the same time"
                );
                return Err(unusable(reason, mode_hint));
            }
            _ => {}
        }
        for (attribute, what) in [
            (
                CUdevice_attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                "map memory at chosen addresses (virtual memory management)",
            ),
            (
                CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                "share memory through file descriptors",
            ),
            (
                CUdevice_attribute::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
                "use one address space with the host (unified addressing)",
            ),
            (
                CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,
                "map host memory",
            ),
        ] {
            if self.attribute(attribute).map_err(&failed)? == 0 {
                return Err(unusable(
                    format!("`cuda:{number}` cannot {what}"),
                    "every measurement needs this; check whether the driver or a hypervisor disables it",
                ));
            }
        }
        Ok(())
    }
}

fn out_of_range(ordinal: u32, count: c_int) -> Absence {
    let reason = match count {
        0 => format!("there is no `cuda:{ordinal}`: the driver finds no GPU"),
        1 => format!("there is no `cuda:{ordinal}`: this machine has 1 GPU"),
        count => format!("there is no `cuda:{ordinal}`: this machine has {count} GPUs"),
    };
    let hint = match count {
        0 => "`nvidia-smi -L` lists what the kernel driver sees".to_owned(),
        1 => "use `--device cuda`; `CUDA_VISIBLE_DEVICES` may hide other GPUs".to_owned(),
        count => format!(
            "use `cuda:0` to `cuda:{}`; `CUDA_VISIBLE_DEVICES` may hide other GPUs",
            count - 1
        ),
    };
    Absence {
        kind: AbsenceKind::BeyondLast,
        ..unusable(reason, hint)
    }
}

/// The GPU was there when the run chose it.
fn gone(ordinal: u32, count: c_int) -> Absence {
    unusable(
        format!("the driver no longer finds the GPU that was `cuda:{ordinal}`, and lists {count} others"),
        "`nvidia-smi` and the kernel's log show what happened to it",
    )
}
