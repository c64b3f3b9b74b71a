//! Reasons for which a GPU holds its clocks down.

use std::collections::BTreeSet;

/// A reason for which a GPU does not run at its highest clocks, as NVML names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThrottleReason {
    /// Nothing runs on it.
    Idle,
    /// Somebody has set its application clocks.
    ApplicationsClocks,
    /// Somebody has set its display clocks.
    DisplayClocks,
    /// The driver keeps its power under the limit.
    PowerCap,
    /// The hardware slows it down by half or more: heat, power, or an external brake.
    HardwareSlowdown,
    /// Another GPU of its group is slow.
    SyncBoost,
    /// The driver keeps its temperature under the limit.
    ThermalSlowdown,
    /// The hardware keeps its temperature under the limit.
    HardwareThermalSlowdown,
    /// The power supply asks for less.
    PowerBrake,
}

/// The reasons at one moment.
pub type ThrottleReasons = BTreeSet<ThrottleReason>;

impl ThrottleReason {
    /// The word of the machine contract.
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

    /// Whether it disturbs a measurement. A GPU that is idle between calls, or that runs at the
    /// clocks that somebody chose, is in its normal state.
    pub fn disturbs(self) -> bool {
        !matches!(
            self,
            ThrottleReason::Idle | ThrottleReason::ApplicationsClocks | ThrottleReason::DisplayClocks
        )
    }
}

/// The words of reasons.
pub fn words(reasons: &ThrottleReasons) -> Vec<String> {
    reasons.iter().map(|reason| reason.as_str().to_owned()).collect()
}
