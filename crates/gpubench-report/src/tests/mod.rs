//! Every report of the sample runs.

mod comparison;
mod golden;
pub(super) mod hostile;
mod metric;
mod play;

pub(super) use golden::{broken_lines, written};
