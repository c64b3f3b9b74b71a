//! The fixed-size records that the roles speak in, and the kinds of frames.
//!
//! `frames` says which record is in which frame. `device`, `case`, `worker` and `author` are what the broker tells the others; `claim` and `facts` are what
//! worker and referee say of a window.

mod author;
mod case;
mod claim;
mod device;
mod facts;
mod frames;
mod worker;

pub use author::*;
pub use case::*;
pub use claim::*;
pub use device::*;
pub use facts::*;
pub use frames::*;
pub use worker::*;
