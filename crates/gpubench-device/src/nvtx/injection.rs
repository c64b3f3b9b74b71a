//! The application side of NVTX version 3: function tables that a profiler's library fills.
//!
//! The library exports `InitializeInjectionNvtx2`. It receives a function that returns tables by
//! number. The table of callbacks has a function that returns an array for each NVTX module. The
//! array has the addresses of the slots in which the library can put its functions.

use std::ffi::{OsString, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

use super::{INJECTION, Nvtx, NvtxError, Pop, Push};

/// The largest number of functions per module, including the unused number 0.
const SLOTS: usize = 16;

/// The number of modules, including the unused number 0: none, core, CUDA, OpenCL, CUDA runtime,
/// core 2, sync.
const MODULES: usize = 7;

/// The number after the last function of each module.
const SIZES: [c_uint; MODULES] = [0, 16, 9, 15, 7, 16, 7];

const CORE: usize = 1;
const RANGE_PUSH_A: usize = 9;
const RANGE_POP: usize = 11;

/// The number of the callbacks table.
const CALLBACKS: u32 = 1;
/// The number of the version table.
const VERSIONS: u32 = 3;
/// The NVTX version that this code implements.
const NVTX_VERSION: u32 = 3;

type Slot = AtomicPtr<c_void>;

/// The slots for a profiler's functions.
static FUNCTIONS: [[Slot; SLOTS]; MODULES] = [const { [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS] }; MODULES];

/// The addresses of the slots of a module, with a null at either end.
#[repr(transparent)]
struct Table([*const Slot; SLOTS + 1]);

// SAFETY: the table never changes, and it points to atomics that live for ever.
unsafe impl Sync for Table {}

static TABLES: [Table; MODULES] = [
    table(&FUNCTIONS[0]),
    table(&FUNCTIONS[1]),
    table(&FUNCTIONS[2]),
    table(&FUNCTIONS[3]),
    table(&FUNCTIONS[4]),
    table(&FUNCTIONS[5]),
    table(&FUNCTIONS[6]),
];

const fn table(slots: &'static [Slot; SLOTS]) -> Table {
    let mut addresses = [ptr::null(); SLOTS + 1];
    let mut number = 1;
    while number < SLOTS {
        addresses[number] = &raw const slots[number];
        number += 1;
    }
    Table(addresses)
}

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct Callbacks {
    bytes: usize,
    module_table: extern "C" fn(c_int, *mut *const *const Slot, *mut c_uint) -> c_int,
}

static CALLBACK_TABLE: Callbacks = Callbacks {
    bytes: size_of::<Callbacks>(),
    module_table,
};

/// `NvtxExportTableVersionInfo`.
#[repr(C)]
struct Versions {
    bytes: usize,
    version: u32,
    reserved: u32,
    set_profilers_version: extern "C" fn(u32),
}

static VERSION_TABLE: Versions = Versions {
    bytes: size_of::<Versions>(),
    version: NVTX_VERSION,
    reserved: 0,
    set_profilers_version,
};

/// Every profiler version is accepted.
extern "C" fn set_profilers_version(_: u32) {}

/// `NvtxGetExportTableFunc_t`.
extern "C" fn export_table(number: u32) -> *const c_void {
    match number {
        CALLBACKS => (&raw const CALLBACK_TABLE).cast(),
        VERSIONS => (&raw const VERSION_TABLE).cast(),
        _ => ptr::null(),
    }
}

/// `GetModuleFunctionTable`: returns the table of a module and the number after its last function.
extern "C" fn module_table(module: c_int, table: *mut *const *const Slot, size: *mut c_uint) -> c_int {
    let known = usize::try_from(module)
        .ok()
        .filter(|module| (CORE..MODULES).contains(module));
    let (found, count) = match known {
        Some(module) => (TABLES[module].0.as_ptr(), SIZES[module]),
        None => (ptr::null(), 0),
    };
    if !size.is_null() {
        // SAFETY: the profiler passes null or the address of a variable for the number.
        unsafe { size.write(count) };
    }
    if !table.is_null() {
        // SAFETY: the profiler passes null or the address of a variable for the table's address.
        unsafe { table.write(found) };
    }
    c_int::from(known.is_some())
}

/// `InitializeInjectionNvtx2`.
type Initialize = unsafe extern "C" fn(extern "C" fn(u32) -> *const c_void) -> c_int;

/// Loads a profiler's library, which then registers the functions that it wants to receive.
pub(super) fn open(path: OsString) -> Result<Nvtx, NvtxError> {
    // SAFETY: the user set the variable to load exactly this library.
    let library = unsafe { Library::new(&path) }.map_err(|source| NvtxError::Load {
        path: path.clone(),
        source,
    })?;
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: NVTX declares the function with this signature.
    let initialize = unsafe { library.get::<Initialize>(b"InitializeInjectionNvtx2\0") };
    let initialize = initialize.map_err(|source| NvtxError::MissingFunction {
        path: path.clone(),
        function: "InitializeInjectionNvtx2",
        source,
    })?;
    // SAFETY: the argument has the type that NVTX declares, and the tables live for ever.
    if unsafe { initialize(export_table) } == 0 {
        return Err(NvtxError::Refused { path });
    }
    let wanted = |number: usize| Some(FUNCTIONS[CORE][number].load(Ordering::Acquire)).filter(|f| !f.is_null());
    // SAFETY: the profiler puts a function of this type into this slot.
    let push = wanted(RANGE_PUSH_A).map(|function| unsafe { std::mem::transmute::<*mut c_void, Push>(function) });
    // SAFETY: as above.
    let pop = wanted(RANGE_POP).map(|function| unsafe { std::mem::transmute::<*mut c_void, Pop>(function) });
    Ok(Nvtx {
        push,
        pop,
        reaches: INJECTION,
        _library: library,
    })
}
