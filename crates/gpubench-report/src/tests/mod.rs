//! Every report of the sample runs.

mod comparison;
pub(crate) mod devices;
mod golden;
pub(super) mod hostile;
mod metric;
pub(crate) mod observation;
mod play;
mod scores;

pub(super) use golden::{broken_lines, written};
