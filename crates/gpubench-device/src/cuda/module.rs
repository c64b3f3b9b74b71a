//! Loaded modules and their kernels.

use std::ffi::{CString, c_int, c_uint, c_void};

use cudarc::driver::sys::{CUfunction, CUfunction_attribute, CUjit_option, CUmodule};
use gpubench_harness::{Capability, Image, image_for, ptx_for};

use super::call::{DriverError, call};
use super::context::Context;
use super::image::{DamagedImage, KernelImage};
use crate::{DeviceError, DevicePtr, ModuleImage};

/// Size of the log for errors of the driver's PTX compiler, in bytes.
const LOG_BYTES: usize = 16 << 10;

/// A loaded module.
pub(super) struct LoadedModule {
    handle: CUmodule,
    /// The symbols of name expressions.
    names: KernelImage,
}

/// A kernel of a loaded module.
pub(super) struct Kernel {
    pub(super) handle: CUfunction,
    pub(super) name: String,
    /// The size of each parameter in bytes, if the driver reports it.
    pub(super) parameter_sizes: Option<Vec<u32>>,
    /// The dynamic shared memory that launches may currently use.
    pub(super) dynamic_shared: u32,
    /// Whether launches may use clusters larger than the portable size.
    pub(super) allows_large_clusters: bool,
}
impl LoadedModule {
    pub(super) fn load(
        context: &Context,
        image: ModuleImage<'_>,
        capability: u32,
    ) -> Result<LoadedModule, DeviceError> {
        let loaded = match image {
            ModuleImage::Harness => load_harness(context, capability).map(|handle| (handle, KernelImage::default())),
            ModuleImage::File(file) => {
                let bytes = fs_err::read(file.path()).map_err(|error| DeviceError::Load(Box::new(error)))?;
                let mut image = read_image(bytes).map_err(|error| DeviceError::Load(Box::new(error)))?;
                let code = std::mem::take(&mut image.image);
                load_data(context, &code).map(|handle| (handle, image))
            }
        };
        let (handle, names) = loaded.map_err(|error| DeviceError::Load(Box::new(error)))?;
        Ok(LoadedModule { handle, names })
    }

    pub(super) fn kernel(&self, context: &Context, name: &str) -> Result<Kernel, DeviceError> {
        let symbol = symbol_text(self.names.symbol(name))?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: it reads a string and writes one pointer.
        let found = unsafe {
            call!(
                context.api,
                cuModuleGetFunction(&mut handle, self.handle, symbol.as_ptr())
            )
        };
        found.map_err(|error| missing(error, name))?;
        if let Some(load) = context.api.cuFuncLoad {
            // With lazy loading, the first launch loads the kernel, which never ends after a queued
            // stream wait. SAFETY: the kernel was found just now.
            let code = unsafe { load(handle) };
            context
                .api
                .check("cuFuncLoad", code, || format!("{handle:?}"))
                .map_err(|error| DeviceError::Load(Box::new(error)))?;
        }
        Ok(Kernel {
            handle,
            name: name.to_owned(),
            parameter_sizes: parameter_sizes(context, handle),
            dynamic_shared: 0,
            allows_large_clusters: false,
        })
    }

    pub(super) fn symbol(&self, context: &Context, name: &str) -> Result<(DevicePtr, u64), DeviceError> {
        let symbol = symbol_text(self.names.symbol(name))?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: it reads a string and writes two numbers.
        let found = unsafe {
            call!(
                context.api,
                cuModuleGetGlobal_v2(&mut address, &mut bytes, self.handle, symbol.as_ptr())
            )
        };
        found.map_err(|error| match missing(error, name) {
            DeviceError::NoFunction(name) => DeviceError::NoSymbol(name),
            error => error,
        })?;
        Ok((DevicePtr(address), bytes as u64))
    }

    pub(super) fn unload(&self, context: &Context) {
        // SAFETY: this value owns the handle, and its kernels have ended. After a fault the call
        // fails.
        let _ = unsafe { (context.api.cuModuleUnload)(self.handle) };
    }
}

impl Kernel {
    pub(super) fn attribute(&self, context: &Context, attribute: CUfunction_attribute) -> Result<c_int, DriverError> {
        let mut value = 0;
        let number = attribute as c_uint;
        // SAFETY: it writes one number; the kernel's module is loaded.
        unsafe { call!(context.api, cuFuncGetAttribute(&mut value, number, self.handle)) }?;
        Ok(value)
    }

    pub(super) fn set_attribute(
        &self,
        context: &Context,
        attribute: CUfunction_attribute,
        value: c_int,
    ) -> Result<(), DriverError> {
        let number = attribute as c_uint;
        // SAFETY: it takes numbers; the kernel's module is loaded.
        unsafe { call!(context.api, cuFuncSetAttribute(self.handle, number, value)) }
    }
}

/// Loads the tool's own kernels: machine code if the build has some that the driver accepts, else
/// PTX, which the driver compiles in seconds.
fn load_harness(context: &Context, capability: u32) -> Result<CUmodule, LoadError> {
    let capability = Capability {
        major: capability / 10,
        minor: capability % 10,
    };
    // If no PTX fits the GPU, the oldest is tried, and the driver reports the problem.
    let ptx = || {
        let text = ptx_for(capability.max(Capability::OLDEST)).unwrap_or_default();
        load_data(context, text.as_bytes())
    };
    match image_for(capability) {
        Some(Image::Cubin(code)) => load_data(context, &code).or_else(|_| ptx()),
        Some(Image::Ptx(_)) | None => ptx(),
    }
}

/// Reads a file of this tool, or a plain image.
fn read_image(bytes: Vec<u8>) -> Result<KernelImage, DamagedImage> {
    match KernelImage::decode(&bytes) {
        Err(DamagedImage::Magic) => Ok(KernelImage {
            image: bytes,
            ..KernelImage::default()
        }),
        other => other,
    }
}

/// Why an image was not loaded, with the log of the driver's compiler.
#[derive(Debug, thiserror::Error)]
#[error("{}{}", self.reason(), self.log())]
struct LoadError {
    #[source]
    source: DriverError,
    log: String,
}

impl LoadError {
    fn reason(&self) -> &'static str {
        match self.source.code {
            209 => {
                "the image has no code for this GPU's architecture (hint: compile it for this GPU, or as PTX of an older architecture)"
            }
            218 => "the PTX is invalid",
            222 => "the PTX is newer than this driver supports (hint: update the driver, or compile to a cubin)",
            221 => "the driver's PTX compiler is missing (hint: compile to a cubin)",
            200 => "the image is not a cubin, fatbin or PTX",
            _ => "the driver rejected the image",
        }
    }

    fn log(&self) -> String {
        match self.log.as_str() {
            "" => String::new(),
            log => format!(":\n{log}"),
        }
    }
}

fn load_data(context: &Context, image: &[u8]) -> Result<CUmodule, LoadError> {
    // PTX must end with a zero byte, which does no harm after other images. Cubins must be aligned.
    let mut words = vec![0_u64; image.len() / 8 + 1];
    bytemuck::cast_slice_mut(&mut words)[..image.len()].copy_from_slice(image);
    let data: *const c_void = words.as_ptr().cast();
    let mut log = vec![0_u8; LOG_BYTES];
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), LOG_BYTES as *mut c_void];
    let mut module = std::ptr::null_mut();
    // SAFETY: the image ends with a zero byte, there are as many values as options, and the log is
    // writable for its length.
    let loaded = unsafe {
        call!(
            context.api,
            cuModuleLoadDataEx(
                &mut module,
                data,
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr()
            )
        )
    };
    loaded.map(|()| module).map_err(|source| LoadError {
        source,
        log: log_text(&log),
    })
}

fn log_text(log: &[u8]) -> String {
    let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).trim().to_owned()
}

fn parameter_sizes(context: &Context, kernel: CUfunction) -> Option<Vec<u32>> {
    let query = context.api.cuFuncGetParamInfo?;
    let mut sizes = Vec::new();
    loop {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: it writes two numbers; the kernel's module is loaded. After the last parameter
        // the call fails.
        if unsafe { query(kernel, sizes.len(), &mut offset, &mut size) } != 0 {
            return Some(sizes);
        }
        sizes.push(size as u32);
    }
}

fn symbol_text(symbol: &str) -> Result<CString, DeviceError> {
    CString::new(symbol).map_err(|_| DeviceError::NoFunction(symbol.to_owned()))
}

fn missing(error: DriverError, name: &str) -> DeviceError {
    /// `CUDA_ERROR_NOT_FOUND`.
    const NOT_FOUND: c_int = 500;
    match error.code {
        NOT_FOUND => DeviceError::NoFunction(name.to_owned()),
        _ => DeviceError::Driver(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_without_a_name_table_is_loaded_unchanged() {
        let ptx = b".version 7.8\n".to_vec();
        let image = read_image(ptx.clone()).unwrap();
        assert_eq!((image.image.as_slice(), image.symbol("k")), (ptx.as_slice(), "k"));
        let named = KernelImage {
            names: vec![("k<float>".into(), "_Z1kIfEvv".into())],
            image: ptx,
            ..KernelImage::default()
        };
        assert_eq!(read_image(named.encode()), Ok(named.clone()));
        assert_eq!(read_image(named.encode()[1..].to_vec()), Err(DamagedImage::Length));
    }

    #[test]
    fn a_log_ends_at_its_zero() {
        assert_eq!(log_text(b" ptxas error \n\0rest"), "ptxas error");
    }
}
