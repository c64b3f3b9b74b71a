//! Instructions of eBPF, as the kernel's `linux/bpf.h` encodes them.

use std::os::fd::AsRawFd as _;

use crate::{Helper, Map};

/// A register of eBPF. Calls return in `R0`, take arguments in `R1` to `R5`, and keep `R6` to `R9`.
/// `R10` is the end of the 512 bytes of stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the architecture numbers its registers")]
pub enum Register {
    R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10,
}

/// How much a load or a store moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 32 bits.
    Word,
    /// 64 bits.
    Double,
}

impl Width {
    fn bits(self) -> u8 {
        match self {
            Width::Word => 0x00,
            Width::Double => 0x18,
        }
    }
}

/// A calculation on 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operation {
    Add = 0x00,
    Subtract = 0x10,
    Or = 0x40,
    And = 0x50,
    ShiftLeft = 0x60,
    ShiftRight = 0x70,
    Move = 0xb0,
    ShiftRightSigned = 0xc0,
}

/// When a jump is taken. Comparisons are unsigned, on 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Condition {
    Equal = 0x10,
    Greater = 0x20,
    GreaterOrEqual = 0x30,
    NotEqual = 0x50,
    Less = 0xa0,
    LessOrEqual = 0xb0,
}

/// The second operand of a calculation or a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The value of a register.
    Register(Register),
    /// A number, sign-extended to 64 bits.
    Number(i32),
}

impl From<Register> for Operand {
    fn from(register: Register) -> Operand {
        Operand::Register(register)
    }
}

impl From<i32> for Operand {
    fn from(number: i32) -> Operand {
        Operand::Number(number)
    }
}

/// A place in a program that jumps lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

/// A program in the making. Jumps lead forward only, so each program ends.
#[derive(Debug, Default)]
pub struct Assembler {
    slots: Vec<u64>,
    /// Where each label is, once it is placed.
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

const LOAD: u8 = 0x61;
const STORE: u8 = 0x63;
const STORE_NUMBER: u8 = 0x62;
const ATOMIC_ADD: u8 = 0xdb;
const LOAD_WIDE: u8 = 0x18;
const CALCULATE: u8 = 0x07;
const JUMP: u8 = 0x05;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
/// The second operand is a register.
const FROM_REGISTER: u8 = 0x08;
/// The number of a wide load is a descriptor of a map.
const IS_MAP: u8 = 1;

impl Assembler {
    /// Begins an empty program.
    pub fn new() -> Assembler {
        Assembler::default()
    }

    fn push(&mut self, code: u8, to: u8, from: u8, offset: i16, number: i32) -> &mut Assembler {
        let [low, high] = offset.to_le_bytes();
        let [a, b, c, d] = number.to_le_bytes();
        self.slots
            .push(u64::from_le_bytes([code, to | from << 4, low, high, a, b, c, d]));
        self
    }

    fn push_with(&mut self, code: u8, to: Register, operand: Operand, offset: i16) -> &mut Assembler {
        match operand {
            Operand::Register(from) => self.push(code | FROM_REGISTER, to as u8, from as u8, offset, 0),
            Operand::Number(number) => self.push(code, to as u8, 0, offset, number),
        }
    }

    /// `to = to OPERATION operand`.
    pub fn calculate(&mut self, operation: Operation, to: Register, operand: impl Into<Operand>) -> &mut Assembler {
        self.push_with(CALCULATE | operation as u8, to, operand.into(), 0)
    }

    /// `to = operand`.
    pub fn set(&mut self, to: Register, operand: impl Into<Operand>) -> &mut Assembler {
        self.calculate(Operation::Move, to, operand)
    }

    /// `to = base + offset`: an address.
    pub fn address(&mut self, to: Register, base: Register, offset: i16) -> &mut Assembler {
        self.set(to, base);
        self.calculate(Operation::Add, to, i32::from(offset))
    }

    /// `to = *(base + offset)`.
    pub fn load(&mut self, width: Width, to: Register, base: Register, offset: i16) -> &mut Assembler {
        self.push(LOAD | width.bits(), to as u8, base as u8, offset, 0)
    }

    /// `*(base + offset) = from`.
    pub fn store(&mut self, width: Width, base: Register, offset: i16, from: impl Into<Operand>) -> &mut Assembler {
        match from.into() {
            Operand::Register(from) => self.push(STORE | width.bits(), base as u8, from as u8, offset, 0),
            Operand::Number(number) => self.push(STORE_NUMBER | width.bits(), base as u8, 0, offset, number),
        }
    }

    /// `*(base + offset) += from`, on 64 bits, as one step for all processors.
    pub fn atomic_add(&mut self, base: Register, offset: i16, from: Register) -> &mut Assembler {
        self.push(ATOMIC_ADD, base as u8, from as u8, offset, 0)
    }

    /// `to = map`, as helpers take it. The map must stay open until the program is loaded.
    pub fn set_map(&mut self, to: Register, map: &Map) -> &mut Assembler {
        self.push(LOAD_WIDE, to as u8, IS_MAP, 0, map.as_raw_fd());
        self.push(0, 0, 0, 0, 0)
    }

    /// `to = number`, of 64 bits.
    pub fn set_wide(&mut self, to: Register, number: u64) -> &mut Assembler {
        self.push(LOAD_WIDE, to as u8, 0, 0, number as u32 as i32);
        self.push(0, 0, 0, 0, (number >> 32) as u32 as i32)
    }

    /// Calls a function of the kernel.
    pub fn call(&mut self, helper: Helper) -> &mut Assembler {
        self.push(CALL, 0, 0, 0, helper as i32)
    }

    /// Ends the program, with the value of `R0`.
    pub fn exit(&mut self) -> &mut Assembler {
        self.push(EXIT, 0, 0, 0, 0)
    }

    /// Makes a label, to be placed later.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Places a label before the next instruction.
    pub fn place(&mut self, label: Label) -> &mut Assembler {
        self.labels[label.0] = Some(self.slots.len());
        self
    }

    /// Goes to `label`.
    pub fn jump(&mut self, label: Label) -> &mut Assembler {
        self.jumps.push((self.slots.len(), label));
        self.push(JUMP, 0, 0, 0, 0)
    }

    /// Goes to `label` if `left CONDITION right`.
    pub fn jump_if(
        &mut self,
        left: Register,
        condition: Condition,
        right: impl Into<Operand>,
        label: Label,
    ) -> &mut Assembler {
        self.jumps.push((self.slots.len(), label));
        self.push_with(JUMP | condition as u8, left, right.into(), 0)
    }

    /// Returns the instructions, 8 bytes each.
    ///
    /// # Panics
    ///
    /// If a jump leads to a label that was not placed, or backwards, or too far.
    pub fn finish(mut self) -> Vec<u64> {
        for (from, label) in self.jumps {
            let target = self.labels[label.0].expect("each label that a jump leads to is placed");
            let distance = target.checked_sub(from + 1).expect("jumps lead forward");
            let distance = i16::try_from(distance).expect("programs are short");
            self.slots[from] |= u64::from(distance.cast_unsigned()) << 16;
        }
        self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Register::{R0, R1, R6, R10};

    #[test]
    fn instructions_are_encoded_as_the_kernel_documents_them() {
        let mut program = Assembler::new();
        let end = program.label();
        program.set(R6, R1).set(R0, -1);
        program.load(Width::Double, R1, R6, 112).load(Width::Word, R1, R6, 4);
        program
            .store(Width::Double, R10, -8, R1)
            .store(Width::Word, R10, -16, 7);
        program.set_wide(R1, 0x8000_0001_0000_0002);
        program.atomic_add(R0, 24, R1).call(Helper::MapLookup);
        program.jump_if(R0, Condition::Equal, 0, end).jump(end);
        program.place(end).exit();
        let bytes: Vec<[u8; 8]> = program.finish().into_iter().map(u64::to_le_bytes).collect();
        let expected: [[u8; 8]; 13] = [
            [0xbf, 0x16, 0, 0, 0, 0, 0, 0],
            [0xb7, 0x00, 0, 0, 0xff, 0xff, 0xff, 0xff],
            [0x79, 0x61, 112, 0, 0, 0, 0, 0],
            [0x61, 0x61, 4, 0, 0, 0, 0, 0],
            [0x7b, 0x1a, 0xf8, 0xff, 0, 0, 0, 0],
            [0x62, 0x0a, 0xf0, 0xff, 7, 0, 0, 0],
            [0x18, 0x01, 0, 0, 2, 0, 0, 0],
            [0, 0, 0, 0, 1, 0, 0, 0x80],
            [0xdb, 0x10, 24, 0, 0, 0, 0, 0],
            [0x85, 0, 0, 0, 1, 0, 0, 0],
            [0x15, 0, 1, 0, 0, 0, 0, 0],
            [0x05, 0, 0, 0, 0, 0, 0, 0],
            [0x95, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(bytes, expected);
    }

    #[test]
    #[should_panic(expected = "each label that a jump leads to is placed")]
    fn a_jump_to_nowhere_is_found_before_the_kernel_sees_it() {
        let mut program = Assembler::new();
        let end = program.label();
        program.jump(end);
        program.finish();
    }
}
