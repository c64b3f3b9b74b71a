//! Device properties.

use std::borrow::Cow;

use gpubench::catalog::DeviceFacts;
use gpubench::codec;
use gpubench_contract::ArithmeticPeaks;
use serde::{Deserialize, Serialize};

use super::KernelHost;

/// Device properties that the window protocol depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The properties that benchmark functions can read.
    #[serde(with = "encoded")]
    pub device: DeviceFacts,
    /// A UUID that distinguishes devices of the same name.
    pub identity: Option<String>,
    /// The address on the PCI bus as the system's folders have it: `0000:3b:00.0`. `None` if the
    /// device has none, or does not tell.
    pub pci_address: Option<String>,
    /// The driver version, as the driver reports it.
    pub driver: Option<String>,
    /// Resolution of the device's clock, in nanoseconds.
    pub clock_tick_ns: f64,
    /// Granularity of shared allocations, in bytes.
    pub granularity: u64,
    /// Alignment of buffers, in bytes. It is small so that a buffer can end close to the end of its
    /// allocation.
    pub alignment: u64,
    /// Free memory in bytes, if known.
    pub free_memory: Option<u64>,
    /// Default size of a cache flush, in bytes.
    pub flush_bytes: u64,
    /// The process that runs the kernels of references and generators.
    pub kernels_run_in: KernelHost,
    /// Whether the referee's clock bounds a worker's claims.
    pub clock_bound: ClockBound,
    /// Peak memory bandwidth in bytes per second, if known.
    pub peak_bandwidth: Option<f64>,
    /// Peak arithmetic rates, as far as known.
    pub peak_arithmetic: ArithmeticPeaks,
}

/// Whether the referee's clock bounds a worker's claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClockBound {
    /// Yes: work of two processes never overlaps on the device.
    Exclusive,
    /// No: work may overlap. The text is the reason.
    Absent(Cow<'static, str>),
}

/// Serializes [`DeviceFacts`] as bytes in the runtime's encoding.
mod encoded {
    use super::*;

    pub(super) fn serialize<S: serde::Serializer>(facts: &DeviceFacts, serializer: S) -> Result<S::Ok, S::Error> {
        codec::encode(facts).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<DeviceFacts, D::Error> {
        let bytes = Vec::<u8>::deserialize(deserializer)?;
        codec::decode(&bytes).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_survive_a_round_trip() {
        let facts = crate::cpu::facts(std::num::NonZeroUsize::MIN);
        let sent = serde_json::to_vec(&facts).unwrap();
        assert_eq!(serde_json::from_slice::<Facts>(&sent).unwrap(), facts);
    }
}
