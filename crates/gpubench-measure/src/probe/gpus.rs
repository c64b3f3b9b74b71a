//! All GPUs that NVML lists.

use nvml_wrapper::enum_wrappers::device::{Clock, ComputeMode};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use serde::{Deserialize, Serialize};

use gpubench_device::telemetry::nvml::{NvmlGauge, library};
use gpubench_device::telemetry::{Gauge, ThrottleReason};

/// A GPU as NVML reports it. Unknown values are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// Name.
    pub name: String,
    /// UUID.
    pub uuid: Option<String>,
    /// Version of the driver.
    pub driver: Option<String>,
    /// Compute capability, `major * 10 + minor`.
    pub capability: Option<u32>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Whether it is partitioned into MIG instances.
    pub mig: Option<bool>,
    /// Compute mode, in the driver's words.
    pub compute_mode: Option<String>,
    /// Whether the driver stays loaded without users (persistence mode).
    pub persistent: Option<bool>,
    /// Current and maximum clock of the multiprocessors, in MHz.
    pub clocks_mhz: Option<[u32; 2]>,
    /// Whether a user's setting limits the clocks now. NVML does not tell a lock from application
    /// clocks.
    pub clocks_are_set: Option<bool>,
    /// Why clocks are throttled now.
    pub throttle_reasons: Option<Vec<String>>,
    /// Number of processes with a compute context.
    pub clients: Option<u32>,
}

/// Lists every GPU.
///
/// # Errors
/// If NVML is not available.
pub(super) fn list() -> Result<Vec<Gpu>, String> {
    let nvml = library().map_err(|error| gpubench_diagnostic::chain(error))?;
    let count = nvml
        .device_count()
        .map_err(|error| gpubench_diagnostic::chain(&error))?;
    Ok((0..count)
        .filter_map(|position| describe(nvml, position).ok())
        .collect())
}

fn describe(nvml: &Nvml, position: u32) -> Result<Gpu, NvmlError> {
    let device = nvml.device_by_index(position)?;
    let capability = device.cuda_compute_capability().ok();
    let uuid = device.uuid().ok();
    let clocks = device
        .clock_info(Clock::SM)
        .and_then(|now| Ok([now, device.max_clock_info(Clock::SM)?]));
    let mut gauge = uuid.as_deref().and_then(|uuid| NvmlGauge::open(uuid).ok());
    let reasons = gauge.as_mut().and_then(|gauge| gauge.throttle_reasons());
    Ok(Gpu {
        name: device.name()?,
        uuid,
        driver: nvml.sys_driver_version().ok(),
        capability: capability.and_then(|capability| u32::try_from(capability.major * 10 + capability.minor).ok()),
        memory_bytes: device.memory_info().ok().map(|memory| memory.total),
        mig: device.mig_mode().ok().map(|mode| mode.current != 0),
        compute_mode: compute_mode(&device),
        persistent: device.is_in_persistent_mode().ok(),
        clocks_mhz: clocks.ok(),
        clocks_are_set: reasons
            .as_ref()
            .map(|reasons| reasons.contains(&ThrottleReason::ApplicationsClocks)),
        throttle_reasons: reasons.map(|reasons| {
            let disturbing = reasons.into_iter().filter(|reason| reason.disturbs());
            disturbing.map(|reason| reason.as_str().to_owned()).collect()
        }),
        clients: device.running_compute_processes_count().ok(),
    })
}

fn compute_mode(device: &Device<'_>) -> Option<String> {
    let word = match device.compute_mode().ok()? {
        ComputeMode::Default => "default",
        ComputeMode::ExclusiveThread => "exclusive-thread",
        ComputeMode::Prohibited => "prohibited",
        ComputeMode::ExclusiveProcess => "exclusive-process",
    };
    Some(word.to_owned())
}
