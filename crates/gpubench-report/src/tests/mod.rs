//! Every output of the sample runs, as people and machines read it.

mod comparison;
mod golden;
pub(super) mod hostile;
mod metric;
mod play;

pub(super) use golden::{broken_lines, written};
