//! `cargo gpubench`: benchmarks of GPU kernels whose numbers stay true.
#![forbid(unsafe_code)]

pub mod admission;
pub mod archive;
pub mod broker;
pub mod cdylibs;
pub mod checkout;
pub mod cli;
pub mod config;
pub mod doctor;
pub mod git;
pub mod history;
pub mod probe_program;
pub mod scaffold;
#[cfg(test)]
mod test_folder;
mod turn;
