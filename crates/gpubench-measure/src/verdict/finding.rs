//! What keeps a case from passing.

use super::{Cause, Verdict};

/// Why a case, or one of its windows, does not pass.
pub(super) struct Finding {
    pub(super) verdict: Verdict,
    pub(super) cause: Cause,
    pub(super) message: String,
}

/// A finding, for functions that have none where there is nothing to say.
pub(super) fn finding(verdict: Verdict, cause: Cause, message: impl Into<String>) -> Option<Finding> {
    debug_assert!(cause.comes_with(verdict), "{verdict}: {cause}");
    Some(Finding {
        verdict,
        cause,
        message: message.into(),
    })
}
