//! How the machine code of the kernels whose counts changed differs.

use super::pairing::Pair;
use gpubench_contract::{BenchmarkComplete, FunctionChange, MachineCode, MachineCodeChange, MachineCodeOutcome};

/// Returns the change of the machine code of each kernel in `functions`, in their order. Empty if
/// no side says anything of machine code.
pub(super) fn changes(pair: &Pair<'_>, functions: &[FunctionChange]) -> Vec<MachineCodeChange> {
    let sides = [("baseline", pair.baseline), ("candidate", pair.candidate)];
    if !sides.iter().any(|(_, result)| tells(result)) {
        return Vec::new();
    }
    let mut kernels: Vec<&str> = Vec::new();
    for function in functions {
        if !kernels.contains(&&*function.kernel) {
            kernels.push(&function.kernel);
        }
    }
    let change = |kernel: &str| match sides.map(|side| code_of(side, kernel)) {
        [Ok(before), Ok(after)] => before.compared_with(after),
        [before, after] => MachineCodeChange {
            kernel: kernel.to_owned(),
            outcome: MachineCodeOutcome::Unknown,
            reason: before.err().or(after.err()),
            opcodes: Vec::new(),
        },
    };
    kernels.into_iter().map(change).collect()
}

fn tells(result: &BenchmarkComplete) -> bool {
    let counts = result.counts.as_ref();
    counts.is_some_and(|counts| !counts.machine_code.is_empty() || counts.no_machine_code.is_some())
}

/// Returns the machine code of a kernel on one side, or why it is not known.
fn code_of<'r>((side, result): (&str, &'r BenchmarkComplete), kernel: &str) -> Result<&'r MachineCode, String> {
    let counts = result.counts.as_ref();
    let mut known = counts.iter().flat_map(|counts| &counts.machine_code);
    known.find(|code| code.kernel == kernel).ok_or_else(|| {
        match counts.and_then(|counts| counts.no_machine_code.as_ref()) {
            Some(reason) => format!("{side}: {reason}"),
            None => format!("the {side} does not have it"),
        }
    })
}
