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
    while let Some(rest) = code.get(at..) {
        if is_emulated(rest) {
            return (at as u64, true);
        }
        match length_without_effect(rest) {
            Some(length) => at += length,
            None => break,
        }
    }
    (0, false)
}

/// Whether the kernel emulates the instruction: `push`, jumps, calls and `nop`, as
/// `arch/x86/kernel/uprobes.c` has them.
fn is_emulated(code: &[u8]) -> bool {
    matches!(
        code,
        [0x50..=0x57, ..]
            | [0x41, 0x50..=0x57, ..]
            | [0x70..=0x7f, _, ..]
            | [0x0f, 0x80..=0x8f, ..]
            | [0xe8 | 0xe9, ..]
            | [0xeb, _, ..]
            | [0x90, ..]
            | [0x0f, 0x1f, ..]
    )
}

/// Returns the length of an instruction that changes no argument, no memory and no stack pointer
/// and does not jump, if it is one of those that stubs begin with.
fn length_without_effect(code: &[u8]) -> Option<usize> {
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
    fn an_instruction_that_changes_arguments_or_stack_is_never_passed() {
        // `sub $8, %rsp`, `mov %rsi, %rdi`, `xor %edi, %edi`, each before a `push`.
        for first in [&[0x48_u8, 0x83, 0xec, 0x08][..], &[0x48, 0x89, 0xf7], &[0x31, 0xff]] {
            assert_eq!(choose(&[first, &[0x55]].concat()), (0, false), "{first:x?}");
        }
    }
}
