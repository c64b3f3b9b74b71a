//! The two formats.

use std::fmt;

use crate::definition::{AxisKind, Definition};
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

impl Dialect {
    /// Returns the format of a definition: SOL-ExecBench if it has a field that only that has, or
    /// lacks one that FlashInfer-Bench requires. Workloads do not count: the tolerance of one must
    /// not loosen that of the others.
    pub fn of_definition(definition: &Definition) -> Dialect {
        let has_expression = definition
            .axes
            .iter()
            .any(|(_, axis)| matches!(axis.kind, AxisKind::Expr(_)));
        let is_sol = definition.op_type.is_none()
            || definition.hf_id.is_some()
            || definition.custom_inputs_entrypoint.is_some()
            || has_expression;
        match is_sol {
            true => Dialect::SolExecBench,
            false => Dialect::FlashInfer,
        }
    }

    /// The share of elements that must be right, unless a tolerance says it.
    pub(crate) const fn matched_ratio(self) -> f64 {
        match self {
            Dialect::FlashInfer => 1.0,
            Dialect::SolExecBench => 0.99,
        }
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
