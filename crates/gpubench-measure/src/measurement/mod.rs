//! Cases from their buffers to their samples, one alone or several alternately: rounds of a fresh
//! worker for each, with control windows between them.
//!
//! [`Session`] measures a case, `rounds` orders its windows, `arm` runs them, and `sequence` runs a
//! single one. [`Figures`] are what a record tells of the results.

mod alone;
mod amounts;
mod arithmetic;
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
mod failure;
mod figures;
mod held_calls;
mod idle_workers;
mod input_sets;
mod inputs;
mod kept_sets;
mod leaving_workers;
mod measured;
mod observation;
mod observed;
mod outcome;
mod parts;
mod pass_criteria;
#[cfg(test)]
mod passed_case;
mod pattern;
mod placements;
mod pool;
mod protocol;
mod rest;
mod retakes;
mod rounds;
mod run;
mod run_mode;
mod sandboxes;
mod sequence;
mod session;
#[cfg(test)]
mod simulated_case;
mod stopping;
mod submissions;
mod twin;
mod watcher;
mod wrong_call;

pub use case::{CaseLibrary, CasesInTurns, Entrant, ReadyCase, Standing, StoppingQuery, TurnCase};
pub use error::MeasureError;
pub use failure::CaseFailure;
pub use figures::{Expectations, Figures, hardware_metrics};
pub use idle_workers::{Another, IdleWorkers};
pub use input_sets::EarlierSets;
pub use leaving_workers::LeavingWorkers;
pub use measured::{Measured, MeasuredInTurns, RolesAfterwards};
pub use observation::{note_reading, with_observation};
pub use outcome::{FurtherPurpose, Outcome};
pub use pass_criteria::{NoticePolicy, PassCriteria};
pub use protocol::{Energy, EvidenceUse, Protocol};
pub use rest::Rest;
pub use run::{CallParts, RunControls, Samples, WarmUp, WorkerRun};
pub use run_mode::RunMode;
pub use session::Session;
pub use submissions::{SubmissionCount, SubmissionCounter};
pub use watcher::Watcher;
pub use wrong_call::{WrongCall, WrongCallKeeper};
