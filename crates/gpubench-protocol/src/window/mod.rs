//! The words of a measured window: its kinds, seats, seeds and numbers, and who does what in it.
//!
//! The broker leads the roles through a window in `gpubench-measure/src/measurement/sequence.rs`.
//! What the others do in it is in `referee/window.rs` and `worker/window.rs`.
#![forbid(unsafe_code)]

mod calls;
mod kind;
mod numbering;
mod owner;
mod placement;
mod seeds;

pub use calls::calls_per_window;
pub use kind::WindowKind;
pub use numbering::Numbering;
pub use owner::WindowOwner;
pub use placement::{CodePlacement, Maker};
pub use seeds::{ControlPace, KeyPurpose, Seeds, WindowId, case_number};
