//! The baseline that a run alternates with: another revision and its cases.

pub(super) mod baseline_run;
pub(super) mod other_revision;
pub(super) mod results;
