//! Runs on disk: what a baseline, a comparison and a report are made from.
#![forbid(unsafe_code)]

mod revision;
mod stored_run;

pub use revision::Revision;
pub use stored_run::{FORMAT, FORMAT_VERSION, StoredRun};
