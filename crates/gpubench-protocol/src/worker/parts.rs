//! The steps of a plan, each timed alone.

use gpubench_contract::Launching;

use super::WorkerError;
use super::call::Work;
use crate::window::WindowCalls;
use crate::wire::{Claim, MAX_PARTS};
use gpubench_device::{DeviceError, Driver, Event, Stream};

/// The events before and after each step of a call.
pub(super) struct Parts(Vec<[Event; 2]>);

impl Parts {
    /// Makes the events.
    pub(super) fn new(driver: &mut dyn Driver, work: &Work, calls: WindowCalls) -> Result<Parts, WorkerError> {
        let count = number_of_parts(calls, work.steps());
        let mut marks = Vec::with_capacity(count);
        for _ in 0..count {
            marks.push([driver.event()?, driver.event()?]);
        }
        Ok(Parts(marks))
    }

    /// Queues the steps, each between its events.
    pub(super) fn queue(&self, driver: &mut dyn Driver, stream: Stream, work: &Work) -> Result<(), DeviceError> {
        let count = self.0.len();
        if count == 0 {
            return work.queue(driver, stream);
        }
        for (part, [begins, ends]) in self.0.iter().enumerate() {
            driver.record(*begins, stream)?;
            work.queue_part(part, count, driver, stream)?;
            driver.record(*ends, stream)?;
        }
        Ok(())
    }

    /// Writes the times of the steps into a claim, after they have run.
    pub(super) fn read(&self, driver: &mut dyn Driver, claim: Claim) -> Result<Claim, DeviceError> {
        let mut claim = Claim {
            parts: self.0.len() as u64,
            ..claim
        };
        for (time, [begins, ends]) in claim.part_ns.iter_mut().zip(&self.0) {
            *time = driver.elapsed_ns(*begins, *ends)?;
        }
        Ok(claim)
    }
}

/// Returns the number of parts of a call with `steps` steps; 0 if there is only one step, if there
/// are too many, or if a window has several calls.
fn number_of_parts(calls: WindowCalls, steps: usize) -> usize {
    match calls.mode.launching() {
        Launching::Alone if (2..=MAX_PARTS).contains(&steps) => steps,
        Launching::Alone | Launching::BackToBack | Launching::InGraph => 0,
    }
}

#[cfg(test)]
mod tests {
    use gpubench_contract::Mode;

    use super::*;

    #[test]
    fn parts_are_the_steps_of_a_call_that_is_alone_in_its_window() {
        let parts = |mode, steps| number_of_parts(WindowCalls::one(mode), steps);
        assert_eq!(
            [0, 1, 2, MAX_PARTS, MAX_PARTS + 1].map(|steps| parts(Mode::Cold, steps)),
            [0, 0, 2, MAX_PARTS, 0]
        );
        assert_eq!([Mode::Hot, Mode::Graph].map(|mode| parts(mode, 20)), [0, 0]);
    }
}
