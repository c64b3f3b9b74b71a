//! What a run is asked to do, as types: the command line and its environment variables come in as
//! this, and nothing else does.

mod device;
mod libraries;
mod measurement;
mod output;
mod results;
mod run;

pub use device::*;
pub use libraries::*;
pub use measurement::*;
pub use output::*;
pub use results::*;
pub use run::*;
