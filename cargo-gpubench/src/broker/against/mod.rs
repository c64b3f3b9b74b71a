//! What a run is measured in turns with: another revision, its cases, and the question that the
//! rounds of the two decide.

pub(super) mod baseline_run;
pub(super) mod decision;
pub(super) mod other_revision;
pub(super) mod results;
