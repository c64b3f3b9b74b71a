//! From the selected cases to measurable plans: authors record the plans, and their kernels are
//! compiled.

mod host_code;
pub(super) mod preparation;
pub(super) mod recordings;
pub(super) mod same_tensors;
pub(super) mod selected;
mod several_gpus;
