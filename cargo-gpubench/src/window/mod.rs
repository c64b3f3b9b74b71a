//! One measured window: its kinds, its schedule and the sequence that the broker leads the roles through.

mod conduct;
mod kind;
mod seeds;

pub use conduct::{ConductError, Conducted, Conductor, Generation};
pub use kind::WindowKind;
pub use seeds::{Place, Purpose, Seeds};
