//! Tolerances of the formats, as those of the tool.

use std::fmt;

use gpubench::catalog::{Mismatched, Tolerance};

use super::error::CaseError;
use crate::dialect::Dialect;
use crate::workload::ToleranceSpec;

/// How many times the tolerance a mismatched element may differ by if the format has no limit.
pub(super) const WITHOUT_LIMIT: f64 = 1e6;

/// Where the tool's check is not exactly that of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// FlashInfer-Bench accepts an element that keeps one of its two bounds. The tool adds them, so
    /// it accepts up to twice as much.
    SumOfBounds,
    /// SOL-ExecBench has no limit for mismatched elements here. The tool accepts a million times
    /// the tolerance.
    NoErrorCap,
    /// SOL-ExecBench limits the absolute error. The tool's limit grows with the expected value, and
    /// is the same where zero is expected.
    ErrorCapGrows,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Difference::SumOfBounds => {
                "an element may differ by the sum of both bounds, not by the larger one as in FlashInfer-Bench"
            }
            Difference::NoErrorCap => {
                "mismatched elements may differ by a million times the tolerance, not by anything as in SOL-ExecBench"
            }
            Difference::ErrorCapGrows => {
                "the limit of the absolute error grows with the expected value, which it does not in SOL-ExecBench"
            }
        })
    }
}

/// Converts a tolerance. Returns where it differs, too.
///
/// # Errors
/// The tool has none like it.
pub(super) fn converted(dialect: Dialect, spec: ToleranceSpec) -> Result<(Tolerance, Vec<Difference>), CaseError> {
    let ToleranceSpec {
        max_atol: atol,
        max_rtol: rtol,
        required_matched_ratio,
        max_error_cap,
        allow_negative_inf: _,
    } = spec;
    let ratio = required_matched_ratio.unwrap_or(dialect.matched_ratio());
    let refused = |why| Err(CaseError::Tolerance { why });
    let is_bound = |value: f64| value.is_finite() && value >= 0.0;
    if !(is_bound(atol) && is_bound(rtol) && max_error_cap.is_none_or(is_bound)) {
        return refused("its bounds must be finite and not negative");
    }
    if !(ratio > 0.0 && ratio <= 1.0) {
        return refused("the share of elements that must match must be above 0 and at most 1");
    }
    let mut differences = Vec::new();
    if dialect == Dialect::FlashInfer && atol > 0.0 && rtol > 0.0 {
        differences.push(Difference::SumOfBounds);
    }
    // No element may differ by more than the limit, and those within it all match.
    if let Some(cap) = max_error_cap.filter(|cap| *cap <= atol) {
        return Ok((Tolerance::Close { rtol: 0.0, atol: cap }, differences));
    }
    if ratio >= 1.0 {
        if max_error_cap.is_some() && rtol > 0.0 {
            differences.push(Difference::ErrorCapGrows);
        }
        return Ok((Tolerance::Close { rtol, atol }, differences));
    }
    if atol == 0.0 && rtol == 0.0 {
        return refused("a share of mismatched elements needs bounds above 0");
    }
    let cap = match max_error_cap {
        None => {
            differences.push(Difference::NoErrorCap);
            WITHOUT_LIMIT
        }
        Some(_) if atol == 0.0 => return refused("a limit of the absolute error needs `max_atol` above 0"),
        Some(cap) => {
            if rtol > 0.0 {
                differences.push(Difference::ErrorCapGrows);
            }
            cap / atol
        }
    };
    if !((cap * rtol).is_finite() && (cap * atol).is_finite()) {
        return refused("its bounds are too large");
    }
    let mismatched = Mismatched {
        share: 1.0 - ratio,
        cap,
    };
    Ok((Tolerance::Mostly { rtol, atol, mismatched }, differences))
}
