//! GPU readings through NVML.

use std::sync::OnceLock;

use nvml_wrapper::bitmasks::device::ThrottleReasons as Bits;
use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, TemperatureSensor};
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::struct_wrappers::event::EventData;
use nvml_wrapper::{Device, EventSet, Nvml};

use super::{Gauge, Reading, ThrottleReason, ThrottleReasons};

/// The most Xid errors per call. A GPU with an endless stream of them must not block a run.
const MOST_XIDS: usize = 64;

/// Returns the library, which is opened once and stays open.
///
/// # Errors
/// When it is missing or fails to initialize.
pub fn library() -> Result<&'static Nvml, &'static NvmlError> {
    static LIBRARY: OnceLock<Result<Nvml, NvmlError>> = OnceLock::new();
    LIBRARY.get_or_init(Nvml::init).as_ref()
}

/// NVML's view of one GPU.
pub struct NvmlGauge {
    device: Device<'static>,
    events: Option<EventSet<'static>>,
}

impl NvmlGauge {
    /// Opens the GPU with a UUID such as `GPU-…`.
    ///
    /// # Errors
    /// When the library is missing, or finds no such GPU.
    pub fn open(uuid: &str) -> Result<NvmlGauge, String> {
        let nvml = library().map_err(|error| gpubench_diagnostic::chain(error))?;
        let device = nvml
            .device_by_uuid(uuid)
            .map_err(|error| gpubench_diagnostic::chain(&error))?;
        let events = nvml
            .create_event_set()
            .ok()
            .and_then(|events| device.register_events(EventTypes::CRITICAL_XID_ERROR, events).ok());
        Ok(NvmlGauge { device, events })
    }

    fn hertz(&self, clock: Clock) -> Option<f64> {
        let megahertz = self.device.clock_info(clock).ok()?;
        Some(f64::from(megahertz) * 1e6)
    }
}

impl Gauge for NvmlGauge {
    fn reading(&mut self) -> Reading {
        Reading {
            clock_hz: self.clock_hz(),
            memory_clock_hz: self.hertz(Clock::Memory),
            temperature_c: self.device.temperature(TemperatureSensor::Gpu).ok().map(f64::from),
            power_w: self
                .device
                .power_usage()
                .ok()
                .map(|milliwatts| f64::from(milliwatts) / 1e3),
            throttle_reasons: self.throttle_reasons(),
        }
    }

    fn clock_hz(&mut self) -> Option<f64> {
        self.hertz(Clock::SM)
    }

    fn throttle_reasons(&mut self) -> Option<ThrottleReasons> {
        self.device.current_throttle_reasons().ok().map(reasons_in)
    }

    fn energy_j(&mut self) -> Option<f64> {
        let millijoules = self.device.total_energy_consumption().ok()?;
        Some(millijoules as f64 / 1e3)
    }

    fn uncorrected_errors(&mut self) -> Option<u64> {
        self.device
            .total_ecc_errors(MemoryError::Uncorrected, EccCounter::Volatile)
            .ok()
    }

    fn xids(&mut self) -> Option<Vec<u64>> {
        let events = self.events.as_ref()?;
        // NVML returns `timeout` when there are no more.
        let waiting = std::iter::from_fn(|| events.wait(0).ok());
        Some(waiting.take(MOST_XIDS).filter_map(|event| xid_of(&event)).collect())
    }

    fn compute_processes(&mut self) -> Option<Vec<u32>> {
        let processes = self.device.running_compute_processes().ok()?;
        Some(processes.into_iter().map(|process| process.pid).collect())
    }

    fn is_persistent(&mut self) -> Option<bool> {
        self.device.is_in_persistent_mode().ok()
    }
}

/// Returns the number of an Xid event; 999 if unknown, as NVML itself does.
fn xid_of(event: &EventData<'_>) -> Option<u64> {
    Some(match event.event_data.as_ref()? {
        XidError::Value(number) => *number,
        XidError::Unknown => 999,
    })
}

fn reasons_in(bits: Bits) -> ThrottleReasons {
    let known = [
        (Bits::GPU_IDLE, ThrottleReason::Idle),
        (Bits::APPLICATIONS_CLOCKS_SETTING, ThrottleReason::ApplicationsClocks),
        (Bits::DISPLAY_CLOCK_SETTING, ThrottleReason::DisplayClocks),
        (Bits::SW_POWER_CAP, ThrottleReason::PowerCap),
        (Bits::HW_SLOWDOWN, ThrottleReason::HardwareSlowdown),
        (Bits::SYNC_BOOST, ThrottleReason::SyncBoost),
        (Bits::SW_THERMAL_SLOWDOWN, ThrottleReason::ThermalSlowdown),
        (Bits::HW_THERMAL_SLOWDOWN, ThrottleReason::HardwareThermalSlowdown),
        (Bits::HW_POWER_BRAKE_SLOWDOWN, ThrottleReason::PowerBrake),
    ];
    let set = known.into_iter().filter(|(bit, _)| bits.contains(*bit));
    set.map(|(_, reason)| reason).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bit_is_a_reason() {
        assert_eq!(reasons_in(Bits::NONE), ThrottleReasons::new());
        assert_eq!(
            reasons_in(Bits::GPU_IDLE | Bits::SW_POWER_CAP),
            ThrottleReasons::from([ThrottleReason::Idle, ThrottleReason::PowerCap])
        );
        assert_eq!(reasons_in(Bits::all()).len(), 9);
    }

    #[test]
    fn a_missing_gpu_has_no_gauge_but_a_reason() {
        let Err(reason) = NvmlGauge::open("GPU-00000000-0000-0000-0000-000000000000") else {
            panic!("there is no such GPU");
        };
        assert!(!reason.is_empty());
    }

    #[test]
    #[ignore = "needs an NVIDIA GPU"]
    fn a_gpu_reports_its_clocks() {
        let nvml = library().unwrap();
        let uuid = nvml.device_by_index(0).unwrap().uuid().unwrap();
        let mut gauge = NvmlGauge::open(&uuid).unwrap();
        let reading = gauge.reading();
        assert!(reading.clock_hz.is_some_and(|hertz| hertz > 1e8), "{reading:?}");
        assert!(reading.throttle_reasons.is_some(), "{reading:?}");
        assert!(gauge.xids().unwrap_or_default().is_empty());
    }
}
