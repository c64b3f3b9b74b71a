//! Comparison of two stored runs: matching benchmarks, checking their setups and judging changes.
//!
//! [`compare`] is a pure function from two runs to the record of their comparison. The statistics
//! come from [`stats`](gpubench_stats) and the rules from the caller. Reading, output and exit
//! codes are handled elsewhere.

mod comparison;
mod counts;
mod difference;
mod functions;
mod judgement;
mod key;
mod machine_code;
mod matrix;
mod pairing;
mod row;
mod rules;

#[cfg(test)]
mod tests;

pub use comparison::{NamedRun, compare};
pub use judgement::{CANNOT_RULE_OUT, FINDS, NOISY_HISTORY, is_decided, judge};
pub use matrix::device_matrix;
pub use rules::{AnalysesTaken, Fences, Floors, Matching, Rules, Setups, Threshold};
