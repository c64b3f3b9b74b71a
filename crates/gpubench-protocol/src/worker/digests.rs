//! The digests of a window's outputs. They are summed in the device's memory and reach the page as
//! one copy: sums in the page, which is host memory, cost a bus transaction for each block.

use crate::wire::MAX_OUTPUTS;
use gpubench_device::harness::{Coverage, Harness};
use gpubench_device::{DeviceError, DevicePtr, Driver, Stream};

/// Bytes of one sum.
const SUM_BYTES: u64 = size_of::<u64>() as u64;

/// The sums of the output digests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digests(DevicePtr);

impl Digests {
    pub(super) fn new(driver: &mut dyn Driver) -> Result<Digests, DeviceError> {
        Ok(Digests(driver.alloc(MAX_OUTPUTS as u64 * SUM_BYTES)?))
    }

    /// Queues the clearing of the sums. It comes before *go*, since it takes time.
    pub(super) fn clear(self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        driver.set(stream, self.0, 0, MAX_OUTPUTS as u64 * SUM_BYTES)
    }

    /// Queues the digests of the outputs, with the keys at `keys`, and their copy to `target`.
    pub(super) fn queue(
        self,
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
        outputs: &[(DevicePtr, u64)],
        coverage: Coverage,
        [keys, target]: [u64; 2],
    ) -> Result<(), DeviceError> {
        let mut sum = self.0;
        for (address, bytes) in outputs {
            harness.digest(driver, stream, *address, *bytes, keys, coverage, sum.0)?;
            sum = sum.offset(SUM_BYTES);
        }
        let all = outputs.len() as u64 * SUM_BYTES;
        driver.copy(stream, DevicePtr(target), self.0, all)
    }
}
