//! The preparation of a call.

use gpubench::catalog::Role;
use gpubench_contract::Method;

use super::RefereeError;
use super::buffers::{Buffer, PristineBuffers};
use super::case::{OpenCase, Referee};
use super::check::digest_keys;
use super::page::WorkerPage;
use super::stamps::Preparation;
use crate::window::{KeyPurpose, Maker, WindowId};
use crate::wire::opening_words;
use gpubench_device::DevicePtr;
use gpubench_device::harness::{Batch, Nanoseconds, Revealed, Ticket};

/// Returns the inputs that differ from call to call.
fn changing_inputs(case: &OpenCase) -> impl Iterator<Item = (&Buffer, &PristineBuffers)> {
    let tensors = case.recording.tensors.iter().zip(&case.buffers);
    tensors.filter_map(|(tensor, buffer)| match tensor.role {
        Role::Input => Some((buffer, buffer.pristine.as_ref()?)),
        Role::Constant | Role::Output | Role::InOut | Role::Scratch => None,
    })
}

impl Referee {
    /// Queues the preparation of buffers and caches for a call of the case's method, up to the
    /// timestamp right before *go*. No step waits for the host, so a gap between two timestamps is
    /// the device's.
    pub(super) fn prepare(
        &mut self,
        case: &OpenCase,
        page: &WorkerPage,
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<Preparation, RefereeError> {
        let opening = opening_words(digest_keys(&self.seeds, place));
        let opening = self
            .harness
            .hand_in(&mut *self.driver, batch, bytemuck::cast_slice(&opening))?;
        let s0 = self.stamp(batch)?;
        self.restore(case, place)?;
        let flush_begins = self.stamp(batch)?;
        match case.calls.method {
            Method::Cold | Method::Graph => self.flush()?,
            Method::Warm | Method::Hot => {}
        }
        let flush_ends = self.stamp(batch)?;
        let keys = DevicePtr(page.on_device.in_window(place.window).keys());
        self.harness.hand_out(&mut *self.driver, batch, opening, keys)?;
        let s1 = self.reveal(case, place, batch)?;
        Ok(Preparation {
            s0,
            flush_begins,
            flush_ends,
            s1,
        })
    }

    /// Poisons outputs and scratch with their redzones, and copies the inputs to the worker with
    /// decoy lines in them.
    pub(super) fn restore(&mut self, case: &OpenCase, place: WindowId) -> Result<(), RefereeError> {
        let poison = self.seeds.key(KeyPurpose::Poison, place);
        let decoys = self.seeds.key(KeyPurpose::Decoys, place);
        let (driver, stream) = (&mut *self.driver, self.stream);
        for buffer in &case.buffers {
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

    /// Takes the time and replaces the decoys with the true lines. *Go* follows at once.
    pub(super) fn reveal(
        &mut self,
        case: &OpenCase,
        place: WindowId,
        batch: &mut Batch,
    ) -> Result<Ticket<Nanoseconds>, RefereeError> {
        let decoys = self.seeds.key(KeyPurpose::Decoys, place);
        let inputs = case.buffers.iter().filter_map(|buffer| {
            Some(Revealed {
                target: buffer.address(),
                source: buffer.pristine.as_ref()?.current,
                bytes: buffer.layout.len,
            })
        });
        let inputs: Vec<Revealed> = inputs.collect();
        Ok(self.harness.reveal(&mut *self.driver, batch, &inputs, decoys)?)
    }

    /// Shows the worker other inputs than the true ones. Where the tool makes the inputs, only the
    /// decoy lines differ, so that a kernel must read them all to notice. The crate's own inputs
    /// are replaced as a whole, because a mixture of two may be invalid.
    pub(super) fn show_other_inputs(&mut self, case: &OpenCase, place: WindowId) -> Result<(), RefereeError> {
        let decoys = self.seeds.key(KeyPurpose::Decoys, place);
        let (driver, stream) = (&mut *self.driver, self.stream);
        for (buffer, pristine) in changing_inputs(case) {
            let (target, bytes) = (buffer.address(), buffer.layout.len);
            match pristine.maker {
                Maker::Harness => self
                    .harness
                    .lines(driver, stream, target, pristine.decoy, bytes, decoys)?,
                Maker::RefereeKernel | Maker::AuthorKernel | Maker::AuthorFunction => {
                    driver.copy(stream, target, pristine.decoy, bytes)?
                }
            }
        }
        Ok(())
    }

    /// Replaces the other inputs with the true ones, and poisons the outputs again.
    pub(super) fn show_true_inputs(&mut self, case: &OpenCase, place: WindowId) -> Result<(), RefereeError> {
        let poison = self.seeds.key(KeyPurpose::Poison, place);
        let (driver, stream) = (&mut *self.driver, self.stream);
        for (buffer, pristine) in changing_inputs(case) {
            driver.copy(stream, buffer.address(), pristine.current, buffer.layout.len)?;
        }
        for buffer in case.buffers.iter().filter(|buffer| buffer.pristine.is_none()) {
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
