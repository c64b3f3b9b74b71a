//! Requests to callgrind, as `callgrind.h` defines them. Without valgrind they do nothing.

/// Whether valgrind runs this process: `VG_USERREQ__RUNNING_ON_VALGRIND`.
const RUNNING_ON_VALGRIND: usize = 0x1001;

/// The first request of callgrind: `VG_USERREQ_TOOL_BASE('C', 'T')`.
const CALLGRIND: usize = 0x4354_0000;
const DUMP_STATS: usize = CALLGRIND;
const ZERO_STATS: usize = CALLGRIND + 1;
const TOGGLE_COLLECT: usize = CALLGRIND + 2;

/// The instructions that announce a request: rotations of `rdi` by 3, 13, 61 and 51. No compiler
/// makes them.
const PREAMBLE: [u8; 16] = [
    0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d, 0x48, 0xc1, 0xc7, 0x3d, 0x48, 0xc1, 0xc7, 0x33,
];

/// Whether code sends requests to valgrind.
pub(super) fn speaks_to_valgrind(code: &[u8]) -> bool {
    code.windows(PREAMBLE.len()).any(|window| window == PREAMBLE)
}

/// Returns whether valgrind runs this process.
pub(super) fn is_under_valgrind() -> bool {
    send(RUNNING_ON_VALGRIND) > 0
}

/// Turns the collection on the calling thread on or off.
pub(super) fn toggle_collection() {
    send(TOGGLE_COLLECT);
}

/// Forgets everything collected so far.
pub(super) fn forget() {
    send(ZERO_STATS);
}

/// Makes callgrind write what it has collected to its next file, and forget it.
pub(super) fn write_down() {
    send(DUMP_STATS);
}

/// Sends a request without arguments. Returns its result; 0 without valgrind.
#[cfg(target_arch = "x86_64")]
fn send(request: usize) -> usize {
    let block = [request, 0, 0, 0, 0, 0];
    let result: usize;
    // SAFETY: the rotations restore the register, since their sum is 128, and the exchange does
    // nothing. Valgrind recognizes the sequence, reads the six words and writes the result.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") block.as_ptr(),
            inout("rdx") 0_usize => result,
            options(nostack),
        );
    }
    result
}

/// Other processors are not supported, so it looks as if there were no valgrind.
#[cfg(not(target_arch = "x86_64"))]
fn send(_request: usize) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_program_that_sends_requests_is_recognized() {
        let own = fs_err::read(std::env::current_exe().unwrap()).unwrap();
        assert!(speaks_to_valgrind(&own));
        assert!(!speaks_to_valgrind(&PREAMBLE[1..]));
        let inside = [&[0; 7], &PREAMBLE[..], &[1; 3]].concat();
        assert!(speaks_to_valgrind(&inside));
    }
}
