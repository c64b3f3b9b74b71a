//! Notices about tolerances that say little.

use gpubench::catalog::{DType, Mismatched, Recording, Tensor, Tolerance};

use super::compared;
use crate::verdict::tolerance_in_words;
use gpubench_contract::units::percent;

/// Relative tolerances above this cause a notice, and so do shares of mismatched elements.
const WIDE: f64 = 0.1;

/// Returns the relative tolerance above which one is wide. Types of 8 bits need two steps.
fn wide(dtype: DType) -> f64 {
    match dtype {
        DType::F8E4M3 => 0.25,
        DType::F8E5M2 => 0.5,
        _ => WIDE,
    }
}

/// Reports outputs with a wide relative tolerance.
pub(super) fn wide_tolerances(recording: &Recording) -> impl Iterator<Item = String> {
    recording
        .tensors
        .iter()
        .filter_map(|tensor| match tensor.tolerance.bounds() {
            Some((rtol, _)) if rtol > wide(tensor.dtype) => Some(format!(
                "the relative tolerance is wide: elements of `{}` pass with an error of {} (hint: choose a smaller `rtol`)",
                tensor.name,
                percent(rtol)
            )),
            _ => None,
        })
}

/// Reports outputs of which many elements may be outside the tolerance.
pub(super) fn large_shares(recording: &Recording) -> impl Iterator<Item = String> {
    recording.tensors.iter().filter_map(|tensor| {
        let Mismatched { share, .. } = tensor.tolerance.mismatched()?;
        (share > WIDE).then(|| {
            format!(
                "{} of the elements of `{}` may be outside the tolerance (hint: choose a smaller `mismatched`)",
                percent(share),
                tensor.name
            )
        })
    })
}

/// Reports outputs of which a share may be zeros, whatever is expected.
pub(super) fn zeros_in_shares(recording: &Recording) -> impl Iterator<Item = String> {
    recording.tensors.iter().filter_map(|tensor| {
        let (rtol, _) = tensor.tolerance.bounds()?;
        let Mismatched { share, cap } = tensor.tolerance.mismatched()?;
        (rtol * cap >= 1.0).then(|| {
            format!(
                "{} of the elements of `{}` may be zeros: `cap` times `rtol` is {} (hint: choose a smaller `cap`)",
                percent(share),
                tensor.name,
                percent(rtol * cap)
            )
        })
    })
}

/// Reports the outputs whose tolerance nobody wrote.
pub(super) fn default_tolerances(recording: &Recording) -> Option<String> {
    let by_default = |tensor: &Tensor| match tensor.tolerance {
        tolerance @ Tolerance::Default { .. } => {
            let bounds = tolerance_in_words(tolerance)?;
            Some(format!("`{}` within {bounds}", tensor.name))
        }
        _ => None,
    };
    let outputs: Vec<String> = compared(&recording.tensors)
        .filter_map(|(_, tensor)| by_default(tensor))
        .collect();
    (!outputs.is_empty()).then(|| {
        format!(
            "nobody wrote a tolerance: {} (hint: `tolerance(..)`, or `reduction = terms` for sums)",
            outputs.join(", ")
        )
    })
}
