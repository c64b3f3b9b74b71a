//! The device that measures.

use std::num::NonZeroUsize;

use gpubench::catalog::DeviceKind;
use gpubench_device::compilers::NamedCompilers;

/// Which device measures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// The kind, or the best there is.
    pub choice: DeviceChoice,
    /// Threads of the CPU device; all that the process may use where it is not said.
    pub threads: Option<NonZeroUsize>,
    /// Which of several GPUs.
    pub ordinal: u32,
    /// The compilers of kernels for a GPU, as far as they are named; the others are searched for.
    pub compilers: NamedCompilers,
}

/// Which kind of device measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A GPU where there is one.
    #[default]
    Auto,
    /// This kind and no other.
    Kind(DeviceKind),
}

impl DeviceChoice {
    /// Whether a device of this kind may measure.
    pub fn admits(self, kind: DeviceKind) -> bool {
        self == DeviceChoice::Auto || self == DeviceChoice::Kind(kind)
    }
}
