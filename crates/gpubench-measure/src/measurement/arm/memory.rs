//! The memory of an arm's buffers.

use std::rc::Rc;
use std::time::Duration;

use super::super::error::MeasureError;
use super::Arm;
use crate::clients::{OpenedCase, RoleFailure};

impl Arm<'_> {
    /// Whether the place of the buffers in memory can decide the time of its calls, as far as the
    /// samples tell.
    pub(in super::super) fn depends_on_place(&self) -> bool {
        let run = self.runs.iter().rev().find(|run| !run.samples.values.is_empty());
        run.is_some_and(|run| self.stopping.depends_on_place(run))
    }

    /// Whether the buffers can be placed anew while its worker lives. Host code may keep mappings
    /// of its own, and computed sets of inputs have no windows to spare.
    pub(in super::super) fn can_move(&self) -> bool {
        !self.holds_host_code() && self.sets.is_none()
    }

    fn holds_host_code(&self) -> bool {
        self.case().recording.execution.is_hosted()
    }

    /// Sets up later workers with the memory in which the buffers lie now.
    pub(in super::super) fn set_up_later_in(&mut self, opened: &Rc<OpenedCase>) {
        self.pool.renew_descriptors(opened);
    }

    /// Makes the current worker map the memory in which the buffers lie now. A worker with code of
    /// its own has it since its set-up.
    ///
    /// # Errors
    /// If the user interrupts.
    pub(in super::super) fn follow(&mut self, opened: &OpenedCase) -> Result<(), MeasureError> {
        if self.holds_host_code() {
            return Ok(());
        }
        let Some(mut worker) = self.worker.take() else {
            return Ok(());
        };
        let (_, buffers) = opened.at(&opened.allocations.of_sides()[self.owner().position()]);
        let (within, interrupt) = (self.protocol.within, self.protocol.interrupt);
        match worker.replace_memory(&buffers, within, interrupt) {
            Ok(()) => self.worker = Some(worker),
            Err(RoleFailure::Interrupted) => return Err(MeasureError::Interrupted),
            // No code of the kernels runs meanwhile.
            Err(failure) => self.lost = Some(failure),
        }
        Ok(())
    }

    /// Notes where the buffers of the current worker lie from now on. It took `wall` to place them.
    pub(in super::super) fn note_place(&mut self, number: u64, wall: Duration) {
        if self.is_active() {
            let samples = self.current_sample_count();
            let run = self.run_mut();
            run.placements.begin(number, samples);
            run.sampled_for += wall;
        }
    }
}
