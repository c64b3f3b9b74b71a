//! Words and signs that every report for people uses in the same way.

use gpubench_contract::{Cause, Verdict};
use gpubench_contract::{ChangeVerdict, Check};

/// The sign of a verdict, which says the same as its word for eyes that skim.
pub(super) fn sign(verdict: Verdict) -> char {
    match verdict {
        Verdict::Pass => '✓',
        Verdict::Skipped => '-',
        Verdict::Error => '!',
        _ => '✗',
    }
}

/// The sign of what changed, likewise.
pub(super) fn change_sign(verdict: ChangeVerdict) -> char {
    match verdict {
        ChangeVerdict::NowFails | ChangeVerdict::Regressed => '✗',
        ChangeVerdict::Improved => '✓',
        ChangeVerdict::Inconclusive => '?',
        ChangeVerdict::NotCompared => '!',
        ChangeVerdict::WithinNoise => '~',
        ChangeVerdict::NoChange => '=',
    }
}

/// What a cause means, where its word alone does not tell someone new: in parentheses, behind a space.
pub(super) fn gloss(cause: Cause) -> &'static str {
    match cause {
        Cause::Unwritten => " (elements were never written)",
        Cause::Stale => " (the answer to the call before)",
        Cause::Cached => " (the answer to the first call)",
        Cause::Partial => " (part of the output was left)",
        Cause::Constant => " (one value everywhere)",
        Cause::Unsealed => " (the output changed after the call)",
        Cause::ClaimTooShort => " (the referee's clock saw more time pass)",
        Cause::ClaimsInconsistent => " (time was moved from one call's claim to another's)",
        Cause::NotReproducible => " (a second recording gave another plan)",
        _ => "",
    }
}

/// `4 of 16 elements wrong; first at 5 [1, 1]: expected 0.5, got 0.25; largest error 0.25 absolute, 0.5 relative`.
pub(super) fn found_in(check: &Check) -> String {
    let count = Some(format!(
        "{} of {} elements wrong",
        check.elements.saturating_sub(check.matched),
        check.elements
    ));
    let first = check.first_wrong.as_ref().map(|first| {
        let place = coordinates(first.index, &check.shape);
        format!(
            "first at {}{place}: expected {}, got {}",
            first.index, first.expected, first.got
        )
    });
    [count, first, largest_error(check)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

/// `largest error 0.25 absolute, 0.5 relative`.
fn largest_error(check: &Check) -> Option<String> {
    let errors = [(check.max_abs_error, "absolute"), (check.max_rel_error, "relative")];
    let known: Vec<String> = errors
        .into_iter()
        .filter_map(|(error, what)| Some(format!("{} {what}", three_digits(error?))))
        .collect();
    (!known.is_empty()).then(|| format!("largest error {}", known.join(", ")))
}

/// A number rounded to three significant digits, in its shortest form.
pub(super) fn three_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    format!("{rounded:?}")
}

/// ` [row, column]` of a flat index; nothing where it says no more than the index itself.
pub(super) fn coordinates(index: u64, shape: &[u64]) -> String {
    let elements = shape
        .iter()
        .try_fold(1u64, |product, extent| product.checked_mul(*extent));
    if shape.len() < 2 || elements.is_none_or(|elements| index >= elements) {
        return String::new();
    }
    let mut rest = index;
    let mut place: Vec<String> = shape
        .iter()
        .rev()
        .map(|extent| {
            let coordinate = rest % extent;
            rest /= extent;
            coordinate.to_string()
        })
        .collect();
    place.reverse();
    format!(" [{}]", place.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_index_is_shown_with_its_coordinates() {
        assert_eq!(coordinates(5, &[2, 4]), " [1, 1]");
        assert_eq!(coordinates(23, &[2, 3, 4]), " [1, 2, 3]");
        assert_eq!(coordinates(5, &[16]), "");
        assert_eq!(coordinates(8, &[2, 4]), "");
        assert_eq!(coordinates(0, &[0, 4]), "");
        assert_eq!(coordinates(1, &[u64::MAX, u64::MAX]), "");
    }

    #[test]
    fn errors_are_rounded_to_what_one_wants_to_know() {
        assert_eq!(
            [0.25, 1.23456e-7, 0.0, 65_504.0].map(three_digits),
            ["0.25", "1.23e-7", "0.0", "65500.0"]
        );
    }
}
