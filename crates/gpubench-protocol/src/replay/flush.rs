//! The buffer of the cache flush.

use gpubench_contract::Flush;
use gpubench_device::harness::Harness;
use gpubench_device::{DeviceError, DevicePtr, Driver, Stream};

/// The buffer of the cache flush.
#[derive(Clone, Copy, Debug)]
pub struct FlushBuffer {
    /// Its address.
    pub buffer: DevicePtr,
    /// Its size.
    pub bytes: u64,
    /// How a flush accesses it.
    pub kind: Flush,
}

impl FlushBuffer {
    /// Makes the buffer and writes it once. Memory that was never written may be one physical page
    /// mapped many times, and reading it evicts nothing.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn new(
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
        bytes: u64,
        kind: Flush,
    ) -> Result<FlushBuffer, DeviceError> {
        let buffer = driver.alloc(bytes)?;
        harness.noise(driver, stream, buffer, bytes, 0, 0)?;
        driver.synchronize(stream)?;
        Ok(FlushBuffer { buffer, bytes, kind })
    }

    /// Queues the flush.
    ///
    /// # Errors
    /// If the stream is full.
    pub fn queue(&self, driver: &mut dyn Driver, harness: &Harness, stream: Stream) -> Result<(), DeviceError> {
        harness.flush(driver, stream, self.buffer, self.bytes, self.kind)
    }
}
