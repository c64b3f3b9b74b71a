//! One measured window: its kinds, its schedule and the sequence that the broker leads the roles through.
//!
//! [`Conductor::conduct`] is a window from beginning to end. What the other two do in it is in `referee/window.rs` and `worker/process.rs`.
#![forbid(unsafe_code)]

mod conduct;
mod duties;
mod kind;
mod numbering;
mod seat;
mod seeds;

pub use conduct::{ConductError, Conducted, Conductor};
pub use duties::{Duties, Maker};
pub use kind::WindowKind;
pub use numbering::Numbering;
pub use seat::Seat;
pub use seeds::{NullPace, Place, Purpose, Seeds, case_number};
