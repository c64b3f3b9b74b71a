//! One measured window: its kinds, its schedule and the sequence that the broker leads the roles through.

mod kind;

pub use kind::WindowKind;
mod seeds;
pub use seeds::{Place, Purpose, Seeds};
