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

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::atomic::AtomicBool;

    use gpubench::catalog::{DeviceKind, Source, SourceForm};

    use super::*;
    use crate::cpu::facts;

    fn device(kind: DeviceKind, capability: u32) -> DeviceFacts {
        DeviceFacts {
            kind,
            capability,
            ..facts(NonZeroUsize::MIN).device
        }
    }

    fn compiled(compiler: &SpinCompiler, name: &str) -> Result<PathBuf, KernelBuildError> {
        let source = Source {
            name: "SPIN".to_owned(),
            form: SourceForm::Cuda,
            files: Vec::new(),
            options: Vec::new(),
        };
        compiler.compile(Wanted {
            source: &source,
            names: &[name.to_owned()],
            cache: Path::new("/no/such/folder"),
            interrupt: &AtomicBool::new(false),
        })
    }

    #[test]
    fn every_device_has_machine_code_of_the_kernel() {
        for device in [device(DeviceKind::Cpu, 0), device(DeviceKind::Cuda, 90)] {
            let compiler = SpinCompiler::new(&device).expect("it is built in");
            let path = compiled(&compiler, SPIN_KERNEL).expect("no file is written");
            let code = compiler.freeze(&path).expect("a copy");
            let bytes = fs_err::read(code.path()).expect("readable");
            assert_eq!(bytes[..4], *b"\x7fELF", "{:?}", device.kind);
        }
    }

    #[test]
    fn other_kernels_and_old_gpus_are_refused_by_name() {
        let compiler = SpinCompiler::new(&device(DeviceKind::Cpu, 0)).expect("it is built in");
        let unknown = compiled(&compiler, "axpy").expect_err("another kernel");
        assert_eq!(
            unknown.to_string(),
            "unknown kernel `axpy`; only `gb_spin` is built into this tool"
        );
        let old = SpinCompiler::new(&device(DeviceKind::Cuda, 70)).expect_err("an old GPU");
        assert_eq!(old.to_string(), "this tool has no kernel of known length for sm_70");
    }
}
