//! The compiler of the tool's own kernel of known length, which is compiled already.

use std::path::{Path, PathBuf};

use gpubench::catalog::DeviceFacts;
use gpubench_harness::SPIN_KERNEL;

use super::compiler::{Compiler, Wanted};
use super::error::KernelBuildError;
use crate::{Backend, FrozenFile};

/// Has the compiled kernel, so that no compiler is needed.
#[derive(Debug)]
pub struct SpinCompiler {
    code: FrozenFile,
    target: String,
}

impl SpinCompiler {
    /// Returns the compiler for a device.
    ///
    /// # Errors
    /// When this tool has no such kernel for the device, or there is no memory for it.
    pub fn new(device: &DeviceFacts) -> Result<SpinCompiler, KernelBuildError> {
        let backend = Backend::of(device.kind);
        let target = (backend.target)(device);
        let code = (backend.spin)(device).ok_or_else(|| {
            KernelBuildError::Unsupported(format!("this tool has no kernel of known length for {target}"))
        })?;
        Ok(SpinCompiler {
            code: FrozenFile::of_bytes(SPIN_KERNEL, &code)?,
            target,
        })
    }
}

impl Compiler for SpinCompiler {
    fn identity(&self) -> &str {
        concat!("built into cargo-gpubench ", env!("CARGO_PKG_VERSION"))
    }

    fn target(&self) -> String {
        self.target.clone()
    }

    fn compile(&self, wanted: Wanted<'_>) -> Result<PathBuf, KernelBuildError> {
        match wanted.names.iter().find(|name| *name != SPIN_KERNEL) {
            None => Ok(PathBuf::from(SPIN_KERNEL)),
            Some(other) => Err(KernelBuildError::UnknownKernel(format!(
                "unknown kernel `{other}`; only `{SPIN_KERNEL}` is built into this tool"
            ))),
        }
    }

    fn freeze(&self, _: &Path) -> Result<FrozenFile, KernelBuildError> {
        Ok(self.code.clone())
    }
}
