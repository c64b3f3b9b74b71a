//! Simulated samples and stored runs, for tests and benchmarks.

mod run;
mod samples;

pub use run::*;
pub use samples::*;
