//! The baseline that a run alternates with: another revision, its cases, and the decision that the
//! rounds of both sides must reach.

pub(super) mod baseline_run;
pub(super) mod decision;
pub(super) mod other_revision;
pub(super) mod results;
