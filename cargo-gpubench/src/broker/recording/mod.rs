//! From the selected cases to plans that can be measured: authors record them, and what they use is
//! compiled.

pub(super) mod authors;
pub(super) mod preparation;
pub(super) mod recordings;
