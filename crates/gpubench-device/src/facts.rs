//! What a device says of itself.

use std::borrow::Cow;

use gpubench::catalog::DeviceFacts;
use gpubench::codec;
use gpubench_contract::ArithmeticPeaks;
use serde::{Deserialize, Serialize};

use super::{Backend, KernelHost};

/// Device properties that the window protocol depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// What benchmark functions may know.
    #[serde(with = "encoded")]
    pub device: DeviceFacts,
    /// What distinguishes the device from others of its name: a UUID.
    pub identity: Option<String>,
    /// The driver's version as it names itself.
    pub driver: Option<String>,
    /// Resolution of the device's clock, in nanoseconds.
    pub clock_tick_ns: f64,
    /// Shared allocations are multiples of this many bytes.
    pub granularity: u64,
    /// Buffers start at multiples of this many bytes, so that they can end close to the end of
    /// their allocation.
    pub alignment: u64,
    /// Bytes of memory that can still be had, where it is known.
    pub free_memory: Option<u64>,
    /// Bytes of a cache flush, unless the user says otherwise.
    pub flush_bytes: u64,
    /// Where kernels that compute references and inputs are run.
    pub kernels_run_in: KernelHost,
    /// Whether the referee's clock bounds a worker's claimed time.
    pub clock_bound: ClockBound,
    /// Peak memory bandwidth in bytes per second, where it is known.
    pub peak_bandwidth: Option<f64>,
    /// Peak rates of arithmetic, as far as they are known.
    pub peak_arithmetic: ArithmeticPeaks,
}

/// Whether the referee's clock bounds a worker's claimed time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClockBound {
    /// Phases of two processes never overlap on the device.
    Exclusive,
    /// Phases may overlap, for this reason.
    Absent(Cow<'static, str>),
}

impl Facts {
    /// The backend for this kind of device.
    pub fn backend(&self) -> &'static Backend {
        Backend::of(self.device.kind)
    }
}

/// The runtime's own encoding, as bytes.
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
    fn facts_arrive_as_they_were_sent() {
        let facts = crate::cpu::facts(std::num::NonZeroUsize::MIN);
        let sent = serde_json::to_vec(&facts).unwrap();
        assert_eq!(serde_json::from_slice::<Facts>(&sent).unwrap(), facts);
    }
}
