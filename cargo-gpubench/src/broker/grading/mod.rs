//! Submissions: kernels that are not part of a crate, judged by one of its problems.
//!
//! The problem's crate records tensors, work and reference, as for a benchmark of its own. The
//! submission adds its sources to the crate's catalog and its launches to the recording. From then
//! on it is a case like any other. Nothing here runs anything of a submission.

mod entrants;
mod error;
mod hidden;
mod names;

pub(super) use entrants::{Entrants, Library, Solutions, read_for_others};
