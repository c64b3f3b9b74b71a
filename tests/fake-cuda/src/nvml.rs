//! The management library: clocks, their lock, throttle reasons and the energy counter.
//!
//! The lock is a file that all processes share, because a real lock outlives the process that set
//! it.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use crate::behaviour::behaviour;
use crate::call::plain;
use crate::error::Refusal;

type Device = *mut c_void;

// Codes of `nvml.h`.
const INVALID_ARGUMENT: Refusal = Refusal(2);
const NOT_SUPPORTED: Refusal = Refusal(3);
const NOT_FOUND: Refusal = Refusal(6);
const INSUFFICIENT_SIZE: Refusal = Refusal(7);
const DRIVER_NOT_LOADED: Refusal = Refusal(9);

/// `nvmlClocksThrottleReasonSwPowerCap`.
const POWER_CAP: c_ulonglong = 4;
/// `nvmlClocksThrottleReasonApplicationsClocksSetting`.
const SETTING: c_ulonglong = 2;

/// `NVML_CLOCK_LIMIT_ID_TDP`, and the first of such symbols.
const TDP: c_uint = 0xffff_ff01;
const SYMBOLS: c_uint = 0xffff_ff00;

// Clock domains and their clocks in MHz.
const GRAPHICS: c_uint = 0;
const SM: c_uint = 1;
const MEMORY: c_uint = 2;
const MEMORY_MHZ: c_uint = 2619;
const HIGHEST_MHZ: c_uint = 1980;
const RATED_MHZ: c_uint = 1395;
const THROTTLED_MHZ: c_uint = 1200;
const SUPPORTED_MHZ: [c_uint; 5] = [HIGHEST_MHZ, 1965, 1410, RATED_MHZ, 345];

const UUID: &CStr = c"GPU-00000000-0000-0000-0000-000000000000";

fn folder() -> Result<&'static PathBuf, Refusal> {
    behaviour().nvml.as_ref().ok_or(DRIVER_NOT_LOADED)
}

/// Returns the file with the locked clock in MHz. Without a lock there is none.
fn lock_file() -> Result<PathBuf, Refusal> {
    Ok(folder()?.join("locked_clock"))
}

fn locked() -> Option<c_uint> {
    let text = std::fs::read_to_string(lock_file().ok()?).ok()?;
    text.trim().parse().ok()
}

/// Adds a line to the list of changes.
fn note(change: &str) -> Result<(), Refusal> {
    let file = folder()?.join("clock_changes");
    let file = OpenOptions::new().create(true).append(true).open(file);
    writeln!(file.expect("the folder is there"), "{change}").expect("a line can be written");
    Ok(())
}

/// Whether the reading of the throttle reasons with this number finds a cap.
fn is_throttled(reading: u32) -> bool {
    let within = |(from, to): &(u32, u32)| (*from..*to).contains(&reading);
    behaviour().throttled.iter().any(within)
}

/// The readings of the throttle reasons so far.
static READINGS: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlInit_v2() -> c_int {
    plain("nvmlInit_v2", || folder().map(drop))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlShutdown() -> c_int {
    0
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlSystemGetDriverVersion(text: *mut c_char, bytes: c_uint) -> c_int {
    plain("nvmlSystemGetDriverVersion", || copy(c"580.1", text, bytes))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetCount_v2(count: *mut c_uint) -> c_int {
    plain("nvmlDeviceGetCount_v2", || put(count, 1))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: *mut Device) -> c_int {
    plain("nvmlDeviceGetHandleByIndex_v2", || match index {
        0 => put(device, std::ptr::dangling_mut()),
        _ => Err(INVALID_ARGUMENT),
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetHandleByUUID(uuid: *const c_char, device: *mut Device) -> c_int {
    // SAFETY: the caller passes text that ends with a zero.
    let uuid = unsafe { CStr::from_ptr(uuid) };
    plain("nvmlDeviceGetHandleByUUID", || {
        if uuid == UUID {
            put(device, std::ptr::dangling_mut())
        } else {
            Err(NOT_FOUND)
        }
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetUUID(_device: Device, text: *mut c_char, bytes: c_uint) -> c_int {
    plain("nvmlDeviceGetUUID", || copy(UUID, text, bytes))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetName(_device: Device, text: *mut c_char, bytes: c_uint) -> c_int {
    plain("nvmlDeviceGetName", || copy(c"Fake GPU", text, bytes))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetClockInfo(_device: Device, domain: c_uint, clock: *mut c_uint) -> c_int {
    plain("nvmlDeviceGetClockInfo", || match domain {
        GRAPHICS | SM if is_throttled(READINGS.load(Ordering::Relaxed) + 1) => put(clock, THROTTLED_MHZ),
        GRAPHICS | SM => put(clock, locked().unwrap_or(HIGHEST_MHZ)),
        MEMORY => put(clock, MEMORY_MHZ),
        _ => Err(INVALID_ARGUMENT),
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetMaxClockInfo(
    _device: Device,
    domain: c_uint,
    clock: *mut c_uint,
) -> c_int {
    plain("nvmlDeviceGetMaxClockInfo", || match domain {
        GRAPHICS | SM => put(clock, HIGHEST_MHZ),
        MEMORY => put(clock, MEMORY_MHZ),
        _ => Err(INVALID_ARGUMENT),
    })
}

/// Application clocks are deprecated and no longer there in recent drivers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetDefaultApplicationsClock(
    _device: Device,
    _domain: c_uint,
    _clock: *mut c_uint,
) -> c_int {
    plain("nvmlDeviceGetDefaultApplicationsClock", || Err(NOT_SUPPORTED))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetSupportedMemoryClocks(
    _device: Device,
    count: *mut c_uint,
    clocks: *mut c_uint,
) -> c_int {
    plain("nvmlDeviceGetSupportedMemoryClocks", || {
        list(&[MEMORY_MHZ, 1593], count, clocks)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetSupportedGraphicsClocks(
    _device: Device,
    memory: c_uint,
    count: *mut c_uint,
    clocks: *mut c_uint,
) -> c_int {
    plain("nvmlDeviceGetSupportedGraphicsClocks", || match memory {
        MEMORY_MHZ => list(&SUPPORTED_MHZ, count, clocks),
        _ => Err(NOT_FOUND),
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceSetGpuLockedClocks(_device: Device, low: c_uint, high: c_uint) -> c_int {
    plain("nvmlDeviceSetGpuLockedClocks", || {
        let clock = match (low, high) {
            (TDP, TDP) => RATED_MHZ,
            // Numbers and symbols do not mix, and this GPU locks one clock.
            (low, high) if low != high || low > SYMBOLS => return Err(INVALID_ARGUMENT),
            (clock, _) => clock,
        };
        std::fs::write(lock_file()?, clock.to_string()).expect("a file can be written");
        note(&format!("lock {clock}"))
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceResetGpuLockedClocks(_device: Device) -> c_int {
    plain("nvmlDeviceResetGpuLockedClocks", || {
        // There may be no lock.
        let _ = std::fs::remove_file(lock_file()?);
        note("unlock")
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetCurrentClocksThrottleReasons(
    _device: Device,
    reasons: *mut c_ulonglong,
) -> c_int {
    plain("nvmlDeviceGetCurrentClocksThrottleReasons", || {
        let reading = READINGS.fetch_add(1, Ordering::Relaxed) + 1;
        let cap = if is_throttled(reading) { POWER_CAP } else { 0 };
        let setting = if locked().is_some() { SETTING } else { 0 };
        put(reasons, cap | setting)
    })
}

/// The counter moves every 20 ms, by the energy of 100 W.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetTotalEnergyConsumption(
    _device: Device,
    millijoules: *mut c_ulonglong,
) -> c_int {
    plain("nvmlDeviceGetTotalEnergyConsumption", || {
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let steps = now.as_millis() as c_ulonglong / 20;
        put(millijoules, steps * 20 * 100)
    })
}

fn put<T>(place: *mut T, value: T) -> Result<(), Refusal> {
    // SAFETY: the caller passes a valid pointer.
    unsafe { place.write(value) };
    Ok(())
}

fn copy(text: &CStr, place: *mut c_char, bytes: c_uint) -> Result<(), Refusal> {
    let text = text.to_bytes_with_nul();
    if (bytes as usize) < text.len() {
        return Err(INSUFFICIENT_SIZE);
    }
    // SAFETY: the caller's buffer has `bytes` bytes, which are enough for the text.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast(), text.len()) };
    Ok(())
}

fn list(clocks: &[c_uint], count: *mut c_uint, place: *mut c_uint) -> Result<(), Refusal> {
    // SAFETY: the caller passes a valid pointer to the size of its list.
    let size = unsafe { count.replace(clocks.len() as c_uint) };
    if (size as usize) < clocks.len() {
        return Err(INSUFFICIENT_SIZE);
    }
    // SAFETY: the caller's list has enough places.
    unsafe { std::ptr::copy_nonoverlapping(clocks.as_ptr(), place, clocks.len()) };
    Ok(())
}
