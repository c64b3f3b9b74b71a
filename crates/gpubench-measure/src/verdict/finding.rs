//! Reasons why a case does not pass.

use super::{Cause, Verdict};

/// Why a case, or one of its windows, does not pass.
pub(super) struct Finding {
    pub(super) verdict: Verdict,
    pub(super) cause: Cause,
    pub(super) message: String,
}

/// Returns a finding as `Some`, for functions with an optional result.
pub(super) fn finding(verdict: Verdict, cause: Cause, message: impl Into<String>) -> Option<Finding> {
    debug_assert!(cause.comes_with(verdict), "{verdict}: {cause}");
    Some(Finding {
        verdict,
        cause,
        message: message.into(),
    })
}
