//! How much of an output may be zeros.

use super::answers::{Call, FEW};
use super::bench::{LintError, OpenLint};
use super::numbers::epsilon;
use super::trials::Found;

/// A part of an output that may be zeros is a finding from this share on.
const SHARE_OF_ZEROS: usize = 10;

/// Returns the larger part at the start or the end of an output that may be zeros, if it is large
/// enough for a kernel to save work.
pub(super) fn zeros_at_an_end(
    open: &mut OpenLint<'_>,
    call: &Call,
    output: usize,
    (numbers, free): (&[f64], &[bool]),
) -> Result<Option<Found>, LintError> {
    let tensor = &open.tensors()[output];
    let Some(expected) = &call.expected[output] else {
        return Ok(None);
    };
    let (number, parts) = tensor.dtype.parts();
    let len = numbers.len();
    let least = len / SHARE_OF_ZEROS;
    if least < FEW / 4 {
        return Ok(None);
    }
    let step = epsilon(tensor.dtype).unwrap_or(1.0);
    for is_end in [true, false] {
        let part = |count: usize| if is_end { len - count..len } else { 0..count };
        let mut may_be_zeros = |count: usize| {
            let (size, range) = (number.size(), part(count));
            let mut bytes = expected.clone();
            bytes[range.start * size..range.end * size].fill(0);
            Ok::<_, LintError>(open.try_answer(call, output, &bytes)?.is_some())
        };
        if !may_be_zeros(least)? {
            continue;
        }
        let (mut passes, mut fails) = (least, len);
        while fails - passes > 1 {
            let middle = passes.midpoint(fails);
            if may_be_zeros(middle)? {
                passes = middle;
            } else {
                fails = middle;
            }
        }
        // True zeros are right, and so is anything in free elements.
        let zeros = numbers.iter().zip(free).skip(part(passes).start).take(passes);
        let wrong = zeros
            .filter(|(value, is_free)| !**is_free && value.abs() > step * f64::MIN_POSITIVE.sqrt())
            .count();
        if wrong < least.div_ceil(2) {
            continue;
        }
        let place = if is_end { "last" } else { "first" };
        let what = format!("zeros for the {place} {} of {} elements", passes / parts, len / parts);
        return Ok(Some((what, None)));
    }
    Ok(None)
}
