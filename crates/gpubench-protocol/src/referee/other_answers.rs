//! Finds out whether a check accepts another call's answer, or zeros.

use std::ops::RangeInclusive;

use gpubench_harness::CheckSummary;

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

/// Number of elements that is enough for most checks.
const FIRST_ELEMENTS: u64 = 4096;

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
        Ok(match self.passing(&old)? {
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
        Ok(match self.passing(comparison)? {
            // Zeros are the expected answer.
            Some(summary) if summary.max_abs_error == 0.0 => OtherAnswer::NotAsked,
            Some(_) => OtherAnswer::Passes,
            None => OtherAnswer::Fails,
        })
    }

    /// Returns the result of a comparison if all elements match, otherwise `None`.
    fn passing(&mut self, comparison: &Comparison) -> Result<Option<CheckSummary>, RefereeError> {
        let mut matching = |part: &Comparison| {
            let judged = self.compare_and_judge(part)?;
            Ok::<_, RefereeError>(Some(judged.summary).filter(CheckSummary::all_match))
        };
        // The share of elements that may differ is of the whole output.
        if comparison.tolerance.mismatched().is_some() {
            return matching(comparison);
        }
        let first = Comparison {
            len: comparison.len.min(FIRST_ELEMENTS),
            ..*comparison
        };
        let passing = matching(&first)?;
        match passing {
            Some(_) if first.len < comparison.len => matching(comparison),
            passing => Ok(passing),
        }
    }
}
