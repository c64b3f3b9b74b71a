//! Cases from their buffers to their samples, one alone or several alternately: rounds of a fresh
//! worker for each, with control windows between them.
//!
//! [`Session`] measures a case, `rounds` orders its windows, `arm` runs them, and `sequence` runs a
//! single one. [`fill_in`] writes the results into a record.

mod alone;
mod arm;
mod budget;
mod case;
mod checks;
mod confirmation;
mod control_lease;
mod controls;
mod empty_calls;
mod energy;
mod error;
mod evidence;
mod failure;
mod idle_workers;
mod inputs;
mod measured;
mod observation;
mod parts;
mod pass_criteria;
#[cfg(test)]
mod passed_case;
mod pool;
mod protocol;
mod rest;
mod result;
mod retakes;
mod rounds;
mod run_mode;
mod samples;
mod sequence;
mod session;
mod stopping;
mod submissions;
mod twin;
mod watcher;

pub use case::{CaseLibrary, CasesInTurns, Entrant, ReadyCase, Standing, StoppingQuery, TurnCase};
pub use error::MeasureError;
pub use failure::CaseFailure;
pub use idle_workers::{Another, IdleWorkers};
pub use measured::{Measured, MeasuredInTurns, RolesAfterwards};
pub use observation::{note_observation, note_reading};
pub use pass_criteria::{NoticePolicy, PassCriteria, add_notices};
pub use protocol::{Energy, Protocol};
pub use rest::Rest;
pub use result::{Expectations, add_hardware, fill_in};
pub use run_mode::RunMode;
pub use session::Session;
pub use submissions::{SubmissionCount, SubmissionCounter};
pub use watcher::Watcher;
