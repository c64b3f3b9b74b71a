//! Kinds of devices: one row for each, which everything above asks instead of the kind.

use std::num::NonZeroUsize;
use std::path::Path;

use gpubench::catalog::{DeviceFacts, DeviceKind};
use gpubench_contract::DeviceWords;
use gpubench_diagnostic::Failure;

use crate::compilers::{Compiler, NamedCompilers, Processors};
use crate::telemetry::Gauge;
use crate::{Absence, DeviceError, DeviceOrder, Driver, Facts, KernelHost};

mod cpu;
mod cuda;

/// What the tool can do with devices of a kind, and must know of them before one is open.
pub struct Backend {
    /// The kind.
    pub kind: DeviceKind,
    /// Whether `--device` tells several apart by a number.
    pub is_numbered: bool,
    /// What a person can do beside what an [`Absence`] says: where the first thing is missing,
    /// others may be.
    pub hint: Option<&'static str>,
    /// Where kernels that compute references and inputs are run.
    pub kernels_run_in: KernelHost,
    /// Seeds of the orders of blocks and threads that a check tries where none is asked for, each
    /// in a process of its own: one where the order is the hardware's.
    pub schedules: &'static [u64],
    /// The order for what is wished. Wishes that say nothing of such a device are left out.
    pub order: fn(&DeviceWishes) -> DeviceOrder,
    /// What the device is, as far as that can be told without opening it: `None` where only the
    /// process that has it open can tell.
    pub facts: fn(&DeviceOrder) -> Result<Option<Facts>, Absence>,
    /// Opens a device in this process.
    pub open: fn(&DeviceOrder) -> Result<Box<dyn Driver>, DeviceError>,
    /// The compiler of its kernels.
    pub compiler: fn(&DeviceFacts, CompilerWishes<'_>) -> FoundCompiler,
    /// What its kernels are compiled for where they are compiled ahead.
    pub target: fn(&DeviceFacts) -> String,
    /// How far a device is from such a target; `None` where it does not run what was compiled for
    /// it.
    pub distance: fn(&str, &DeviceFacts) -> Option<u32>,
    /// The instruments of an open device, where they can be read.
    pub gauge: fn(&Facts) -> Option<Box<dyn Gauge>>,
}

/// A compiler, or why there is none.
pub type FoundCompiler = Result<Box<dyn Compiler>, Failure>;

/// What a person wishes of a device, whatever its kind turns out to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceWishes {
    /// Which of several.
    pub ordinal: u32,
    /// Threads of the CPU device; all where it is not said.
    pub threads: Option<NonZeroUsize>,
    /// Seed of the order in which blocks and their threads run on the CPU device; 0 is their own
    /// order.
    pub schedule: u64,
}

/// What is wished of a compiler of kernels.
#[derive(Clone, Debug)]
pub struct CompilerWishes<'a> {
    /// The executable of `cargo gpubench`, in a process of which compilers run that are libraries.
    pub tool: &'a Path,
    /// The compilers for GPUs that are named.
    pub named: NamedCompilers,
    /// Processors that kernels of the CPU device are for.
    pub processors: Processors,
}

impl Backend {
    /// Every kind, in the order in which they are tried where none is asked for.
    pub const ALL: [&Backend; 2] = [&cuda::BACKEND, &cpu::BACKEND];

    /// That of a kind.
    pub const fn of(kind: DeviceKind) -> &'static Backend {
        match kind {
            DeviceKind::Cpu => &cpu::BACKEND,
            DeviceKind::Cuda => &cuda::BACKEND,
        }
    }

    /// Reads what `--device` names: a kind, and which of several it is.
    pub fn parse(text: &str) -> Option<(&'static Backend, u32)> {
        let (name, ordinal) = match text.split_once(':') {
            None => (text, None),
            Some((name, ordinal)) => (name, Some(ordinal.parse().ok()?)),
        };
        let mut named = Backend::ALL.into_iter().filter(|backend| backend.words().word == name);
        let backend = named.find(|backend| backend.is_numbered || ordinal.is_none())?;
        Some((backend, ordinal.unwrap_or_default()))
    }

    /// How it is spoken of.
    pub fn words(&self) -> &'static DeviceWords {
        gpubench_contract::DeviceKind::from(self.kind).words()
    }
}

/// Opens a device in this process.
///
/// # Errors
/// [`DeviceError::Absent`] when there is no such device; others when it refuses.
pub fn open(order: &DeviceOrder) -> Result<Box<dyn Driver>, DeviceError> {
    (order.backend().open)(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_row() {
        for backend in Backend::ALL {
            assert_eq!(Backend::of(backend.kind).kind, backend.kind);
            assert_eq!((backend.order)(&DeviceWishes::default()).backend().kind, backend.kind);
        }
    }

    #[test]
    fn only_kinds_with_several_devices_are_numbered() {
        let parsed = |text| Backend::parse(text).map(|(backend, ordinal)| (backend.kind, ordinal));
        assert_eq!(parsed("cpu"), Some((DeviceKind::Cpu, 0)));
        assert_eq!(parsed("cuda:3"), Some((DeviceKind::Cuda, 3)));
        assert_eq!(parsed("cpu:0"), None);
    }
}
