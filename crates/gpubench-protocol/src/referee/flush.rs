//! The buffer of the cache flush.

use super::RefereeError;
use gpubench_contract::Flush;
use gpubench_device::harness::Harness;
use gpubench_device::{DevicePtr, Driver, Stream};

/// The buffer of the cache flush.
pub(super) struct FlushBuffer {
    pub(super) buffer: DevicePtr,
    pub(super) bytes: u64,
    pub(super) kind: Flush,
}

impl FlushBuffer {
    /// Makes the buffer and writes it once. Memory that was never written may be one physical page
    /// mapped many times, and reading it evicts nothing.
    pub(super) fn new(
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
        bytes: u64,
        kind: Flush,
    ) -> Result<FlushBuffer, RefereeError> {
        let buffer = driver.alloc(bytes)?;
        harness.noise(driver, stream, buffer, bytes, 0, 0)?;
        driver.synchronize(stream)?;
        Ok(FlushBuffer { buffer, bytes, kind })
    }
}
