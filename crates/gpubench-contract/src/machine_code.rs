//! The machine code of kernels, in short: enough to see that it changed, and how.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::words::words;

/// The machine code of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct MachineCode {
    /// Name of the kernel.
    pub kernel: String,
    /// SHA-256 of its instructions, in hexadecimal. Addresses, padding and functions that it calls
    /// are left out.
    pub digest: String,
    /// How many instructions have each opcode, by opcode with its modifiers, as in `LDG.E.64`. Each
    /// instruction counts once, however often it executes.
    pub opcodes: BTreeMap<String, u64>,
}

/// How the machine code of a kernel differs between two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct MachineCodeChange {
    /// Name of the kernel.
    pub kernel: String,
    /// Whether it differs.
    pub outcome: MachineCodeOutcome,
    /// Why it is unknown. Null if it is known.
    pub reason: Option<String>,
    /// The opcodes whose numbers differ, the largest difference first. Empty if the instructions
    /// differ only in their order or their operands.
    pub opcodes: Vec<OpcodeChange>,
}

/// The number of instructions with an opcode in two versions of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct OpcodeChange {
    /// The opcode with its modifiers.
    pub opcode: String,
    /// Number in the baseline.
    pub baseline: u64,
    /// Number in the candidate.
    pub candidate: u64,
}

words! {
    /// Whether the machine code of a kernel differs between two runs.
    pub enum MachineCodeOutcome {
        /// It is the same.
        Same = "same",
        /// It differs.
        Changed = "changed",
        /// The machine code of one run is not known.
        Unknown = "unknown",
    }
}

impl MachineCode {
    /// Returns how the machine code differs from a later one of the same kernel.
    pub fn compared_with(&self, after: &MachineCode) -> MachineCodeChange {
        let names: std::collections::BTreeSet<&String> = self.opcodes.keys().chain(after.opcodes.keys()).collect();
        let number = |code: &MachineCode, opcode| code.opcodes.get(opcode).copied().unwrap_or(0);
        let mut opcodes: Vec<OpcodeChange> = names
            .into_iter()
            .map(|opcode| OpcodeChange {
                opcode: opcode.clone(),
                baseline: number(self, opcode),
                candidate: number(after, opcode),
            })
            .filter(|change| change.baseline != change.candidate)
            .collect();
        // The sort is stable: opcodes that tie keep the order of their names.
        opcodes.sort_by_key(|change| std::cmp::Reverse(change.baseline.abs_diff(change.candidate)));
        MachineCodeChange {
            kernel: after.kernel.clone(),
            outcome: if self.digest == after.digest {
                MachineCodeOutcome::Same
            } else {
                MachineCodeOutcome::Changed
            },
            reason: None,
            opcodes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(digest: &str, opcodes: &[(&str, u64)]) -> MachineCode {
        MachineCode {
            kernel: "spin".to_owned(),
            digest: digest.to_owned(),
            opcodes: opcodes
                .iter()
                .map(|(name, number)| ((*name).to_owned(), *number))
                .collect(),
        }
    }

    #[test]
    fn the_opcode_whose_number_changed_most_comes_first() {
        let before = code("a", &[("BRA", 2), ("FADD", 4), ("LDG.E", 1)]);
        let change = before.compared_with(&code("b", &[("BRA", 3), ("LDG.E", 1), ("LDG.E.128", 1)]));
        assert_eq!(change.outcome, MachineCodeOutcome::Changed);
        let shown: Vec<_> = change
            .opcodes
            .iter()
            .map(|change| (&*change.opcode, change.baseline, change.candidate))
            .collect();
        assert_eq!(shown, [("FADD", 4, 0), ("BRA", 2, 3), ("LDG.E.128", 0, 1)]);
    }

    #[test]
    fn code_with_one_digest_is_the_same() {
        let code = code("a", &[("BRA", 2)]);
        let change = code.compared_with(&code.clone());
        assert_eq!((change.outcome, change.opcodes), (MachineCodeOutcome::Same, Vec::new()));
    }

    #[test]
    fn the_digest_decides_whether_code_is_the_same_and_not_the_opcodes() {
        let before = code("a", &[("BRA", 2)]);
        let change = before.compared_with(&code("b", &[("BRA", 2)]));
        assert_eq!(
            (change.outcome, change.opcodes),
            (MachineCodeOutcome::Changed, Vec::new())
        );
    }
}
