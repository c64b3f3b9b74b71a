//! Whether a check can tell one call's answer from another's.

use std::ops::RangeInclusive;

use super::RefereeError;
use super::buffers::Answers;
use super::case::Referee;
use crate::wire::OldAnswer;
use gpubench_device::harness::Comparison;

/// The calls of a case of which it is asked: the first that have another before them, eight for either of two sides.
const ASKED: RangeInclusive<u32> = 2..=17;

/// Most checks can tell by this many elements.
const FIRST_ELEMENTS: u64 = 4096;

impl Referee {
    /// Looks whether what was expected of the call before would have passed in this one, the case's `call`-th, which says nothing of the kernel but what its check is worth.
    pub(super) fn look_at_old_answer(
        &mut self,
        comparison: &Comparison,
        answers: &Answers,
        call: u32,
    ) -> Result<OldAnswer, RefereeError> {
        if !ASKED.contains(&call) {
            return Ok(OldAnswer::NotAsked);
        }
        let old = Comparison {
            got: answers.previous,
            ..*comparison
        };
        let first = Comparison {
            len: old.len.min(FIRST_ELEMENTS),
            ..old
        };
        let mut passes = |part: &Comparison| Ok::<_, RefereeError>(self.compare(part)?.all_match());
        let all_pass = passes(&first)? && (first.len == old.len || passes(&old)?);
        Ok(if all_pass { OldAnswer::Passes } else { OldAnswer::Fails })
    }
}
