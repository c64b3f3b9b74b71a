//! A starter in PTX.

use super::operand::{Operand, OperandValue};
use super::source::outputs;

/// Returns an entry without instructions that do anything.
pub(super) fn kernel(operands: &[Operand]) -> String {
    let parameters = operands.iter().map(|operand| {
        let ty = match operand.value {
            OperandValue::Tensor { .. } => "u64",
            OperandValue::Number(scalar) => scalar.in_ptx,
        };
        format!("    .param .{ty} {}", operand.identifier)
    });
    let parameters: Vec<String> = parameters.collect();
    format!(
        ".version 7.0\n.target sm_75\n.address_size 64\n\n\
         .visible .entry solution(\n{}\n) {{\n    \
         // TODO: write {}.\n    \
         ret;\n}}\n",
        parameters.join(",\n"),
        outputs(operands),
    )
}
