//! The broker: the command itself. It spawns the other roles, leads every case through its windows and asks for a verdict.
#![forbid(unsafe_code)]

mod ahead;
mod archive;
mod authors;
mod baseline_error;
mod bookkeeping;
mod campaign;
pub mod cases;
mod choice;
mod compare;
mod compilers;
mod crew;
mod environment;
mod failure;
mod fences;
mod ground;
mod kernels;
mod libraries;
mod loaded_run;
pub mod measure;
mod noise_floors;
mod null_windows;
mod observation;
mod occupancy;
mod opponent;
pub mod options;
mod places;
mod preparation;
pub mod purpose;
mod recordings;
mod report;
mod reporting;
mod result;
mod rounds;
mod run;
mod selected;
mod side;
mod standing;
mod stored_cases;

pub use archive::archive;
pub use authors::ListingError;
pub use baseline_error::BaselineError;
pub use compare::{CompareAction, CompareOptions, ComparisonFormat, compare_runs};
pub use places::PlaceOptions;
pub use report::{ReportOptions, report};
pub use run::run;
