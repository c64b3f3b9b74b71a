//! The broker: the command itself. It starts the other processes, runs every case's windows and
//! decides the verdicts.

mod against;
mod ahead;
mod archive;
mod benchmark_line;
mod case_readings;
mod case_runner;
pub mod cases;
mod choice;
mod clocks;
mod code;
mod compare;
mod counters;
mod device_choice;
mod device_turn;
mod emit;
mod environment;
mod libraries;
mod listing;
mod observers;
pub mod options;
mod overrides;
mod places;
mod process;
mod recording;
mod report;
mod reporting;
mod resting;
mod roles;
mod run;
mod run_names;
mod selected;
mod settings;
mod sources;
mod status;
mod stored;

pub use against::decision::DecisionRule;
pub use archive::archive;
pub use compare::{CompareOptions, ComparisonFormat, compare_runs};
pub use emit::{EmitOptions, KernelScope, Language, emit};
pub use places::PlaceOptions;
pub use report::{ReportOptions, report};
pub use run::run;
pub use stored::baseline_error::BaselineError;
