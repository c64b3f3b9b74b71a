//! The definition of a measured window: kinds, owners, seeds, numbers, and the processes that run
//! its code.
//!
//! The broker directs a window in `gpubench-measure/src/measurement/sequence.rs`. The parts of
//! referee and worker are in `referee/window.rs` and `worker/window.rs`.
#![forbid(unsafe_code)]

mod allocations;
mod bundle;
mod calls;
mod gate;
mod kind;
mod numbering;
mod owner;
mod placement;
mod seeds;
mod unrolled;

pub use allocations::Allocations;
pub use bundle::{GRAPHS, MOST_LAUNCHES, calls_of_graphs, repeats_in_graphs};
pub use calls::WindowCalls;
pub use gate::Gate;
pub use kind::{DrawnCalls, MadeCalls, WindowContent, WindowKind};
pub use numbering::Numbering;
pub use owner::WindowOwner;
pub use placement::{CodePlacement, Maker};
pub use seeds::{ControlPace, KeyPurpose, Seeds, WindowId, case_number};
pub use unrolled::{name_of_one_call, unrolled};
