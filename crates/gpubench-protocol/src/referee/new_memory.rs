//! New physical memory for the buffers that workers map, at the same addresses.

use std::collections::VecDeque;

use super::RefereeError;
use super::buffers::Buffer;
use super::case::{OpenCase, Referee};
use gpubench_device::{DeviceError, DevicePtr, Driver, Memory};

/// Most bytes of earlier memory that a case keeps. As long as it is allocated, the device gives
/// other memory, so that no two placements are the same.
const MOST_EARLIER: u64 = 1 << 29;

/// Whether the buffers have new memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    /// They have it.
    Now,
    /// The device lacks memory for a second placement, so the buffers are where they were.
    NotForLackOfMemory,
}

/// Memory that the buffers of a case lay in before.
#[derive(Debug, Default)]
pub(super) struct EarlierMemory(VecDeque<(Memory, u64)>);

impl EarlierMemory {
    /// Keeps memory that is no longer mapped, and releases the oldest beyond the limit.
    pub(super) fn keep(&mut self, memory: Memory, bytes: u64, driver: &mut dyn Driver) {
        self.0.push_back((memory, bytes));
        while self.bytes() > MOST_EARLIER
            && let Some((oldest, _)) = self.0.pop_front()
        {
            driver.release(oldest);
        }
    }

    fn bytes(&self) -> u64 {
        self.0.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Releases all of it.
    pub(super) fn release(&mut self, driver: &mut dyn Driver) {
        self.0.drain(..).for_each(|(memory, _)| driver.release(memory));
    }
}

impl Referee {
    /// Maps new memory in place of that of all buffers that workers map. All of it is zero: nothing
    /// that a worker wrote earlier is in it. Every window fills it before a worker's call, as it
    /// did the memory before.
    ///
    /// # Errors
    /// If the device fails in another way than for lack of memory.
    pub(super) fn replace_memory(&mut self, case: &mut OpenCase) -> Result<Replaced, RefereeError> {
        let homes: Vec<Buffer> = case.homes().copied().collect();
        let mut new = self.create_like(&homes);
        if matches!(&new, Err(error) if error.is_out_of_memory()) {
            case.earlier.release(&mut *self.driver);
            new = self.create_like(&homes);
        }
        let new = match new {
            Ok(new) => new,
            Err(error) if error.is_out_of_memory() => return Ok(Replaced::NotForLackOfMemory),
            Err(error) => return Err(error.into()),
        };
        self.driver.synchronize(self.stream)?;
        for (position, (home, memory)) in homes.iter().zip(&new).enumerate() {
            if let Err(error) = self.driver.remap(home.shared.memory, *memory) {
                let unused = &new[position..];
                unused.iter().for_each(|memory| self.driver.release(*memory));
                return Err(error.into());
            }
            let (old, bytes) = (home.shared.memory, home.layout.allocation);
            case.earlier.keep(old, bytes, &mut *self.driver);
            let buffers = case.sides.iter_mut().flatten();
            let there = buffers.filter(|buffer| buffer.shared.memory == old);
            there.for_each(|buffer| buffer.shared.memory = *memory);
            self.driver.freeze(*memory, home.freeze())?;
            self.zero(home.shared.address, bytes)?;
        }
        self.driver.synchronize(self.stream)?;
        Ok(Replaced::Now)
    }

    /// Makes memory of the sizes of others, all or none.
    fn create_like(&mut self, homes: &[Buffer]) -> Result<Vec<Memory>, DeviceError> {
        let mut new = Vec::with_capacity(homes.len());
        for home in homes {
            match self.driver.create(home.layout.allocation) {
                Ok(memory) => new.push(memory),
                Err(error) => {
                    new.into_iter().for_each(|memory| self.driver.release(memory));
                    return Err(error);
                }
            }
        }
        Ok(new)
    }

    fn zero(&mut self, address: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
        self.driver.set(self.stream, address, 0, bytes)
    }
}
