//! Contests: cases of one problem with the same arguments, which are measured alternately.

mod error;
mod fit;
mod grouping;

pub(super) use fit::{Division, divide};
pub(super) use grouping::Contests;
