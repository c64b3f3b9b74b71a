//! One case, from its buffers to its samples: rounds of fresh workers of one arm or two, and null
//! windows among them.
//!
//! [`Session`] measures a case; `rounds` orders its windows, `arm` runs them, `sequence` is a
//! single one. [`fill_in`] makes the record of what was measured.

mod arm;
mod buffers;
mod case;
mod checks;
mod confirmation;
mod control_lease;
mod controls;
mod demands;
mod error;
mod evidence;
mod failure;
mod inputs;
mod measured;
mod observation;
mod pool;
mod protocol;
mod purpose;
mod result;
mod rounds;
mod samples;
mod sequence;
mod session;
mod stopping;
mod twin;
mod watcher;

pub use case::{CaseLibrary, Contest, ReadyCase, StoppingQuery};
pub use demands::{Demands, NoticePolicy};
pub use error::MeasureError;
pub use failure::CaseFailure;
pub use measured::{Measured, MeasuredInTurns, RolesAfterwards};
pub use observation::{note_observation, note_reading};
pub use protocol::Protocol;
pub use purpose::Purpose;
pub use result::{Yardsticks, fill_in};
pub use session::Session;
pub use watcher::Watcher;
