//! `cargo gpubench history`: the times of benchmarks from run to run.
//!
//! [`show`] reads the histories that `--history` writes. It prints the runs of each case for
//! people, or a record per case for programs.

mod case_name;
mod confirm;
mod error;
mod options;
mod otava;
mod page;
mod show;
mod trend;

#[cfg(test)]
mod tests;

pub(crate) use case_name::in_form;
pub use error::HistoryError;
pub use options::TrendOptions;
pub use show::show;
