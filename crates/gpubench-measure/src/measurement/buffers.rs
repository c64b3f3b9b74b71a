//! The buffers of alternating cases: tensors, which they share, and scratch, which they do not.

use std::borrow::Cow;

use gpubench::catalog::Recording;
use gpubench::codec;

use super::case::CasesInTurns;

/// The buffers of alternating cases.
pub(super) struct Buffers<'a> {
    /// The first case's recording with the scratch of all.
    pub(super) recording: Cow<'a, Recording>,
    /// The encoded recording.
    pub(super) encoded: Cow<'a, [u8]>,
    /// Positions of each case's buffers.
    pub(super) of_arms: Vec<Vec<usize>>,
}

impl<'a> Buffers<'a> {
    pub(super) fn of(cases: &CasesInTurns<'a>) -> Buffers<'a> {
        let first = cases.first();
        let tensors = first.recording.tensors.len();
        let mut of_arms = Vec::new();
        let mut scratch: Vec<u64> = Vec::new();
        for arm in cases.arms {
            let before = tensors + scratch.len();
            scratch.extend(&arm.case.recording.plan.scratch);
            of_arms.push((0..tensors).chain(before..tensors + scratch.len()).collect());
        }
        if scratch == first.recording.plan.scratch {
            return Buffers {
                recording: Cow::Borrowed(first.recording),
                encoded: Cow::Borrowed(first.encoded),
                of_arms,
            };
        }
        let mut recording = first.recording.clone();
        recording.plan.scratch = scratch;
        Buffers {
            encoded: Cow::Owned(codec::encode(&recording)),
            recording: Cow::Owned(recording),
            of_arms,
        }
    }
}
