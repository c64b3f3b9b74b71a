//! What NVRTC and nvcc have in common.

use std::path::Path;

use super::super::error::KernelBuildError;
use super::job::{Code, Job};
use super::options::Dialect;
use super::store::Maker;
use crate::cuda::{Architecture, KernelImage};

/// A GPU compiler: NVRTC or nvcc.
pub(super) trait Tool {
    /// Returns the syntax of its options.
    fn dialect(&self) -> Dialect;

    /// Returns the maker that its files are named after.
    fn maker(&self) -> Maker {
        match self.dialect() {
            Dialect::Nvrtc => Maker::Nvrtc,
            Dialect::Nvcc => Maker::Nvcc,
        }
    }

    /// Returns its name and version.
    fn version(&self) -> String;

    /// Returns its path.
    fn path(&self) -> &Path;

    /// Returns the compute capabilities that it supports, in ascending order.
    fn capabilities(&self) -> &[u32];

    /// Compiles a source.
    fn compile(&self, job: &Job<'_>) -> Result<KernelImage, KernelBuildError>;

    /// Returns the kind of code that it can make for an architecture.
    fn code(&self, wanted: Architecture) -> Result<Code, KernelBuildError> {
        Code::for_device(wanted, self.capabilities()).ok_or_else(|| {
            let oldest = self.capabilities().first().copied().unwrap_or(0);
            KernelBuildError::Unusable(format!(
                "{} compiles for sm_{oldest} and later, but the device is {wanted} (hint: use an older version)",
                self.version()
            ))
        })
    }

    /// Returns its version and path, for messages.
    fn described(&self) -> String {
        format!("{} ({})", self.version(), self.path().display())
    }
}
