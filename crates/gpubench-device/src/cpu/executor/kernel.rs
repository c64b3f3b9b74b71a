//! Kernels for the executor, and the libraries that contain them.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::path::{Path, PathBuf};
use std::ptr;

use super::abi::{ABI, Descriptor, ModuleTable};
use super::exchange::CALLBACKS;
use super::static_shared::{Origin, StaticShared};

/// An entry of a library's symbol table: `Elf64_Sym`.
#[repr(C)]
struct SymbolEntry {
    name: u32,
    kind: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// The type of a variable's entry: `STT_OBJECT`.
const OBJECT: u8 = 1;

/// `RTLD_DL_SYMENT`.
const SYMBOL_ENTRY: c_int = 1;

unsafe extern "C" {
    /// `dladdr` that also returns the symbol's entry.
    fn dladdr1(address: *const c_void, place: *mut libc::Dl_info, extra: *mut *mut c_void, flags: c_int) -> c_int;
}

/// A library's function that sets the start of its `extern __shared__` arrays on the calling
/// thread.
pub(super) type PlaceDynamicShared = unsafe extern "C" fn(start: *mut c_void);

/// A kernel that can be launched. Its code is never unloaded.
#[derive(Clone, Copy)]
pub struct Kernel {
    pub(super) descriptor: &'static Descriptor,
    /// Whether the kernel is in this executable: the tool's own kernels always run in natural
    /// order.
    pub(super) is_own: bool,
    /// Present if the library has such arrays and the executor can place them.
    pub(super) place_dynamic_shared: Option<PlaceDynamicShared>,
    /// Present if the library has `__shared__` variables with gaps around them.
    pub(super) static_shared: Option<StaticShared>,
}

// SAFETY: a descriptor has immutable data and functions that any thread may call.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// Returns the kernel of a descriptor; `None` if the descriptor has another ABI.
    ///
    /// # Safety
    /// `descriptor` points to a `gb_kernel` as `gpubench/export.h` makes it, and its code stays
    /// loaded.
    pub unsafe fn from_descriptor(descriptor: *const std::ffi::c_void) -> Option<Kernel> {
        // SAFETY: the caller guarantees that the pointer is valid; the ABI is the first field in
        // every version.
        let descriptor = unsafe { &*descriptor.cast::<Descriptor>() };
        if descriptor.abi != ABI {
            return None;
        }
        // SAFETY: the unit belongs to the descriptor and copies the callbacks.
        unsafe { ((*descriptor.unit).install)(&CALLBACKS) };
        Some(Kernel {
            descriptor,
            is_own: true,
            place_dynamic_shared: None,
            static_shared: None,
        })
    }

    /// Returns the name expression of its export, such as `axpy` or `reduce<256>`.
    pub fn name(&self) -> &'static str {
        // SAFETY: the shim makes it from a string literal.
        unsafe { CStr::from_ptr(self.descriptor.name) }.to_str().unwrap_or("?")
    }

    /// Returns an address in the kernel's library.
    pub(super) fn address(&self) -> usize {
        ptr::from_ref(self.descriptor) as usize
    }

    /// Returns the size of each parameter in bytes.
    pub fn param_sizes(&self) -> &'static [u32] {
        // SAFETY: the shim makes both from the same parameter list.
        unsafe { std::slice::from_raw_parts(self.descriptor.param_sizes, self.descriptor.param_count as usize) }
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name())
            .field("param_sizes", &self.param_sizes())
            .finish()
    }
}

/// A kernel library. It stays loaded until the process ends, because its thread-local memory cannot
/// be released safely.
#[derive(Debug)]
pub struct Module {
    kernels: Vec<Kernel>,
    library: ManuallyDrop<libloading::Library>,
}

/// Why a kernel library could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The dynamic linker refused it.
    #[error("cannot load the kernel library `{path}`")]
    Link {
        /// The library.
        path: PathBuf,
        /// The linker's reason.
        #[source]
        source: libloading::Error,
    },
    /// It was built for another version of this tool.
    #[error(
        "the kernel library `{path}` has ABI {found}, but this tool needs {ABI} (hint: delete the folder `gpubench/kernels` in the target directory)"
    )]
    Abi {
        /// The library.
        path: PathBuf,
        /// The ABI of the library.
        found: u32,
    },
}

impl Module {
    /// Loads a library made by the kernel compiler.
    ///
    /// # Errors
    /// When the dynamic linker refuses it, or it has another ABI.
    ///
    /// # Safety
    /// Its constructors run, so it must come from a source that this process may execute.
    pub unsafe fn load(path: &Path) -> Result<Module, LoadError> {
        let link = |source| LoadError::Link {
            path: path.to_owned(),
            source,
        };
        // SAFETY: the caller guarantees that the library may be loaded.
        let library = ManuallyDrop::new(unsafe { libloading::Library::new(path) }.map_err(link)?);
        // SAFETY: the shim defines the symbol with this type.
        let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const ModuleTable>(b"gb_module_v1\0") };
        // SAFETY: the function returns a pointer to a static table.
        let table = unsafe { &*(entry.map_err(link)?)() };
        if table.abi != ABI {
            return Err(LoadError::Abi {
                path: path.to_owned(),
                found: table.abi,
            });
        }
        // SAFETY: the table holds `count` pointers to static descriptors.
        let descriptors = unsafe { std::slice::from_raw_parts(table.kernels, table.count as usize) };
        // SAFETY: the kernel compiler defines the symbol with this type.
        let place = unsafe { library.get::<PlaceDynamicShared>(b"gb_place_dynamic_shared_v1\0") };
        let place_dynamic_shared = place.ok().map(|place| *place);
        // SAFETY: the shim defines the function with this type.
        let origin = unsafe { library.get::<Origin>(b"gb_shared_origin_v1\0") };
        // SAFETY: the kernel compiler defines the text under this name, and ends it with a zero.
        let list = unsafe { library.get::<*const c_char>(b"gb_static_shared_v1\0") };
        let static_shared = origin.ok().zip(list.ok()).map(|(origin, list)| {
            // SAFETY: as above; the library is never unloaded.
            StaticShared::new(*origin, unsafe { CStr::from_ptr(*list) })
        });
        // SAFETY: the library is never unloaded.
        let kernels = descriptors
            .iter()
            .filter_map(|&it| unsafe { Kernel::from_descriptor(it.cast()) })
            .map(|kernel| Kernel {
                is_own: false,
                place_dynamic_shared,
                static_shared,
                ..kernel
            })
            .collect();
        Ok(Module { kernels, library })
    }

    /// Returns the kernel with a name expression.
    pub fn kernel(&self, name: &str) -> Option<Kernel> {
        self.kernels().find(|kernel| kernel.name() == name)
    }

    /// Returns the address and the size in bytes of a `__constant__` variable, by its linker
    /// symbol.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let name = CString::new(name).ok()?;
        // SAFETY: only the address is taken; nothing is read through it here.
        let address = unsafe { self.library.get::<*mut c_void>(name.as_bytes_with_nul()) };
        let address = *address.ok()?;
        let (mut place, mut entry) = (MaybeUninit::<libc::Dl_info>::uninit(), std::ptr::null::<SymbolEntry>());
        // SAFETY: both results are local variables; the flag requests the symbol's entry in the
        // library's table.
        let found = unsafe { dladdr1(address, place.as_mut_ptr(), (&raw mut entry).cast(), SYMBOL_ENTRY) };
        // SAFETY: if the linker finds the address, its entry is null or in the table of a library
        // that is never unloaded.
        let entry = unsafe { entry.as_ref() }.filter(|_| found != 0)?;
        (entry.kind & 0xf == OBJECT).then_some((address as u64, entry.size))
    }

    /// Returns all kernels of the library.
    pub fn kernels(&self) -> impl Iterator<Item = Kernel> {
        self.kernels.iter().copied()
    }
}
