//! The libraries of a run, and the author processes that run their host code.

pub(super) mod authors;
pub(super) mod built;
