//! Two stored runs side by side: which benchmarks belong together, what keeps their times apart,
//! and what changed.
//!
//! [`compare`] is a pure function from two runs to the record of their comparison. The figures come
//! from [`stats`](gpubench_stats), the rules from the caller; what is read, shown or exited with is
//! decided elsewhere.

mod comparison;
mod difference;
mod judgement;
mod key;
mod pairing;
mod row;
mod rules;

#[cfg(test)]
mod tests;

pub use comparison::{NamedRun, compare};
pub use judgement::{CANNOT_RULE_OUT, FINDS, NOISY_HISTORY, is_decided, judge};
pub use key::CaseKey;
pub use rules::{AnalysesTaken, Fences, Floors, Matching, Rules, Setups, Threshold};
