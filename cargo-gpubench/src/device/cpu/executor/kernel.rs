//! Kernels the executor can run, and the libraries they come from.

use std::ffi::CStr;
use std::path::{Path, PathBuf};

use super::abi::{ABI, Descriptor, ModuleTable};
use super::exchange::CALLBACKS;

/// A kernel that can be launched. Its code is never unloaded.
#[derive(Clone, Copy)]
pub struct Kernel {
    descriptor: &'static Descriptor,
}

// SAFETY: a descriptor is immutable data and functions that may be called on any thread.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// A kernel from its descriptor; nothing if the descriptor is of another ABI.
    ///
    /// # Safety
    /// `descriptor` points to a `gb_kernel` as `gpubench/export.h` makes it, and its code stays loaded.
    pub unsafe fn from_descriptor(descriptor: *const std::ffi::c_void) -> Option<Kernel> {
        // SAFETY: the caller vouches for the pointer; the ABI comes first in every version.
        let descriptor = unsafe { &*descriptor.cast::<Descriptor>() };
        if descriptor.abi != ABI {
            return None;
        }
        // SAFETY: the unit belongs to the descriptor and copies the callbacks.
        unsafe { ((*descriptor.unit).install)(&CALLBACKS) };
        Some(Kernel { descriptor })
    }

    /// The name expression it was exported under, such as `axpy` or `reduce<256>`.
    pub fn name(&self) -> &'static str {
        // SAFETY: the shim makes it from a string literal.
        unsafe { CStr::from_ptr(self.descriptor.name) }.to_str().unwrap_or("?")
    }

    /// Bytes of each parameter.
    pub fn param_sizes(&self) -> &'static [u32] {
        // SAFETY: the shim makes both from the same parameter list.
        unsafe { std::slice::from_raw_parts(self.descriptor.param_sizes, self.descriptor.param_count as usize) }
    }

    pub(super) fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
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

/// A kernel library. It stays loaded for the rest of the process, since its threads' memory cannot be given back safely.
#[derive(Debug)]
pub struct Module {
    kernels: Vec<Kernel>,
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
    #[error("the kernel library `{path}` has ABI {found}, this tool needs {ABI}; delete the kernel cache")]
    Abi {
        /// The library.
        path: PathBuf,
        /// The ABI it says it has.
        found: u32,
    },
}

impl Module {
    /// Loads a library made by the kernel compiler.
    ///
    /// # Errors
    /// If the dynamic linker refuses it or it has another ABI.
    ///
    /// # Safety
    /// Its constructors run: it must come from a source this process may execute.
    pub unsafe fn load(path: &Path) -> Result<Module, LoadError> {
        let link = |source| LoadError::Link {
            path: path.to_owned(),
            source,
        };
        // SAFETY: the caller vouches for the library.
        let library = unsafe { libloading::Library::new(path) }.map_err(link)?;
        // SAFETY: the shim defines the symbol with this type.
        let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const ModuleTable>(b"gb_module_v1\0") };
        // SAFETY: the function returns a pointer to a static table.
        let table = unsafe { &*(entry.map_err(link)?)() };
        std::mem::forget(library);
        if table.abi != ABI {
            return Err(LoadError::Abi {
                path: path.to_owned(),
                found: table.abi,
            });
        }
        // SAFETY: the table holds `count` pointers to static descriptors.
        let descriptors = unsafe { std::slice::from_raw_parts(table.kernels, table.count as usize) };
        // SAFETY: the library is never unloaded.
        let kernels = descriptors
            .iter()
            .filter_map(|&it| unsafe { Kernel::from_descriptor(it.cast()) })
            .collect();
        Ok(Module { kernels })
    }

    /// The kernel exported under a name expression.
    pub fn kernel(&self, name: &str) -> Option<Kernel> {
        self.kernels().find(|kernel| kernel.name() == name)
    }

    /// Every kernel of the library.
    pub fn kernels(&self) -> impl Iterator<Item = Kernel> {
        self.kernels.iter().copied()
    }
}
