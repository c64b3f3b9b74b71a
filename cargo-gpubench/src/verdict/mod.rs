//! From facts and claims to a verdict: one pure function, [`judge`], and the words for its outcomes.
//!
//! The referee reports facts, the worker makes claims, and neither decides anything.
#![forbid(unsafe_code)]

mod evidence;
mod grading;
mod judge;
mod outcome;
mod words;

pub use evidence::{Ending, Evidence, Execution, WindowEvidence};
pub use judge::{Judgement, judge};
pub use outcome::*;
