//! One case, from its buffers to its samples: rounds of fresh workers of one side or two, and null windows among them.

mod checks;
pub(super) mod confirmation;
pub(super) mod crew;
pub mod measure;
pub(super) mod null_windows;
pub(super) mod observation;
pub mod purpose;
pub(super) mod result;
pub(super) mod rounds;
pub mod sequence;
pub(super) mod side;
