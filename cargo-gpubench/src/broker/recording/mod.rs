//! From the selected cases to measurable plans: authors record the plans, and their kernels are
//! compiled.

pub(super) mod authors;
mod host_code;
pub(super) mod preparation;
pub(super) mod recordings;
