//! Simulated samples and stored runs that are made of them, for tests and benchmarks.

mod run;
mod samples;

pub use run::*;
pub use samples::*;
