//! The two formats.

use std::fmt;

use crate::definition::{AxisKind, Definition};
use crate::solution::Solution;
use crate::workload::Workload;

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
    /// Returns the format of a definition with its workloads: SOL-ExecBench if they have a field
    /// that only that has, or lack one that FlashInfer-Bench requires.
    pub fn of_problem(definition: &Definition, workloads: &[Workload]) -> Dialect {
        let has_expression = definition
            .axes
            .iter()
            .any(|(_, axis)| matches!(axis.kind, AxisKind::Expr(_)));
        let is_sol = definition.op_type.is_none()
            || definition.hf_id.is_some()
            || definition.custom_inputs_entrypoint.is_some()
            || has_expression
            || workloads.iter().any(|workload| workload.tolerance.is_some());
        match is_sol {
            true => Dialect::SolExecBench,
            false => Dialect::FlashInfer,
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
