//! Whether a check can tell a call's answer from another call's, and from zeros.

use std::ops::RangeInclusive;

use gpubench_harness::CheckSummary;

use super::RefereeError;
use super::buffers::Answers;
use super::case::Referee;
use crate::wire::OtherAnswer;
use gpubench_device::harness::Comparison;

/// The calls of a case of which it is asked: the first that have another before them, eight for
/// either of two sides.
const ASKED: RangeInclusive<u32> = 2..=17;

/// Most checks can tell by this many elements.
const FIRST_ELEMENTS: u64 = 4096;

impl Referee {
    /// Looks whether what was expected of the call before would have passed in this one, the case's
    /// `call`-th, which says nothing of the kernel but what its check is worth.
    pub(super) fn look_at_old_answer(
        &mut self,
        comparison: &Comparison,
        answers: &Answers,
        call: u32,
    ) -> Result<OtherAnswer, RefereeError> {
        if !ASKED.contains(&call) {
            return Ok(OtherAnswer::NotAsked);
        }
        let old = Comparison {
            got: answers.previous,
            ..*comparison
        };
        Ok(match self.passing(&old)? {
            Some(_) => OtherAnswer::Passes,
            None => OtherAnswer::Fails,
        })
    }

    /// Looks whether zeros would have passed in the case's `call`-th call, though others are
    /// expected. They take the place of the snapshot, which has been looked at.
    pub(super) fn look_at_zeros(
        &mut self,
        comparison: &Comparison,
        answers: &Answers,
        bytes: u64,
        call: u32,
    ) -> Result<OtherAnswer, RefereeError> {
        if !ASKED.contains(&call) {
            return Ok(OtherAnswer::NotAsked);
        }
        self.driver.set(self.stream, answers.snapshot, 0, bytes)?;
        Ok(match self.passing(comparison)? {
            // They are what is expected.
            Some(summary) if summary.max_abs_error == 0.0 => OtherAnswer::NotAsked,
            Some(_) => OtherAnswer::Passes,
            None => OtherAnswer::Fails,
        })
    }

    /// What a comparison finds in which all elements match; nothing where one does not.
    fn passing(&mut self, comparison: &Comparison) -> Result<Option<CheckSummary>, RefereeError> {
        let first = Comparison {
            len: comparison.len.min(FIRST_ELEMENTS),
            ..*comparison
        };
        let mut matching =
            |part: &Comparison| Ok::<_, RefereeError>(Some(self.compare(part)?).filter(CheckSummary::all_match));
        let passing = matching(&first)?;
        match passing {
            Some(_) if first.len < comparison.len => matching(comparison),
            passing => Ok(passing),
        }
    }
}
