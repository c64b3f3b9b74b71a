//! Classifies a wrong output, for the cause of the verdict.

use gpubench::catalog::{DType, Tolerance};
use gpubench_harness::CheckSummary;

use super::RefereeError;
use super::case::{OpenCase, Referee};
use super::parts::Part;
use crate::wire::{OutputFacts, Replay};
use gpubench_device::DevicePtr;
use gpubench_device::harness::{Comparison, Judged};

/// The right answers to earlier calls, where there are any.
#[derive(Clone, Copy, Debug)]
pub(super) struct EarlierAnswers {
    /// To the previous call: of the same window if it has several calls, or else of the previous
    /// window.
    pub(super) previous: Option<DevicePtr>,
    /// To the same call of the first window.
    first: Option<DevicePtr>,
}

impl EarlierAnswers {
    /// Returns the earlier answers for one of the parts of a window, the case's `position`-th.
    pub(super) fn new(case: &OpenCase, parts: &[Part<'_>], part: &Part<'_>, position: u32) -> EarlierAnswers {
        let Part { answers, .. } = part;
        let in_window = part.index.checked_sub(case.tensors_of_call());
        let in_window = in_window.and_then(|index| {
            let mut parts = parts.iter();
            parts.find(|other| (other.index, other.field) == (index, part.field))
        });
        let is_later = position > 1;
        EarlierAnswers {
            previous: in_window
                .map(|other| other.answers.expected)
                .or(is_later.then_some(answers.previous)),
            first: is_later.then_some(answers.first),
        }
    }
}

impl Referee {
    /// Adds facts about a wrong output: the first wrong element, whether it repeats an earlier
    /// answer, and whether it was written at all. `given` is what an in-out tensor held before.
    pub(super) fn classify_wrong_output(
        &mut self,
        comparison: &Comparison,
        given: Option<DevicePtr>,
        earlier: EarlierAnswers,
        output: &mut OutputFacts,
    ) -> Result<(), RefereeError> {
        output.expected_bits = self.element(comparison.expected, comparison.dtype, output.first_wrong)?;
        output.got_bits = self.element(comparison.got, comparison.dtype, output.first_wrong)?;
        output.replay = self.find_replay(comparison, earlier)? as u64;
        if let Some(given) = given {
            output.unwritten = self.left_as_given(comparison, given)?;
        }
        Ok(())
    }

    /// Returns a lower bound on the wrong elements of an in-out tensor, which has no poison, that
    /// still hold the call's input: the elements that hold it, less those for which it is right.
    fn left_as_given(&mut self, comparison: &Comparison, given: DevicePtr) -> Result<u64, RefereeError> {
        let as_given = self.compare(&Comparison {
            expected: given,
            tolerance: Tolerance::Exact,
            ..*comparison
        })?;
        let right_as_given = self.compare(&Comparison {
            got: given,
            ..*comparison
        })?;
        Ok(as_given.matched.saturating_sub(right_as_given.matched))
    }

    /// Returns whether a wrong output is the right answer to an earlier call.
    pub(super) fn find_replay(
        &mut self,
        comparison: &Comparison,
        earlier: EarlierAnswers,
    ) -> Result<Replay, RefereeError> {
        let mut equals = |expected: Option<DevicePtr>| {
            let Some(expected) = expected else { return Ok(false) };
            let other = Comparison {
                expected,
                ..*comparison
            };
            Ok::<_, RefereeError>(self.compare_and_judge(&other)?.summary.all_match())
        };
        Ok(match (equals(earlier.previous)?, equals(earlier.first)?) {
            (true, true) => Replay::FirstAndPrevious,
            (true, false) => Replay::Previous,
            (false, true) => Replay::First,
            (false, false) => Replay::None,
        })
    }

    /// Runs a single comparison and waits for it.
    pub(super) fn compare(&mut self, comparison: &Comparison) -> Result<CheckSummary, RefereeError> {
        Ok(self.harness.compare(&mut *self.driver, self.stream, comparison)?)
    }

    /// Judges the result of a comparison, as the harness does.
    pub(super) fn judge(&mut self, comparison: &Comparison, found: CheckSummary) -> Result<Judged, RefereeError> {
        Ok(self.harness.judge(&mut *self.driver, self.stream, comparison, found)?)
    }

    /// Runs a single comparison, waits for it and judges it.
    pub(super) fn compare_and_judge(&mut self, comparison: &Comparison) -> Result<Judged, RefereeError> {
        Ok(self
            .harness
            .compare_and_judge(&mut *self.driver, self.stream, comparison)?)
    }

    /// Returns the bits of an element, zero-extended.
    pub(super) fn element(&mut self, tensor: DevicePtr, dtype: DType, index: u64) -> Result<u64, RefereeError> {
        let mut bits = [0; 8];
        let size = dtype.size() as u64;
        self.driver
            .read(tensor.offset(index * size), &mut bits[..size as usize])?;
        Ok(u64::from_le_bytes(bits))
    }
}
