//! What the code at an exported symbol is.

/// What the code at an exported symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A stub that jumps through a slot: `libcuda` 535.
    Jump,
    /// A stub that calls through a slot, and looks at the result: `libcuda` 580.
    Call,
    /// Something else: the function itself.
    Plain,
}

/// A stub, as its bytes tell it. Offsets are from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stub {
    pub(super) shape: Shape,
    /// Where the slot is, from the stub's beginning.
    pub(super) slot: i64,
    /// Where it goes after an error.
    pub(super) failure: Option<u64>,
}

/// How much of a function is looked at. The slot comes within 65 bytes in `libcuda` 580.
pub(super) const LOOKED_AT: usize = 160;
const SLOT_WITHIN: usize = 96;

/// `cmpl $imm32, disp32(%rip)`: stubs begin by asking whether the driver is shut down.
const COMPARE: [u8; 2] = [0x81, 0x3d];
const JUMP_SLOT: [u8; 2] = [0xff, 0x25];
const CALL_SLOT: [u8; 2] = [0xff, 0x15];
/// `mov %eax, %r12d`: the result is kept where the way out after an error finds it.
const KEEP_RESULT: [u8; 3] = [0x41, 0x89, 0xc4];
/// `cmp $1, %eax`: the last comparison before the way out.
const LAST_COMPARE: [u8; 3] = [0x83, 0xf8, 0x01];

/// Reads the code of a function. The caller checks that a relocation fills the slot.
pub(super) fn read(code: &[u8]) -> Option<Stub> {
    let near = &code[..code.len().min(SLOT_WITHIN)];
    let compare = find(near, &COMPARE)?;
    let after = compare + COMPARE.len() + 8;
    let rest = near.get(after..)?;
    let jump = find(rest, &JUMP_SLOT).map(|at| (Shape::Jump, after + at));
    let call = find(rest, &CALL_SLOT).map(|at| (Shape::Call, after + at));
    let (shape, at) = [jump, call].into_iter().flatten().min_by_key(|(_, at)| *at)?;
    let end = at + 6;
    let slot = end as i64 + i64::from(number(code, at + 2)?);
    let failure = (shape == Shape::Call).then(|| failure(code, end)).flatten();
    Some(Stub { shape, slot, failure })
}

/// Returns where a calling stub goes after an error: the target of the `ja` after its comparisons.
fn failure(code: &[u8], after_call: usize) -> Option<u64> {
    if code.get(after_call..after_call + 3)? != KEEP_RESULT {
        return None;
    }
    let last = after_call + find(code.get(after_call..)?, &LAST_COMPARE)? + LAST_COMPARE.len();
    let target = match code.get(last..)? {
        [0x77, near, ..] => last as i64 + 2 + i64::from(near.cast_signed()),
        [0x0f, 0x87, ..] => last as i64 + 6 + i64::from(number(code, last + 2)?),
        _ => return None,
    };
    let target = usize::try_from(target).ok()?;
    // Nothing but this jump leads there: what comes before it cannot run into it.
    let before = code.get(..target)?;
    let is_behind_a_return = target > last && ends_with_return(before);
    is_behind_a_return.then_some(target as u64)
}

/// Whether code ends with `ret`, and perhaps padding.
fn ends_with_return(code: &[u8]) -> bool {
    // Padding is `nop`s of several lengths: `90`, `66 90`, and `0f 1f` with zeros.
    let code = &code[code.len().saturating_sub(17)..];
    let padding = [0x00, 0x0f, 0x1f, 0x2e, 0x40, 0x44, 0x66, 0x80, 0x84, 0x90];
    let last = code.iter().rposition(|byte| !padding.contains(byte));
    last.is_some_and(|last| code[last] == 0xc3)
}

fn find(code: &[u8], wanted: &[u8]) -> Option<usize> {
    code.windows(wanted.len()).position(|window| window == wanted)
}

fn number(code: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_le_bytes(code.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUMPING: &[u8] = &[
        0x81, 0x3d, 0, 0, 1, 0, 0x00, 0xba, 0x1c, 0x32, // cmpl $0x321cba00, flag(%rip)
        0x74, 0x06, // je dead
        0xff, 0x25, 0x10, 0, 0, 0, // jmp *slot(%rip)
        0xb8, 4, 0, 0, 0, 0xc3, // dead: mov $4, %eax; ret
    ];

    const CALLING: &[u8] = &[
        0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x48, 0x83, 0xec, 0x08, // push, mov, push, sub
        0x81, 0x3d, 0, 0, 1, 0, 0x00, 0xba, 0x1c, 0x32, // cmpl
        0x74, 0x40, // je dead
        0xff, 0x15, 0x00, 0x01, 0, 0, // call *slot(%rip)
        0x41, 0x89, 0xc4, 0x85, 0xc0, 0x74, 0x0f, // mov %eax, %r12d; test; je out
        0x3d, 0x58, 0x02, 0, 0, 0x74, 0x08, // cmp $600, %eax; je out
        0x8d, 0x40, 0xfd, 0x83, 0xf8, 0x01, 0x77, 0x0a, // lea -3(%rax), %eax; cmp $1; ja failed
        0x44, 0x89, 0xe0, 0x4c, 0x8b, 0x65, 0xf8, 0xc9, 0xc3, // out: …; leave; ret
        0x90, // padding
        0xb9, 0x64, 0, 0, 0, // failed: …
    ];

    #[test]
    fn a_stub_that_jumps_is_recognised() {
        let stub = read(JUMPING).expect("a stub");
        assert_eq!((stub.shape, stub.slot, stub.failure), (Shape::Jump, 18 + 16, None));
    }

    #[test]
    fn a_stub_that_calls_tells_its_way_out_after_an_error() {
        let stub = read(CALLING).expect("a stub");
        assert_eq!((stub.shape, stub.slot), (Shape::Call, 28 + 256));
        assert_eq!(stub.failure, Some(60));
        assert_eq!(CALLING[60], 0xb9);
    }

    #[test]
    fn a_way_out_that_other_code_can_run_into_is_not_used() {
        let mut code = CALLING.to_vec();
        code[58] = 0x50;
        assert_eq!(read(&code).expect("a stub").failure, None);
    }

    #[test]
    fn a_function_that_calls_through_a_pointer_is_no_stub() {
        assert_eq!(
            read(&[0x55, 0x48, 0x89, 0xe5, 0xff, 0x15, 1, 0, 0, 0, 0x5d, 0xc3]),
            None
        );
    }
}
