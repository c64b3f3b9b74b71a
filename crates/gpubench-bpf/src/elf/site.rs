//! Which instruction of a function to probe.

/// An instruction to probe. Until it runs, arguments and stack are as the caller left them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Where it is in the file, in bytes.
    pub offset: u64,
    /// Whether the kernel emulates it (about 0.5 µs a call) or steps over it (several µs).
    pub is_emulated: bool,
}

/// Returns how far into a function the best instruction is, and whether the kernel emulates it.
/// `code` is of x86-64.
pub(super) fn choose(code: &[u8]) -> (u64, bool) {
    let mut at = 0;
    // A loop may jump to a jump, and each round would trap. None jumps to a `push`, since the stack
    // would grow.
    let mut is_stub = true;
    while let Some(rest) = code.get(at..) {
        if is_push(rest) || (is_stub && is_emulated(rest)) {
            return (at as u64, true);
        }
        let in_stub = length_in_stub(rest);
        is_stub &= in_stub.is_some();
        match in_stub.or_else(|| length_without_effect(rest)) {
            Some(length) => at += length,
            None => break,
        }
    }
    (0, false)
}

fn is_push(code: &[u8]) -> bool {
    matches!(code, [0x50..=0x57, ..] | [0x41, 0x50..=0x57, ..])
}

/// Whether the kernel emulates the instruction, besides `push`: jumps, calls and `nop`, as
/// `arch/x86/kernel/uprobes.c` has them.
fn is_emulated(code: &[u8]) -> bool {
    matches!(
        code,
        [0x70..=0x7f, _, ..]
            | [0x0f, 0x80..=0x8f, ..]
            | [0xe8 | 0xe9, ..]
            | [0xeb, _, ..]
            | [0x90, ..]
            | [0x0f, 0x1f, ..]
    )
}

/// Returns the length of an instruction that changes no argument, no memory and no stack pointer
/// and does not jump, if it is one of those that stubs begin with.
fn length_in_stub(code: &[u8]) -> Option<usize> {
    match code {
        // `endbr64`
        [0xf3, 0x0f, 0x1e, 0xfa, ..] => Some(4),
        // `cmpl $imm32, disp(%rip)`; with an immediate of 8 bits; `cmpb`; `testb`
        [0x81, 0x3d, ..] => Some(10),
        [0x83 | 0x80, 0x3d, ..] | [0xf6, 0x05, ..] => Some(7),
        // `mov disp(%rip), %eax`, `%rax`
        [0x8b, 0x05, ..] => Some(6),
        [0x48, 0x8b, 0x05, ..] => Some(7),
        // `test %eax, %eax`, `%rax`
        [0x85, 0xc0, ..] => Some(2),
        [0x48, 0x85, 0xc0, ..] => Some(3),
        _ => None,
    }
}

/// Returns the length of an instruction of a compiler's prologue that changes at most flags, `rax`,
/// `r10` and `r11`.
fn length_without_effect(code: &[u8]) -> Option<usize> {
    let (prefix, code) = match code {
        [prefix @ 0x40..=0x4f, code @ ..] => (Some(*prefix), code),
        _ => (None, code),
    };
    let is_extended = |bit: u8| prefix.is_some_and(|prefix| prefix & bit != 0);
    let is_free = |register: u8, bit: u8| match register & 7 {
        0 => !is_extended(bit),
        2 | 3 => is_extended(bit),
        _ => false,
    };
    let (source, target) = (4, 1);
    let length = match code {
        // `test` and `cmp` of two registers; `cmp` of a register and a number
        [0x84 | 0x85 | 0x38..=0x3b, 0xc0..=0xff, ..] => 2,
        [0x83, 0xf8..=0xff, ..] => 3,
        [0x81, 0xf8..=0xff, ..] => 6,
        // `mov` of a register
        [0x89, registers @ 0xc0..=0xff, ..] if is_free(*registers, target) => 2,
        [0x8b, registers @ 0xc0..=0xff, ..] if is_free(*registers >> 3, source) => 2,
        // `xor %eax, %eax`; `mov $imm32, %eax`
        [0x31 | 0x33, 0xc0, ..] if prefix.is_none() => 2,
        [0xb8, ..] if prefix.is_none() => 5,
        _ => return None,
    };
    Some(length + usize::from(prefix.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_at_the_entry_is_the_site() {
        assert_eq!(choose(&[0x55, 0x48, 0x89, 0xe5]), (0, true));
        assert_eq!(choose(&[0x41, 0x57, 0x48]), (0, true));
    }

    #[test]
    fn what_has_no_effect_is_passed_until_an_instruction_that_the_kernel_emulates() {
        let jumping = [0x81, 0x3d, 0, 0, 1, 0, 0, 0xba, 0x1c, 0x32, 0x74, 0x06, 0xff, 0x25];
        assert_eq!(choose(&jumping), (10, true));
        assert_eq!(choose(&[0xf3, 0x0f, 0x1e, 0xfa, 0x55]), (4, true));
    }

    #[test]
    fn what_compilers_put_before_a_push_is_passed() {
        let prologues: [&[u8]; 11] = [
            &[0x48, 0x89, 0xe0],             // mov %rsp, %rax
            &[0x49, 0x89, 0xfa],             // mov %rdi, %r10
            &[0x4c, 0x8b, 0xdc],             // mov %rsp, %r11
            &[0x48, 0x8b, 0xc4],             // mov %rsp, %rax
            &[0x31, 0xc0],                   // xor %eax, %eax
            &[0xb8, 1, 0, 0, 0],             // mov $1, %eax
            &[0x48, 0x85, 0xff],             // test %rdi, %rdi
            &[0x48, 0x39, 0xf7],             // cmp %rsi, %rdi
            &[0x48, 0x83, 0xfe, 0x10],       // cmp $16, %rsi
            &[0x81, 0xfe, 0, 1, 0, 0],       // cmp $256, %esi
            &[0x48, 0x81, 0xfe, 0, 1, 0, 0], // cmp $256, %rsi
        ];
        for prologue in prologues {
            for push in [&[0x53_u8][..], &[0x41, 0x54]] {
                let code = [&[0xf3, 0x0f, 0x1e, 0xfa], prologue, push].concat();
                assert_eq!(choose(&code), (4 + prologue.len() as u64, true), "{prologue:x?}");
            }
            // `jmp` and `je`, which a loop may come back to.
            for jump in [[0xeb_u8, 0xf0], [0x74, 0x05]] {
                assert_eq!(choose(&[prologue, &jump].concat()), (0, false), "{prologue:x?}");
            }
            // The end comes too early.
            for end in 0..prologue.len() {
                assert_eq!(choose(&prologue[..end]), (0, false), "{prologue:x?}");
            }
        }
    }

    #[test]
    fn an_instruction_that_changes_arguments_or_stack_is_never_passed() {
        // `sub $8, %rsp`, `mov %rsi, %rdi`, `xor %edi, %edi`, each before a `push`.
        // `mov %rax, %r8`, `mov %rax, %rdx`, `mov %rax, %rsp`, `mov %r10, %rdi`, `pop %rdi`, `add`.
        for first in [
            &[0x48_u8, 0x83, 0xec, 0x08][..],
            &[0x48, 0x89, 0xf7],
            &[0x31, 0xff],
            &[0x49, 0x89, 0xc0],
            &[0x48, 0x89, 0xc2],
            &[0x48, 0x89, 0xc4],
            &[0x4c, 0x89, 0xd7],
            &[0x48, 0x8b, 0xf8],
            &[0x4c, 0x8b, 0xc0],
            &[0x5f],
            &[0x48, 0x01, 0xf7],
            &[0x48, 0x83, 0xc7, 0x08],
            &[0x89, 0x07],
        ] {
            assert_eq!(choose(&[first, &[0x55]].concat()), (0, false), "{first:x?}");
        }
    }
}
