//! The buffers of a case: tensors, which both arms share, and scratch, which they do not.

use std::borrow::Cow;

use gpubench::catalog::Recording;
use gpubench::codec;

use super::case::CasePair;

/// The buffers of a case.
pub(super) struct Buffers<'a> {
    /// The candidate's recording with the scratch of both arms.
    pub(super) recording: Cow<'a, Recording>,
    /// The encoded recording.
    pub(super) encoded: Cow<'a, [u8]>,
    /// Positions of the candidate's buffers.
    pub(super) of_candidate: Vec<usize>,
    /// Positions of the baseline's buffers.
    pub(super) of_baseline: Vec<usize>,
}

impl<'a> Buffers<'a> {
    pub(super) fn of(pair: &CasePair<'a>) -> Buffers<'a> {
        let CasePair {
            candidate, baseline, ..
        } = *pair;
        let tensors = candidate.recording.tensors.len();
        let own = tensors + candidate.recording.plan.scratch.len();
        let Some(baseline) = baseline else {
            return Buffers {
                recording: Cow::Borrowed(candidate.recording),
                encoded: Cow::Borrowed(candidate.encoded),
                of_candidate: (0..own).collect(),
                of_baseline: Vec::new(),
            };
        };
        let mut recording = candidate.recording.clone();
        recording.plan.scratch.extend(&baseline.recording.plan.scratch);
        let all = tensors + recording.plan.scratch.len();
        Buffers {
            encoded: Cow::Owned(codec::encode(&recording)),
            recording: Cow::Owned(recording),
            of_candidate: (0..own).collect(),
            of_baseline: (0..tensors).chain(own..all).collect(),
        }
    }
}
