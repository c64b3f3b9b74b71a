//! CUPTI's range profiler. Each warp of a kernel executes 23 instructions. Every other metric is
//! the number of passes that it took. Several metrics take two, not counting durations.

use std::ffi::{CStr, c_char, c_int};
use std::fs::File;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

/// `CUPTI_ERROR_INVALID_PARAMETER`, which CUPTI 13.0 returns for an unknown metric.
const INVALID_PARAMETER: c_int = 1;
/// `CUPTI_ERROR_INVALID_OPERATION`.
const INVALID_OPERATION: c_int = 7;

/// `CUPTI_ERROR_HARDWARE_BUSY`.
const HARDWARE_BUSY: c_int = 26;

/// The instructions of a warp, unless `FAKE_CUPTI_OF_A_WARP` has another number.
const OF_A_WARP: u64 = 23;

fn of_a_warp() -> u64 {
    let number = std::env::var("FAKE_CUPTI_OF_A_WARP").ok();
    number.and_then(|number| number.parse().ok()).unwrap_or(OF_A_WARP)
}

const INSTRUCTIONS: &CStr = c"smsp__inst_executed.sum";
const DURATION: &CStr = c"gpu__time_duration.sum";

/// `CUPTI_AutoRange`.
const AUTO_RANGE: u32 = 1;

/// The object that stands for the host and for the profiler.
const OBJECT: u64 = 0x0C07;

static STATE: Mutex<State> = Mutex::new(State {
    counters: None,
    metrics: 0,
    passes: 0,
    is_open: false,
    each_kernel: false,
    warps: Vec::new(),
});

struct State {
    /// The counters of the GPU, which one process can have.
    counters: Option<File>,
    metrics: usize,
    passes: u64,
    /// Whether a range is open, or every kernel is one.
    is_open: bool,
    /// Whether every kernel is a range.
    each_kernel: bool,
    /// The warps of each range of the last pass.
    warps: Vec<u64>,
}

fn state() -> std::sync::MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the counters, unless another process has them.
fn take_counters() -> Option<File> {
    let folder = std::env::var_os("FAKE_NVML")?;
    let path = std::path::Path::new(&folder).join("counters");
    let file = File::options().create(true).append(true).open(path).ok()?;
    file.try_lock().is_ok().then_some(file)
}

/// Notes a launch.
pub(crate) fn launched(blocks: u64, threads: u64) {
    let mut state = state();
    if state.is_open && state.each_kernel {
        state.warps.push(0);
    }
    if state.is_open
        && let Some(warps) = state.warps.last_mut()
    {
        *warps += blocks * threads.div_ceil(32);
    }
}

/// Returns the word at a byte offset of a parameter structure.
unsafe fn word(parameters: *mut u8, offset: usize) -> u64 {
    // SAFETY: the caller passes a structure of CUPTI with a word there.
    unsafe { parameters.add(offset).cast::<u64>().read_unaligned() }
}

unsafe fn set(parameters: *mut u8, offset: usize, value: u64) {
    // SAFETY: as for `word`.
    unsafe { parameters.add(offset).cast::<u64>().write_unaligned(value) };
}

macro_rules! functions {
    ($(fn $name:ident($parameters:ident) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($parameters: *mut u8) -> c_int {
            $body
        }
    )*};
}

functions! {
    fn cuptiProfilerInitialize(_parameters) {
        std::env::var("FAKE_CUPTI_RESULT").ok().and_then(|result| result.parse().ok()).unwrap_or(0)
    }
    fn cuptiDeviceGetChipName(parameters) {
        // SAFETY: the caller's structure has the name's address there.
        unsafe { set(parameters, 24, c"FAKE".as_ptr() as u64) };
        0
    }
    fn cuptiProfilerGetCounterAvailability(parameters) {
        if state().counters.is_none() {
            // The driver takes the counters for a moment to look at them.
            let Some(_taken) = take_counters() else {
                return HARDWARE_BUSY;
            };
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        // SAFETY: the caller's structure has the size of the image there.
        unsafe { set(parameters, 24, 8) };
        0
    }
    fn cuptiProfilerHostInitialize(parameters) {
        // SAFETY: the caller's structure has the object there.
        unsafe { set(parameters, 40, OBJECT) };
        0
    }
    fn cuptiProfilerHostDeinitialize(_parameters) { 0 }
    fn cuptiProfilerHostConfigAddMetrics(parameters) {
        // SAFETY: the caller's structure has an array with one name there.
        let name = unsafe { CStr::from_ptr(*(word(parameters, 24) as *const *const c_char)) };
        if name.to_bytes().starts_with(b"bogus") {
            return INVALID_PARAMETER;
        }
        state().metrics += usize::from(name != DURATION);
        0
    }
    fn cuptiProfilerHostGetConfigImageSize(parameters) {
        // SAFETY: the caller's structure has the size there.
        unsafe { set(parameters, 24, 16) };
        0
    }
    fn cuptiProfilerHostGetConfigImage(_parameters) { 0 }
    fn cuptiProfilerHostEvaluateToGpuValues(parameters) {
        let state = state();
        // SAFETY: the caller's structure has the range, the names, their number and the values
        // there.
        unsafe {
            let range = word(parameters, 40) as usize;
            let (names, values) = (word(parameters, 48) as *const *const c_char, word(parameters, 64) as *mut f64);
            for position in 0..word(parameters, 56) as usize {
                let is_count = CStr::from_ptr(*names.add(position)) == INSTRUCTIONS;
                let value = if is_count { of_a_warp() * state.warps[range] } else { state.passes };
                values.add(position).write(value as f64);
            }
        }
        0
    }
    fn cuptiRangeProfilerEnable(parameters) {
        match take_counters() {
            None => return HARDWARE_BUSY,
            Some(mut counters) => {
                // A line tells that they were taken to count.
                writeln!(counters, "taken").expect("the file can be written");
                state().counters = Some(counters);
            }
        }
        // SAFETY: the caller's structure has the object there.
        unsafe { set(parameters, 24, OBJECT) };
        0
    }
    fn cuptiRangeProfilerDisable(_parameters) {
        state().counters = None;
        0
    }
    fn cuptiRangeProfilerGetCounterDataSize(parameters) {
        // SAFETY: the caller's structure has the size there.
        unsafe { set(parameters, 56, 64) };
        0
    }
    fn cuptiRangeProfilerCounterDataImageInitialize(_parameters) {
        state().passes = 0;
        0
    }
    fn cuptiRangeProfilerSetConfig(parameters) {
        // SAFETY: the caller's structure has the kind of ranges there.
        state().each_kernel = unsafe { parameters.add(56).cast::<u32>().read_unaligned() } == AUTO_RANGE;
        0
    }
    fn cuptiRangeProfilerStart(_parameters) {
        let mut state = state();
        state.passes += 1;
        state.warps.clear();
        state.is_open = state.each_kernel;
        0
    }
    fn cuptiRangeProfilerPushRange(_parameters) {
        let mut state = state();
        if state.is_open || state.each_kernel {
            return INVALID_OPERATION;
        }
        state.is_open = true;
        state.warps.push(0);
        0
    }
    fn cuptiRangeProfilerPopRange(_parameters) {
        let mut state = state();
        if !state.is_open {
            return INVALID_OPERATION;
        }
        state.is_open = false;
        0
    }
    fn cuptiRangeProfilerStop(parameters) {
        let mut state = state();
        state.is_open = false;
        let needed = if state.metrics > 1 { 2 } else { 1 };
        // SAFETY: the caller's structure has a byte there.
        unsafe { parameters.add(40).write(u8::from(state.passes >= needed)) };
        0
    }
    fn cuptiRangeProfilerDecodeData(parameters) {
        // SAFETY: the caller's structure has the number of dropped ranges there.
        unsafe { set(parameters, 24, 0) };
        0
    }
    fn cuptiRangeProfilerGetCounterDataInfo(parameters) {
        // SAFETY: the caller's structure has the number of ranges there.
        unsafe { set(parameters, 32, state().warps.len() as u64) };
        0
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuptiGetResultString(result: c_int, text: *mut *const c_char) -> c_int {
    let name = match result {
        35 => c"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
        _ => c"CUPTI_ERROR_UNKNOWN",
    };
    // SAFETY: the caller passes a valid pointer.
    unsafe { *text = name.as_ptr() };
    0
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuptiGetVersion(version: *mut u32) -> c_int {
    // SAFETY: the caller passes a valid pointer.
    unsafe { *version = 130_000 };
    0
}
