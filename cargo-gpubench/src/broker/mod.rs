//! The broker: the command itself. It starts the other processes, runs every case's windows and
//! decides the verdicts.
//!
//! [`run`] has the steps of a run in their order. Each folder is one concern of a run, and uses
//! the folders below it: cases and options, libraries, code, recordings, the choice of cases,
//! the device, settings, stored runs, and the lanes that measure.

mod against;
mod archive;
mod audit;
mod beginning;
mod case_runner;
pub mod cases;
mod choice;
mod code;
mod compare;
mod contest;
mod dataset;
mod device;
mod file_names;
mod fleet;
mod grading;
mod judge;
mod lanes;
mod libraries;
mod lint;
pub mod options;
mod places;
mod problems;
mod process;
mod recording;
mod report;
mod reporting;
mod resumption;
mod run;
mod settings;
mod sources;
mod status;
mod stored;
mod wrong_calls;

pub use archive::archive;
pub use compare::{CompareOptions, ComparisonFormat, compare_runs};
pub(crate) use device::present::on_device_of;
pub use fleet::{Order, ReadOrder, serve};
pub use judge::{JudgeOptions, judge};
pub use lint::{Fixing, LintOptions, lint};
pub use places::PlaceOptions;
pub use problems::{ProblemAction, ProblemOptions, StarterForm, problem};
pub(crate) use process::catch_interrupts;
pub use report::{ReportOptions, report};
pub(crate) use reporting::first_failure;
pub use run::run;
pub(crate) use run::worse;
pub use settings::DecisionRule;
pub(crate) use status::{first_of, status};
pub use stored::baseline_error::BaselineError;
