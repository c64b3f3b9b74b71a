//! Device kinds: one table row for each. Code above asks the row instead of the kind.

use std::num::NonZeroUsize;
use std::path::Path;

use gpubench::catalog::{DeviceFacts, DeviceKind};
use gpubench_contract::DeviceWords;
use gpubench_diagnostic::Failure;

use crate::clocks::ClockControl;
use crate::compilers::{Compiler, Disassembler, NamedCompilers, NoDisassembler, Optimization, Processors};
use crate::telemetry::Gauge;
use crate::{Absence, DeviceError, DeviceOrder, Driver, Facts, KernelHost, Launcher, Ordinals, OrdinalsError};

mod cpu;
mod cuda;

/// The capabilities of a device kind, and its properties that are needed before a device is open.
pub struct Backend {
    /// The kind.
    pub kind: DeviceKind,
    /// Whether `--device` accepts an index.
    pub is_numbered: bool,
    /// A general hint for users, in addition to that of an [`Absence`]: where one part is missing,
    /// others may be missing too.
    pub hint: Option<&'static str>,
    /// The process that runs the kernels of references and generators.
    pub kernels_run_in: KernelHost,
    /// Whether NVIDIA's sanitizer and profilers can observe its kernels.
    pub nvidia_tools: NvidiaTools,
    /// Seeds of the block and thread orders that a check tries by default, each in a process of its
    /// own. A single seed if the hardware decides the order.
    pub schedules: &'static [u64],
    /// Returns the device to open for a request. Options that do not apply to this kind are
    /// ignored.
    pub order: fn(&DeviceRequest) -> DeviceOrder,
    /// Returns the device's properties without opening it; `None` when only a process with the open
    /// device knows them.
    pub facts: fn(&DeviceOrder) -> Result<Option<Facts>, Absence>,
    /// Opens a device in this process.
    pub open: fn(&DeviceOrder) -> Result<Box<dyn Driver>, DeviceError>,
    /// Returns the compiler for its kernels.
    pub compiler: fn(&DeviceFacts, CompilerRequest<'_>) -> FoundCompiler,
    /// Returns the target for ahead-of-time compilation of its kernels.
    pub target: fn(&DeviceFacts) -> String,
    /// Returns the distance between a compilation target and a device, 0 for a perfect match;
    /// `None` when the device cannot run such code.
    pub distance: fn(&str, &DeviceFacts) -> Option<u32>,
    /// Returns the program that must run a process for the device to count what kernels do there,
    /// if it needs one. The process uses a folder for temporary files.
    pub counted_under: fn(&Path) -> Result<Option<Launcher>, Absence>,
    /// Finds the program that reads the machine code of its kernels, if they have any.
    pub disassembler: Option<FindDisassembler>,
    /// How many cases that are only counted are worth running side by side.
    pub counted_side_by_side: fn(&DeviceOrder) -> NonZeroUsize,
    /// How many cases that are only tested are worth running side by side.
    pub tested_side_by_side: fn(&DeviceOrder) -> NonZeroUsize,
    /// How much longer calls may take while they are counted.
    pub counting_takes: u32,
    /// Loads the library of the telemetry, which may take as long as opening a device.
    pub load_telemetry: fn(),
    /// Returns the telemetry of an open device, if it has any.
    pub gauge: fn(&Facts) -> Option<Box<dyn Gauge>>,
    /// Opens the clocks of the device with an identity, if this kind has any that can be locked.
    pub clocks: Option<OpenClocks>,
}

/// Opens the clocks of the device with an identity as in [`Facts::identity`]. Fails with the reason
/// in words.
pub type OpenClocks = fn(&str) -> Result<Box<dyn ClockControl>, String>;

/// Finds a disassembler, next to the compilers that the user named or elsewhere.
pub type FindDisassembler = fn(&NamedCompilers) -> Result<Disassembler, NoDisassembler>;

/// Whether compute-sanitizer, ncu and nsys can observe the kernels of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NvidiaTools {
    /// They can.
    Observe,
    /// They cannot. The text says what to use instead, for a hint.
    CannotObserve(&'static str),
}

/// A compiler, or the reason why there is none.
pub type FoundCompiler = Result<Box<dyn Compiler>, Failure>;

/// The device that the user asks for, whatever its kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceRequest {
    /// The index of the device.
    pub ordinal: u32,
    /// Threads of the CPU device; `None` means all.
    pub threads: Option<NonZeroUsize>,
    /// Seed of the order in which the CPU device runs blocks and threads; 0 means ascending order.
    pub schedule: u64,
}

/// The compiler that a run needs.
#[derive(Clone, Debug)]
pub struct CompilerRequest<'a> {
    /// The executable of `cargo gpubench`, started as a separate process for compilers that are
    /// libraries.
    pub tool: &'a Path,
    /// The GPU compilers that the user named.
    pub named: NamedCompilers,
    /// The processors that kernels of the CPU device are compiled for.
    pub processors: Processors,
    /// How far kernels of the CPU device are optimised.
    pub optimization: Optimization,
}

impl Backend {
    /// Every kind, in the order in which they are tried when the user names none.
    pub const ALL: [&Backend; 2] = [&cuda::BACKEND, &cpu::BACKEND];

    /// Returns the backend of a kind.
    pub const fn from_kind(kind: DeviceKind) -> &'static Backend {
        match kind {
            DeviceKind::Cpu => &cpu::BACKEND,
            DeviceKind::Cuda => &cuda::BACKEND,
        }
    }

    /// Returns the backend of a device.
    pub fn for_facts(facts: &Facts) -> &'static Backend {
        Backend::from_kind(facts.device.kind)
    }

    /// Returns the backend of the device that a role opens.
    pub fn for_order(order: &DeviceOrder) -> &'static Backend {
        Backend::from_kind(order.kind())
    }

    /// Parses the value of `--device` into a kind and the devices of this kind. `None` if there is
    /// no such kind, or its devices have no numbers.
    ///
    /// # Errors
    /// The list of numbers cannot be read.
    pub fn parse(text: &str) -> Result<Option<(&'static Backend, Ordinals)>, OrdinalsError> {
        let (name, ordinals) = match text.split_once(':') {
            None => (text, None),
            Some((name, ordinals)) => (name, Some(ordinals)),
        };
        let mut named = Backend::ALL.into_iter().filter(|backend| backend.words().word == name);
        let Some(backend) = named.find(|backend| backend.is_numbered || ordinals.is_none()) else {
            return Ok(None);
        };
        let ordinals = ordinals.map_or(Ok(Ordinals::default()), str::parse)?;
        Ok(Some((backend, ordinals)))
    }

    /// Returns the names of the device kind in messages.
    pub fn words(&self) -> &'static DeviceWords {
        kind_in_records(self.kind).words()
    }
}

/// Returns the kind of a device as records have it.
pub fn kind_in_records(kind: DeviceKind) -> gpubench_contract::DeviceKind {
    match kind {
        DeviceKind::Cpu => gpubench_contract::DeviceKind::Cpu,
        DeviceKind::Cuda => gpubench_contract::DeviceKind::Cuda,
    }
}

/// Opens a device in this process.
///
/// # Errors
/// [`DeviceError::Absent`] when there is no such device; other errors when it refuses.
pub fn open(order: &DeviceOrder) -> Result<Box<dyn Driver>, DeviceError> {
    (Backend::for_order(order).open)(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_backend() {
        for backend in Backend::ALL {
            assert_eq!(Backend::from_kind(backend.kind).kind, backend.kind);
            assert_eq!((backend.order)(&DeviceRequest::default()).kind(), backend.kind);
        }
    }

    #[test]
    fn only_kinds_with_several_devices_are_numbered() {
        let parsed = |text| Backend::parse(text).map(|found| found.map(|(backend, ordinals)| (backend.kind, ordinals)));
        assert_eq!(parsed("cpu"), Ok(Some((DeviceKind::Cpu, Ordinals::one(0)))));
        assert_eq!(parsed("cuda:3"), Ok(Some((DeviceKind::Cuda, Ordinals::one(3)))));
        assert_eq!(parsed("cuda:all"), Ok(Some((DeviceKind::Cuda, Ordinals::All))));
        assert_eq!(parsed("cuda:"), Err(OrdinalsError::Missing));
        assert_eq!(parsed("cpu:0"), Ok(None));
        assert_eq!(parsed("cpu:all"), Ok(None));
    }
}
