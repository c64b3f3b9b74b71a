//! The preparation of a call.

use std::num::NonZeroU32;

use gpubench_contract::CacheTreatment;

use super::RefereeError;
use super::buffers::Buffer;
use super::case::{OpenCase, Referee};
use super::stamps::Preparation;
use crate::window::{KeyPurpose, WindowId};
use gpubench_device::harness::{AccessKind, Batch, BufferAccess, LineCopy, Nanoseconds, Ticket};

impl Referee {
    /// Queues the preparation of a side's buffers, and of the caches for a call of the case's
    /// mode. `made` is the number of tensors of the calls that are made. No step waits for the
    /// host, so a gap between two timestamps is the device's.
    pub(super) fn prepare(
        &mut self,
        case: &OpenCase,
        side: &[Buffer],
        made: usize,
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<Preparation, RefereeError> {
        let s0 = self.stamp(batch)?;
        self.restore(side, made, place)?;
        let flush_begins = self.stamp(batch)?;
        match case.calls.mode.cache() {
            CacheTreatment::Flushed => self.flush()?,
            CacheTreatment::Touched => self.touch(side)?,
            CacheTreatment::Left => {}
        }
        let flush_ends = self.stamp(batch)?;
        Ok(Preparation {
            s0,
            flush_begins,
            flush_ends,
        })
    }

    /// Poisons outputs and scratch with their redzones, and copies the inputs to the worker. The
    /// inputs among the first `made` buffers get decoy lines. The inputs of calls that are not made
    /// have none: a call must not see that it is alone.
    pub(super) fn restore(&mut self, side: &[Buffer], made: usize, place: WindowId) -> Result<(), RefereeError> {
        let poison = self.seeds.key(KeyPurpose::Poison, place);
        let decoys = self.seeds.key(KeyPurpose::Decoys, place);
        let (driver, stream) = (&mut *self.driver, self.stream);
        for (position, buffer) in side.iter().enumerate() {
            let layout = buffer.layout;
            let start = buffer.shared.address;
            let Some(pristine) = &buffer.pristine else {
                let from = layout.offset - layout.front;
                let bytes = layout.front + layout.len + layout.back;
                self.harness
                    .noise(driver, stream, start.offset(from), bytes, poison, from)?;
                continue;
            };
            for (from, bytes) in layout.redzones() {
                self.harness
                    .noise(driver, stream, start.offset(from), bytes, poison, from)?;
            }
            driver.copy(stream, buffer.address(), pristine.current, layout.len)?;
            if position < made {
                self.harness
                    .lines(driver, stream, buffer.address(), pristine.decoy, layout.len, decoys)?;
            }
        }
        Ok(())
    }

    /// Takes the time and replaces the decoys with the true lines of `inputs`, those of the calls
    /// that are made: the lines are in the cache then, and must be written to memory before others
    /// fit. The timed calls follow at once.
    pub(super) fn reveal(
        &mut self,
        inputs: &[Buffer],
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<Ticket<Nanoseconds>, RefereeError> {
        let decoys = self.seeds.key(KeyPurpose::Decoys, place);
        let inputs = inputs.iter().filter_map(|buffer| {
            Some(LineCopy {
                target: buffer.address(),
                source: buffer.pristine.as_ref()?.current,
                bytes: buffer.layout.len,
            })
        });
        let inputs: Vec<LineCopy> = inputs.collect();
        Ok(self.harness.reveal(&mut *self.driver, batch, &inputs, decoys)?)
    }

    /// Reads the buffers, so that the worker finds them in the cache when it reads them: what the
    /// restore has written is then in memory already, and the worker's read always takes the same
    /// time.
    fn touch(&mut self, side: &[Buffer]) -> Result<(), RefereeError> {
        let buffers = side.iter().map(|buffer| BufferAccess {
            address: buffer.address(),
            bytes: buffer.layout.len,
            access: AccessKind::Reads,
        });
        let buffers: Vec<BufferAccess> = buffers.collect();
        let (driver, stream) = (&mut *self.driver, self.stream);
        Ok(self.harness.twin(driver, stream, &buffers, NonZeroU32::MIN)?)
    }

    /// Flushes the cache.
    fn flush(&mut self) -> Result<(), RefereeError> {
        Ok(self.flush.queue(&mut *self.driver, &self.harness, self.stream)?)
    }
}
