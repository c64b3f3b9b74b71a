//! Throttle reasons of a GPU.

use std::collections::BTreeSet;

/// A reason why a GPU runs below its highest clocks, as NVML names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThrottleReason {
    /// The GPU is idle.
    Idle,
    /// A user set the application clocks.
    ApplicationsClocks,
    /// A user set the display clocks.
    DisplayClocks,
    /// The driver keeps the power below the limit.
    PowerCap,
    /// The hardware slows the GPU down by half or more: heat, power, or an external brake.
    HardwareSlowdown,
    /// Another GPU of the sync-boost group is slow.
    SyncBoost,
    /// The driver keeps the temperature below the limit.
    ThermalSlowdown,
    /// The hardware keeps the temperature below the limit.
    HardwareThermalSlowdown,
    /// The power supply demands a lower power.
    PowerBrake,
}

/// The throttle reasons at one moment.
pub type ThrottleReasons = BTreeSet<ThrottleReason>;

impl ThrottleReason {
    /// Returns the word of the machine contract.
    pub fn as_str(self) -> &'static str {
        match self {
            ThrottleReason::Idle => "idle",
            ThrottleReason::ApplicationsClocks => "applications-clocks",
            ThrottleReason::DisplayClocks => "display-clocks",
            ThrottleReason::PowerCap => "power-cap",
            ThrottleReason::HardwareSlowdown => "hardware-slowdown",
            ThrottleReason::SyncBoost => "sync-boost",
            ThrottleReason::ThermalSlowdown => "thermal-slowdown",
            ThrottleReason::HardwareThermalSlowdown => "hardware-thermal-slowdown",
            ThrottleReason::PowerBrake => "power-brake",
        }
    }

    /// Returns whether the reason disturbs a measurement. Idleness between calls and clocks that a
    /// user set do not.
    pub fn disturbs(self) -> bool {
        !matches!(
            self,
            ThrottleReason::Idle | ThrottleReason::ApplicationsClocks | ThrottleReason::DisplayClocks
        )
    }
}

/// Returns the words of several reasons.
pub fn words(reasons: &ThrottleReasons) -> Vec<String> {
    reasons.iter().map(|reason| reason.as_str().to_owned()).collect()
}
