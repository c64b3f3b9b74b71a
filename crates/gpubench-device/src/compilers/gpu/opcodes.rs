//! The instructions of a kernel in a disassembly: their digest, and how many have each opcode.

use std::collections::BTreeMap;

use gpubench_contract::MachineCode;
use sha2::{Digest as _, Sha256};

/// What a label begins with.
const LABEL: &str = ".L_x_";

/// The instruction that fills the space after a kernel.
const PADDING: &str = "NOP";

/// Returns the machine code of a kernel from its section of the disassembly.
pub(super) fn machine_code(kernel: &str, section: &str) -> MachineCode {
    let (mut digest, mut opcodes) = (Sha256::new(), BTreeMap::new());
    let mut labels = Labels::default();
    for instruction in section.lines().filter_map(instruction) {
        let opcode = opcode(instruction);
        if opcode == PADDING {
            continue;
        }
        *opcodes.entry(opcode.to_owned()).or_default() += 1;
        digest.update(labels.numbered_anew(instruction));
        digest.update("\n");
    }
    MachineCode {
        kernel: kernel.to_owned(),
        digest: digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect(),
        opcodes,
    }
}

/// Returns the instruction of a line: `@P0 BRA `(.L_x_1)` of
/// `        /*0090*/               @P0 BRA `(.L_x_1) ;`.
fn instruction(line: &str) -> Option<&str> {
    let (_, after_address) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let (instruction, _) = after_address.split_once(';')?;
    Some(instruction.trim())
}

/// Returns the opcode, which follows the predicate if there is one.
fn opcode(instruction: &str) -> &str {
    let mut words = instruction.split_whitespace();
    words.find(|word| !word.starts_with('@')).unwrap_or_default()
}

/// Labels of one kernel, in the order in which they occur. The disassembler numbers those of all
/// kernels of a file, so another kernel would change their numbers.
#[derive(Default)]
struct Labels<'t>(Vec<&'t str>);

impl<'t> Labels<'t> {
    /// Returns an instruction with its labels numbered within the kernel.
    fn numbered_anew(&mut self, instruction: &'t str) -> String {
        let mut parts = instruction.split(LABEL);
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let (number, rest) = part.split_at(end);
            let known = self.0.iter().position(|label| *label == number);
            let position = known.unwrap_or_else(|| {
                self.0.push(number);
                self.0.len() - 1
            });
            text.extend([LABEL, &position.to_string(), rest]);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "\
spin:
.text.spin:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File \"src/spin.cu\", line 4
        /*0010*/               @!P0 BRA `(.L_x_7) ;
.L_x_6:
        /*0020*/                   FADD R8, R8, R7 ;
        /*0030*/              @UP1 BRA.U `(.L_x_6) ;
.L_x_7:
        /*0040*/                   EXIT ;
.L_x_8:
        /*0050*/                   BRA `(.L_x_8);
        /*0060*/                   NOP;
";

    #[test]
    fn opcodes_are_counted_with_their_modifiers_and_without_padding() {
        let code = machine_code("spin", CODE);
        let numbers: Vec<(&str, u64)> = code.opcodes.iter().map(|(name, number)| (&**name, *number)).collect();
        assert_eq!(
            numbers,
            [("BRA", 2), ("BRA.U", 1), ("EXIT", 1), ("FADD", 1), ("LDC", 1)]
        );
    }

    #[test]
    fn the_digest_depends_on_the_instructions_only() {
        let digest = |code: &str| machine_code("spin", code).digest;
        let elsewhere = CODE
            .replace(".L_x_6", ".L_x_61")
            .replace(".L_x_7", ".L_x_70")
            .replace("line 4", "line 9")
            .replace("/*0060*/                   NOP;\n", "");
        assert_eq!(digest(&elsewhere), digest(CODE));
        assert_ne!(digest(&CODE.replace("R8, R7", "R8, R9")), digest(CODE));
        let other_target = CODE.replace("BRA.U `(.L_x_6)", "BRA.U `(.L_x_7)");
        assert_ne!(digest(&other_target), digest(CODE));
        assert_eq!(digest(CODE).len(), 64);
    }
}
