//! Which cases of the built libraries a run measures.

pub(super) mod chosen;
pub(super) mod listing;
pub(super) mod overrides;
