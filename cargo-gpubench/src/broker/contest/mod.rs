//! Contests: cases of one problem with the same arguments, which are measured alternately.

mod error;
mod grouping;

pub(super) use grouping::Contests;
