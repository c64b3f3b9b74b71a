//! The two formats.

use std::fmt;

use crate::solution::Solution;

/// A format of trace files. SOL-ExecBench began with that of FlashInfer-Bench and added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// FlashInfer-Bench.
    FlashInfer,
    /// SOL-ExecBench.
    SolExecBench,
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dialect::FlashInfer => "FlashInfer-Bench",
            Dialect::SolExecBench => "SOL-ExecBench",
        })
    }
}

impl Solution {
    /// Returns the format that the solution is written in, which its field of languages shows.
    pub const fn dialect(&self) -> Dialect {
        match self.spec.language {
            Some(_) => Dialect::FlashInfer,
            None => Dialect::SolExecBench,
        }
    }
}
