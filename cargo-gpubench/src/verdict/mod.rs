//! From facts and claims to a verdict: one pure function, and the words for its outcomes.

mod outcome;

pub use outcome::*;
