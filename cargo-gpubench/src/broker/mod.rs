//! The broker: the command itself. It spawns the other roles, leads every case through its windows and asks for a verdict.
#![forbid(unsafe_code)]

mod ahead;
mod archive;
mod authors;
mod baseline_error;
mod bookkeeping;
mod campaign;
pub mod cases;
mod compilers;
mod crew;
mod environment;
mod failure;
mod kernels;
mod libraries;
pub mod measure;
mod null_windows;
mod observation;
mod occupancy;
mod opponent;
pub mod options;
mod preparation;
mod recordings;
mod replay;
mod reporting;
mod result;
mod rounds;
mod run;
mod side;
mod stored_cases;

pub use archive::archive;
pub use authors::ListingError;
pub use baseline_error::BaselineError;
pub use run::run;
