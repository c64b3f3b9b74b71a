//! The preparation of a call.

use gpubench::catalog::Role;
use gpubench_contract::Method;

use super::RefereeError;
use super::buffers::{Buffer, PristineBuffers};
use super::case::{OpenCase, Referee};
use super::stamps::Preparation;
use crate::window::{KeyPurpose, Maker, WindowId};
use gpubench_device::harness::{Batch, Nanoseconds, Revealed, Ticket};

/// Returns the inputs with their roles.
fn restored_inputs<'c>(
    case: &'c OpenCase,
    side: &'c [Buffer],
) -> impl Iterator<Item = (Role, &'c Buffer, &'c PristineBuffers)> {
    let tensors = case.recording.tensors.iter().zip(side);
    tensors.filter_map(|(tensor, buffer)| Some((tensor.role, buffer, buffer.pristine.as_ref()?)))
}

impl Referee {
    /// Queues the preparation of a side's buffers, and of the caches for a call of the case's
    /// method. No step waits for the host, so a gap between two timestamps is the device's.
    pub(super) fn prepare(
        &mut self,
        case: &OpenCase,
        side: &[Buffer],
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<Preparation, RefereeError> {
        let s0 = self.stamp(batch)?;
        self.restore(side, place)?;
        let flush_begins = self.stamp(batch)?;
        match case.calls.method {
            Method::Cold | Method::Graph => self.flush()?,
            Method::Warm | Method::Hot => {}
        }
        let flush_ends = self.stamp(batch)?;
        Ok(Preparation {
            s0,
            flush_begins,
            flush_ends,
        })
    }

    /// Poisons outputs and scratch with their redzones, and copies the inputs to the worker with
    /// decoy lines in them.
    pub(super) fn restore(&mut self, side: &[Buffer], place: WindowId) -> Result<(), RefereeError> {
        let poison = self.seeds.key(KeyPurpose::Poison, place);
        let decoys = self.seeds.key(KeyPurpose::Decoys, place);
        let (driver, stream) = (&mut *self.driver, self.stream);
        for buffer in side {
            let layout = buffer.layout;
            let start = buffer.shared.address;
            let Some(pristine) = &buffer.pristine else {
                self.harness
                    .noise(driver, stream, start, layout.allocation, poison, 0)?;
                continue;
            };
            let back = layout.offset + layout.len;
            for (from, bytes) in [(0, layout.offset), (back, layout.allocation - back)] {
                self.harness
                    .noise(driver, stream, start.offset(from), bytes, poison, from)?;
            }
            driver.copy(stream, buffer.address(), pristine.current, layout.len)?;
            self.harness
                .lines(driver, stream, buffer.address(), pristine.decoy, layout.len, decoys)?;
        }
        Ok(())
    }

    /// Takes the time and replaces the decoys with the true lines. The timed calls follow at once.
    pub(super) fn reveal(
        &mut self,
        side: &[Buffer],
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<Ticket<Nanoseconds>, RefereeError> {
        let decoys = self.seeds.key(KeyPurpose::Decoys, place);
        let inputs = side.iter().filter_map(|buffer| {
            Some(Revealed {
                target: buffer.address(),
                source: buffer.pristine.as_ref()?.current,
                bytes: buffer.layout.len,
            })
        });
        let inputs: Vec<Revealed> = inputs.collect();
        Ok(self.harness.reveal(&mut *self.driver, batch, &inputs, decoys)?)
    }

    /// Shows the worker other inputs than the true ones, after the preparation has put decoys into
    /// them. Where the tool makes the inputs, only the decoy lines differ, so that a kernel must
    /// read them all to notice. The crate's own inputs are replaced as a whole, because a mixture
    /// of two may be invalid. Constants never change.
    pub(super) fn show_other_inputs(&mut self, case: &OpenCase, side: &[Buffer]) -> Result<(), RefereeError> {
        for (role, buffer, pristine) in restored_inputs(case, side) {
            let source = match (role, pristine.maker) {
                (Role::Constant, _) => pristine.current,
                (_, Maker::Harness) => continue,
                (_, Maker::RefereeKernel | Maker::AuthorKernel | Maker::AuthorFunction) => pristine.decoy,
            };
            let (target, bytes) = (buffer.address(), buffer.layout.len);
            self.driver.copy(self.stream, target, source, bytes)?;
        }
        Ok(())
    }

    /// Replaces the inputs that [`show_other_inputs`](Referee::show_other_inputs) has replaced as a
    /// whole. Poisons the outputs and scratch again if the key says so.
    pub(super) fn show_true_inputs(
        &mut self,
        case: &OpenCase,
        side: &[Buffer],
        place: WindowId,
    ) -> Result<(), RefereeError> {
        let poison = self.seeds.key(KeyPurpose::Poison, place);
        let (driver, stream) = (&mut *self.driver, self.stream);
        for (role, buffer, pristine) in restored_inputs(case, side) {
            if role != Role::Constant && pristine.maker != Maker::Harness {
                driver.copy(stream, buffer.address(), pristine.current, buffer.layout.len)?;
            }
        }
        if !self.seeds.outputs_change_too(place) {
            return Ok(());
        }
        for buffer in side.iter().filter(|buffer| buffer.pristine.is_none()) {
            let (start, bytes) = (buffer.layout.offset, buffer.layout.len);
            self.harness
                .noise(driver, stream, buffer.address(), bytes, poison, start)?;
        }
        Ok(())
    }

    /// Flushes the cache.
    fn flush(&mut self) -> Result<(), RefereeError> {
        Ok(self.flush.queue(&mut *self.driver, &self.harness, self.stream)?)
    }
}
