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

/// The words of a record: its kind, something, begin and end; or for memory its kind and operation,
/// the kind of memory, address, bytes and time.
const WORDS: usize = 5;

/// `CUPTI_ACTIVITY_KIND_MEMORY2`.
const MEMORY: c_int = 49;
/// `CUPTI_ACTIVITY_MEMORY_KIND_DEVICE`.
const ON_DEVICE: u64 = 3;

static STATE: Mutex<State> = Mutex::new(State {
    callbacks: None,
    enabled: Vec::new(),
    operations: Vec::new(),
    memory: Vec::new(),
    time: 0,
});

struct State {
    callbacks: Option<(Request, Complete)>,
    /// The kinds that are recorded.
    enabled: Vec<c_int>,
    /// The kinds of the operations since the last flush.
    operations: Vec<c_int>,
    /// The records of memory since the last flush.
    memory: Vec<[u64; WORDS]>,
    /// The time of the last of them.
    time: u64,
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

/// Notes an allocation.
pub(crate) fn allocated(address: u64, bytes: u64) {
    memory(1, address, bytes);
}

/// Notes that an allocation ended.
pub(crate) fn released(address: u64) {
    memory(2, address, 0);
}

fn memory(operation: u64, address: u64, bytes: u64) {
    let mut state = state();
    if state.enabled.contains(&MEMORY) {
        state.time += 1;
        let record = [MEMORY as u64 | operation << 32, ON_DEVICE, address, bytes, state.time];
        state.memory.push(record);
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
    let (callbacks, operations, mut memory) = {
        let mut state = state();
        let operations = std::mem::take(&mut state.operations);
        (state.callbacks, operations, std::mem::take(&mut state.memory))
    };
    // The order of CUPTI's records is that of no time.
    memory.reverse();
    let Some((request, complete)) = callbacks else {
        return INVALID_OPERATION;
    };
    let (mut buffer, mut bytes, mut most) = (null_mut(), 0, 0);
    // SAFETY: all three are places to write to.
    unsafe { request(&mut buffer, &mut bytes, &mut most) };
    let records = (1..).zip(operations).flat_map(|(number, kind)| {
        let start = 1000 * number;
        [kind as u64, 0, start, start + 700, 0]
    });
    let records = records.chain(memory.into_iter().flatten());
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
