//! Finds out whether a check accepts another call's answer, or zeros.

use std::ops::RangeInclusive;

use super::RefereeError;
use super::buffers::Answers;
use super::case::Referee;
use crate::wire::OtherAnswer;
use gpubench_device::harness::Comparison;

/// Number of calls to try for each side of a case, and the least number for all sides.
const CALLS_OF_A_SIDE: usize = 8;
const FEWEST_CALLS: usize = 16;

/// Returns the calls to try. The first call of a case has no previous one.
pub(super) fn asked(sides: usize) -> RangeInclusive<u32> {
    let calls = (CALLS_OF_A_SIDE * sides).max(FEWEST_CALLS);
    2..=1 + calls as u32
}

impl Referee {
    /// Compares the previous call's expected answer with that of this call. The result describes
    /// the check, not the kernel.
    pub(super) fn check_old_answer(
        &mut self,
        comparison: &Comparison,
        answers: &Answers,
    ) -> Result<OtherAnswer, RefereeError> {
        let old = Comparison {
            got: answers.previous,
            ..*comparison
        };
        Ok(match self.harness.passing(&mut *self.driver, self.stream, &old)? {
            Some(_) => OtherAnswer::Passes,
            None => OtherAnswer::Fails,
        })
    }

    /// Compares zeros with the expected answer of this call. The zeros replace the snapshot, which
    /// has been checked already.
    pub(super) fn check_zeros(
        &mut self,
        comparison: &Comparison,
        answers: &Answers,
        bytes: u64,
    ) -> Result<OtherAnswer, RefereeError> {
        self.driver.set(self.stream, answers.snapshot, 0, bytes)?;
        Ok(
            match self.harness.passing(&mut *self.driver, self.stream, comparison)? {
                // Zeros are the expected answer.
                Some(summary) if summary.max_abs_error == 0.0 => OtherAnswer::NotAsked,
                Some(_) => OtherAnswer::Passes,
                None => OtherAnswer::Fails,
            },
        )
    }
}
