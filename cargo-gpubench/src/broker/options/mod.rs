//! The options of a run as types. The command line and its environment variables are converted to
//! these.

pub(super) mod case_readings;
mod device;
mod fleet;
mod grading;
mod libraries;
mod measurement;
mod observer;
mod output;
mod results;
mod run;

pub use device::*;
pub use fleet::*;
pub use grading::*;
pub use libraries::*;
pub use measurement::*;
pub use observer::*;
pub use output::*;
pub use results::*;
pub use run::*;
