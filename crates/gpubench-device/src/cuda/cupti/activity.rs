//! CUPTI's activity records: when each kernel, copy and fill of this process began and ended, and
//! what device memory it allocated and released.
#![allow(non_snake_case)]

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::os::unix::Library as Opened;

use super::library::{INSTALL, not_found, open_with_companions};
use crate::cuda::library::unusable;
use crate::toolkits::cupti_libraries;
use crate::{Absence, DeviceError, Operation, OperationKind, Tracer};

type RequestBuffer = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
type CompleteBuffer = unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);

/// The functions of CUPTI for records.
struct Functions {
    enable: unsafe extern "C" fn(c_int) -> c_int,
    disable: unsafe extern "C" fn(c_int) -> c_int,
    register: unsafe extern "C" fn(RequestBuffer, CompleteBuffer) -> c_int,
    next: unsafe extern "C" fn(*mut u8, usize, *mut *mut u8) -> c_int,
    flush: unsafe extern "C" fn(u32) -> c_int,
}

/// The kinds of records, with `CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL`, which keeps kernels
/// concurrent, `.._MEMCPY` and `.._MEMSET`.
const KINDS: [(c_int, OperationKind); 3] = [
    (10, OperationKind::Kernel),
    (1, OperationKind::Copy),
    (2, OperationKind::Fill),
];

/// Byte offsets of the start and end times in all these records, the same since CUDA 6.5.
const START: usize = 16;
const END: usize = 24;

/// `CUPTI_ACTIVITY_KIND_MEMORY2`, which has a record of each allocation and of each release.
const MEMORY: c_int = 49;

/// Byte offsets in these records, the same since CUDA 11.2.
const MEMORY_OPERATION: usize = 4;
const MEMORY_KIND: usize = 8;
const ADDRESS: usize = 16;
const BYTES: usize = 24;
const TIMESTAMP: usize = 32;

/// The kinds of memory that is allocated on the device: `CUPTI_ACTIVITY_MEMORY_KIND_DEVICE`,
/// `.._ARRAY` and `.._MANAGED`. Before them are those of the host, after them variables of modules.
const ON_DEVICE: std::ops::RangeInclusive<u32> = 3..=5;

/// `CUPTI_ACTIVITY_FLAG_FLUSH_FORCED`.
const FORCED: u32 = 1;

/// A buffer of records. CUPTI asks for another if it is full.
const BUFFER: Layout = match Layout::from_size_align(1 << 20, 8) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};

/// CUPTI's callbacks have no argument of ours, so what they need and return is here.
static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
static RECORDED: Mutex<Recorded> = Mutex::new(Recorded {
    operations: Vec::new(),
    memory: Vec::new(),
});

/// What CUPTI has recorded and nobody has taken yet.
struct Recorded {
    operations: Vec<Operation>,
    memory: Vec<MemoryRecord>,
}

/// An allocation of device memory, or its release.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryRecord {
    /// CUPTI's time, in nanoseconds.
    pub(super) at: u64,
    pub(super) operation: MemoryOperation,
    pub(super) address: u64,
    pub(super) bytes: u64,
}

/// What happened to memory: `CUpti_ActivityMemoryOperationType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryOperation {
    Allocated = 1,
    Released = 2,
}

/// CUPTI, which records what this process does.
pub(super) struct Recorder(&'static Functions);

/// Records the operations of this process.
pub(in crate::cuda) struct CuptiTracer(Recorder);

impl CuptiTracer {
    /// Opens CUPTI.
    ///
    /// # Errors
    /// [`DeviceError::Absent`] when it is not found, or refuses.
    pub(in crate::cuda) fn open() -> Result<CuptiTracer, DeviceError> {
        Recorder::open("when the GPU works is recorded by CUPTI").map(CuptiTracer)
    }
}

impl Recorder {
    /// Opens CUPTI, which somebody needs.
    ///
    /// # Errors
    /// [`DeviceError::Absent`] when it is not found, or refuses.
    pub(super) fn open(need: &str) -> Result<Recorder, DeviceError> {
        let functions = match FUNCTIONS.get() {
            Some(functions) => functions,
            None => {
                let found = Functions::find(need).map_err(DeviceError::Absent)?;
                FUNCTIONS.get_or_init(|| found)
            }
        };
        // SAFETY: both callbacks live as long as the process.
        let registered = unsafe { (functions.register)(request, complete) };
        checked("cuptiActivityRegisterCallbacks", registered)?;
        Ok(Recorder(functions))
    }

    /// Records allocations and releases from now on.
    pub(super) fn record_memory(&self) -> Result<(), DeviceError> {
        self.enable(MEMORY)
    }

    /// Returns the allocations and releases since the last call.
    pub(super) fn memory(&self) -> Result<Vec<MemoryRecord>, DeviceError> {
        self.flush()?;
        Ok(std::mem::take(&mut recorded().memory))
    }

    fn enable(&self, kind: c_int) -> Result<(), DeviceError> {
        // SAFETY: it takes a number.
        checked("cuptiActivityEnable", unsafe { (self.0.enable)(kind) })
    }

    fn disable(&self, kind: c_int) -> Result<(), DeviceError> {
        // SAFETY: it takes a number.
        checked("cuptiActivityDisable", unsafe { (self.0.disable)(kind) })
    }

    fn flush(&self) -> Result<(), DeviceError> {
        // SAFETY: the callbacks are registered.
        checked("cuptiActivityFlushAll", unsafe { (self.0.flush)(FORCED) })
    }
}

impl Tracer for CuptiTracer {
    fn begin(&mut self) -> Result<(), DeviceError> {
        KINDS.iter().try_for_each(|(kind, _)| self.0.enable(*kind))?;
        self.0.flush()?;
        recorded().operations.clear();
        Ok(())
    }

    fn end(&mut self) -> Result<Vec<Operation>, DeviceError> {
        self.0.flush()?;
        KINDS.iter().try_for_each(|(kind, _)| self.0.disable(*kind))?;
        Ok(std::mem::take(&mut recorded().operations))
    }
}

impl Functions {
    /// Finds the functions in the first CUPTI that has them.
    fn find(need: &str) -> Result<Functions, Absence> {
        let found = cupti_libraries().iter().find_map(|path| {
            let library = open_with_companions(path)?;
            let functions = Functions::resolve(&library)?;
            // It stays open: the functions must remain valid.
            std::mem::forget(library);
            Some(functions)
        });
        found.ok_or_else(|| not_found(need))
    }

    fn resolve(library: &Opened) -> Option<Functions> {
        // SAFETY: the signatures are those that CUPTI's headers declare.
        unsafe {
            Some(Functions {
                enable: *library.get(b"cuptiActivityEnable\0").ok()?,
                disable: *library.get(b"cuptiActivityDisable\0").ok()?,
                register: *library.get(b"cuptiActivityRegisterCallbacks\0").ok()?,
                next: *library.get(b"cuptiActivityGetNextRecord\0").ok()?,
                flush: *library.get(b"cuptiActivityFlushAll\0").ok()?,
            })
        }
    }
}

fn recorded() -> std::sync::MutexGuard<'static, Recorded> {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn checked(call: &str, result: c_int) -> Result<(), DeviceError> {
    match result {
        0 => Ok(()),
        code => Err(DeviceError::Absent(unusable(
            format!("`{call}` of CUPTI returned `{code}`"),
            INSTALL,
        ))),
    }
}

/// Gives CUPTI an empty buffer.
unsafe extern "C" fn request(buffer: *mut *mut u8, bytes: *mut usize, most_records: *mut usize) {
    // SAFETY: the size is not zero. CUPTI passes three places to write to. Without a buffer it
    // drops records.
    unsafe {
        *buffer = alloc(BUFFER);
        *bytes = if (*buffer).is_null() { 0 } else { BUFFER.size() };
        *most_records = 0;
    }
}

/// Reads a buffer that CUPTI returns, and frees it.
unsafe extern "C" fn complete(_context: *mut c_void, _stream: u32, buffer: *mut u8, _bytes: usize, valid: usize) {
    let (mut record, mut recorded) = (null_mut::<u8>(), recorded());
    if let (Some(functions), false) = (FUNCTIONS.get(), buffer.is_null()) {
        // SAFETY: CUPTI has written `valid` bytes of records to the buffer.
        while unsafe { (functions.next)(buffer, valid, &mut record) } == 0 {
            // SAFETY: every record begins with its kind.
            let number = unsafe { record.cast::<c_int>().read_unaligned() };
            // SAFETY: each offset below is that of a field in a record of its kind.
            let word = |offset| unsafe { record.add(offset).cast::<u32>().read_unaligned() };
            // SAFETY: as above.
            let long = |offset| unsafe { record.add(offset).cast::<u64>().read_unaligned() };
            if number == MEMORY {
                let operation = [MemoryOperation::Allocated, MemoryOperation::Released]
                    .into_iter()
                    .find(|operation| *operation as u32 == word(MEMORY_OPERATION))
                    .filter(|_| ON_DEVICE.contains(&word(MEMORY_KIND)));
                recorded.memory.extend(operation.map(|operation| MemoryRecord {
                    at: long(TIMESTAMP),
                    operation,
                    address: long(ADDRESS),
                    bytes: long(BYTES),
                }));
            }
            let kind = KINDS.into_iter().find(|(known, _)| *known == number);
            recorded.operations.extend(kind.map(|(_, kind)| Operation {
                kind,
                start_ns: long(START),
                end_ns: long(END),
            }));
        }
        // SAFETY: `request` has allocated it in this way.
        unsafe { dealloc(buffer, BUFFER) };
    }
}
