//! CUPTI's activity records. Each operation takes 700 ns, and the next one begins 300 ns later.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

type Request = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
type Complete = unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);

/// `CUPTI_ERROR_MAX_LIMIT_REACHED`: there is no further record.
const NO_MORE: c_int = 12;
/// `CUPTI_ERROR_INVALID_OPERATION`.
const INVALID_OPERATION: c_int = 7;

/// The words of a record: its kind, something, begin and end.
const WORDS: usize = 4;

static STATE: Mutex<State> = Mutex::new(State {
    callbacks: None,
    enabled: Vec::new(),
    operations: Vec::new(),
});

struct State {
    callbacks: Option<(Request, Complete)>,
    /// The kinds that are recorded.
    enabled: Vec<c_int>,
    /// The kinds of the operations since the last flush.
    operations: Vec<c_int>,
}

/// What a stream does.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Copy = 1,
    Fill = 2,
    Kernel = 10,
}

fn state() -> std::sync::MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes an operation.
pub(crate) fn queued(operation: Operation) {
    let mut state = state();
    if state.enabled.contains(&(operation as c_int)) {
        state.operations.push(operation as c_int);
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuptiActivityEnable(kind: c_int) -> c_int {
    state().enabled.push(kind);
    0
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuptiActivityDisable(kind: c_int) -> c_int {
    state().enabled.retain(|enabled| *enabled != kind);
    0
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuptiActivityRegisterCallbacks(request: Request, complete: Complete) -> c_int {
    state().callbacks = Some((request, complete));
    0
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuptiActivityFlushAll(_flag: u32) -> c_int {
    let (callbacks, operations) = {
        let mut state = state();
        (state.callbacks, std::mem::take(&mut state.operations))
    };
    let Some((request, complete)) = callbacks else {
        return INVALID_OPERATION;
    };
    let (mut buffer, mut bytes, mut most) = (null_mut(), 0, 0);
    // SAFETY: all three are places to write to.
    unsafe { request(&mut buffer, &mut bytes, &mut most) };
    let records = (1..).zip(operations).flat_map(|(number, kind)| {
        let start = 1000 * number;
        [kind as u64, 0, start, start + 700]
    });
    let records: Vec<u64> = records.take(bytes / size_of::<u64>()).collect();
    // SAFETY: the buffer has room for the records, which the callee reads and then frees.
    unsafe {
        std::ptr::copy_nonoverlapping(records.as_ptr(), buffer.cast(), records.len());
        complete(null_mut(), 0, buffer, bytes, size_of_val(&*records));
    }
    0
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuptiActivityGetNextRecord(
    buffer: *mut u8,
    valid: usize,
    record: *mut *mut u8,
) -> c_int {
    // SAFETY: the caller passes a place with null or with the record before.
    let before = unsafe { *record };
    let next = if before.is_null() {
        buffer
    } else {
        before.wrapping_add(WORDS * size_of::<u64>())
    };
    if next as usize >= buffer as usize + valid {
        return NO_MORE;
    }
    // SAFETY: as above.
    unsafe { *record = next };
    0
}
