//! Where a probed thread's registers are in a program's context, `struct pt_regs`.

/// Offsets in bytes into the context of a uprobe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The first six arguments of a call.
    pub arguments: [i16; 6],
    /// The value that a call returns.
    pub returned: i16,
    /// The stack pointer.
    pub stack: i16,
    /// How far above the stack pointer the seventh argument is, at a function's first instruction.
    pub stack_arguments: i16,
    /// How much higher the stack pointer is after a return than at the first instruction: the
    /// return address, where calls push it.
    pub popped_by_return: i16,
    /// The register with the result on a stub's way out after an error, where
    /// [`elf`](crate::elf) knows one.
    pub failed_result: i16,
}

impl Registers {
    /// This machine's registers.
    pub const HERE: Registers = if cfg!(target_arch = "aarch64") {
        Registers::AARCH64
    } else {
        Registers::X86_64
    };

    /// `di si dx cx r8 r9`, `ax`, `sp`, `r12`.
    pub const X86_64: Registers = Registers {
        arguments: [112, 104, 96, 88, 72, 64],
        returned: 80,
        stack: 152,
        stack_arguments: 8,
        popped_by_return: 8,
        failed_result: 24,
    };

    /// `x0` to `x5`, `x0`, `sp`. No stub is known, so that of its failures is never read.
    pub const AARCH64: Registers = Registers {
        arguments: [0, 8, 16, 24, 32, 40],
        returned: 0,
        stack: 248,
        stack_arguments: 0,
        popped_by_return: 0,
        failed_result: 0,
    };
}
