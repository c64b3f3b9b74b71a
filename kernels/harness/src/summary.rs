//! Folds the partial results of a check into one summary. Contradictory partials are an error,
//! never a match.

#![forbid(unsafe_code)]

use std::fmt;

use crate::arguments::{CheckPartial, NoisePartial};
use crate::bindings::GB_NO_INDEX;

/// Size of a [`CheckPartial`] in bytes.
const CHECK_PARTIAL_BYTES: usize = size_of::<CheckPartial>();
/// Size of a [`NoisePartial`] in bytes.
const NOISE_PARTIAL_BYTES: usize = size_of::<NoisePartial>();

/// The reason why partials make no summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryError {
    /// Some elements or bytes were not compared exactly once.
    Incomplete {
        /// Elements or bytes that were counted.
        checked: u64,
        /// Elements or bytes of the buffer.
        expected: u64,
    },
    /// The counts contradict each other.
    Inconsistent,
    /// The memory is not a whole number of partials.
    Truncated {
        /// Size of the memory in bytes.
        bytes: usize,
        /// Size of a partial in bytes.
        partial: usize,
    },
}

impl fmt::Display for SummaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete { checked, expected } => {
                write!(
                    f,
                    "the check counted `{checked}` of `{expected}` elements; nothing is known of the others"
                )
            }
            Self::Inconsistent => write!(f, "the counts of the check contradict one another"),
            Self::Truncated { bytes, partial } => {
                write!(
                    f,
                    "`{bytes}` bytes are not a whole number of partial results of `{partial}` bytes"
                )
            }
        }
    }
}

impl std::error::Error for SummaryError {}

/// The result of [`crate::Kernel::Check`] over a whole tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckSummary {
    /// Elements, each compared once.
    pub elements: u64,
    /// Elements within the tolerance.
    pub matched: u64,
    /// Wrong elements that still hold the poison written before the call.
    pub unwritten: u64,
    /// Wrong elements that are NaN or infinite where the expected one is finite.
    pub non_finite: u64,
    /// Elements with the same bits as the first one, including the first.
    pub same_as_first: u64,
    /// Lowest index of a wrong element.
    pub first_wrong: Option<u64>,
    /// Index of the largest error. A NaN error counts as the largest.
    pub worst: Option<u64>,
    /// Largest `|got - expected|` of elements where both are finite.
    pub max_abs_error: f64,
    /// Largest `|got - expected| / |expected|` of elements where both are finite and the expected
    /// one is not zero.
    pub max_rel_error: f64,
}

impl CheckSummary {
    /// Folds the partials of one launch over `elements` elements.
    ///
    /// # Errors
    ///
    /// If not exactly `elements` elements were counted, or the counts contradict each other.
    pub fn fold(partials: &[CheckPartial], elements: u64) -> Result<CheckSummary, SummaryError> {
        let checked = sum(partials, |partial| partial.checked)?;
        if checked != elements {
            return Err(SummaryError::Incomplete {
                checked,
                expected: elements,
            });
        }
        let worst = partials
            .iter()
            .filter(|partial| partial.worst != GB_NO_INDEX)
            .max_by(|a, b| a.worst_error.total_cmp(&b.worst_error).then(b.worst.cmp(&a.worst)));
        let summary = CheckSummary {
            elements,
            matched: sum(partials, |partial| partial.matched)?,
            unwritten: sum(partials, |partial| partial.unwritten)?,
            non_finite: sum(partials, |partial| partial.non_finite)?,
            same_as_first: sum(partials, |partial| partial.same_as_first)?,
            first_wrong: indices(partials, |partial| partial.first_wrong).min(),
            worst: worst.map(|partial| partial.worst),
            max_abs_error: largest(partials, |partial| partial.max_abs),
            max_rel_error: largest(partials, |partial| partial.max_rel),
        };
        if summary.is_consistent() {
            Ok(summary)
        } else {
            Err(SummaryError::Inconsistent)
        }
    }

    /// Same as [`CheckSummary::fold`], from the bytes of partials.
    ///
    /// # Errors
    ///
    /// Same as [`CheckSummary::fold`], and if `memory` is not a whole number of partials.
    pub fn from_memory(memory: &[u8], elements: u64) -> Result<CheckSummary, SummaryError> {
        let partials: Vec<CheckPartial> = words::<CHECK_PARTIAL_BYTES>(memory)?
            .map(|word| CheckPartial {
                checked: word(0),
                matched: word(1),
                unwritten: word(2),
                non_finite: word(3),
                same_as_first: word(4),
                first_wrong: word(5),
                worst: word(6),
                worst_error: f64::from_bits(word(7)),
                max_abs: f64::from_bits(word(8)),
                max_rel: f64::from_bits(word(9)),
            })
            .collect();
        CheckSummary::fold(&partials, elements)
    }

    /// Returns the number of elements outside the tolerance.
    pub fn wrong(&self) -> u64 {
        self.elements - self.matched
    }

    /// Whether every element is within the tolerance.
    pub fn all_match(&self) -> bool {
        self.matched == self.elements
    }

    /// Whether there are several elements, all with the same bits.
    pub fn is_constant(&self) -> bool {
        self.elements > 1 && self.same_as_first == self.elements
    }

    fn is_consistent(&self) -> bool {
        let Some(wrong) = self.elements.checked_sub(self.matched) else {
            return false;
        };
        self.unwritten <= wrong
            && self.non_finite <= wrong
            && self.same_as_first <= self.elements
            && (self.elements == 0) == (self.same_as_first == 0)
            && (wrong == 0) == self.first_wrong.is_none()
            && self.first_wrong.is_none_or(|index| index < self.elements)
            && self.worst.is_none_or(|index| index < self.elements)
            && self.max_abs_error.is_finite()
            && self.max_rel_error.is_finite()
    }
}

/// The result of [`crate::Kernel::NoiseCheck`] over a whole region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoiseSummary {
    /// Bytes, each compared once.
    pub bytes: u64,
    /// Bytes that differ from the noise.
    pub different: u64,
    /// Lowest and highest offset of a differing byte from the start of the region.
    pub extent: Option<(u64, u64)>,
}

impl NoiseSummary {
    /// Folds the partials of one launch over `bytes` bytes.
    ///
    /// # Errors
    ///
    /// If not exactly `bytes` bytes were counted, or the counts contradict each other.
    pub fn fold(partials: &[NoisePartial], bytes: u64) -> Result<NoiseSummary, SummaryError> {
        let checked = sum(partials, |partial| partial.checked)?;
        if checked != bytes {
            return Err(SummaryError::Incomplete {
                checked,
                expected: bytes,
            });
        }
        let different = sum(partials, |partial| partial.different)?;
        let first = indices(partials, |partial| partial.first).min();
        let last = indices(partials, |partial| partial.last).max();
        let extent = first.zip(last);
        let in_order =
            extent.is_none_or(|(first, last)| first <= last && last < bytes && different <= last - first + 1);
        if !in_order || (different == 0) != extent.is_none() || first.is_some() != last.is_some() {
            return Err(SummaryError::Inconsistent);
        }
        Ok(NoiseSummary {
            bytes,
            different,
            extent,
        })
    }

    /// Same as [`NoiseSummary::fold`], from the bytes of partials.
    ///
    /// # Errors
    ///
    /// Same as [`NoiseSummary::fold`], and if `memory` is not a whole number of partials.
    pub fn from_memory(memory: &[u8], bytes: u64) -> Result<NoiseSummary, SummaryError> {
        let partials: Vec<NoisePartial> = words::<NOISE_PARTIAL_BYTES>(memory)?
            .map(|word| NoisePartial {
                checked: word(0),
                different: word(1),
                first: word(2),
                last: word(3),
            })
            .collect();
        NoiseSummary::fold(&partials, bytes)
    }

    /// Whether every byte still holds its noise.
    pub fn is_untouched(&self) -> bool {
        self.different == 0
    }
}

fn sum<P>(partials: &[P], count: impl Fn(&P) -> u64) -> Result<u64, SummaryError> {
    partials
        .iter()
        .try_fold(0_u64, |sum, partial| sum.checked_add(count(partial)))
        .ok_or(SummaryError::Inconsistent)
}

fn indices<P>(partials: &[P], index: impl Fn(&P) -> u64) -> impl Iterator<Item = u64> {
    partials.iter().map(index).filter(|&index| index != GB_NO_INDEX)
}

/// Returns the largest error. A NaN stays NaN.
fn largest(partials: &[CheckPartial], error: impl Fn(&CheckPartial) -> f64) -> f64 {
    partials.iter().map(error).fold(0.0, |largest, error| {
        if error.is_nan() || error > largest {
            error
        } else {
            largest
        }
    })
}

/// The 64-bit words of each partial.
fn words<const BYTES: usize>(memory: &[u8]) -> Result<impl Iterator<Item = impl Fn(usize) -> u64 + '_>, SummaryError> {
    let (partials, rest) = memory.as_chunks::<BYTES>();
    if !rest.is_empty() {
        return Err(SummaryError::Truncated {
            bytes: memory.len(),
            partial: BYTES,
        });
    }
    Ok(partials.iter().map(|partial| {
        |index: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&partial[8 * index..8 * index + 8]);
            u64::from_ne_bytes(word)
        }
    }))
}
