//! The `#[gpubench]` attribute.
