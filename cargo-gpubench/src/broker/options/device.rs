//! Options of the device.

use std::num::NonZeroUsize;

use gpubench::catalog::DeviceKind;
use gpubench_device::Ordinals;
use gpubench_device::compilers::NamedCompilers;

/// Options of the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// The kind, or the best available.
    pub choice: DeviceChoice,
    /// Threads of the CPU device; by default, all that the process may use.
    pub threads: Option<NonZeroUsize>,
    /// The numbers of the GPUs.
    pub ordinals: Ordinals,
    /// The named compilers of GPU kernels. The tool searches for the others.
    pub compilers: NamedCompilers,
}

/// The kind of device that measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A GPU if there is one, else the CPU device.
    #[default]
    Auto,
    /// Only this kind.
    Kind(DeviceKind),
}

impl DeviceChoice {
    /// Returns whether a device of this kind may measure.
    pub fn admits(self, kind: DeviceKind) -> bool {
        self == DeviceChoice::Auto || self == DeviceChoice::Kind(kind)
    }
}
