//! The backend of the CPU device.

use std::num::NonZeroUsize;

use gpubench::catalog::DeviceKind;

use crate::compilers::{HostCompiler, NoHostCompiler, PORTABLE, Processors};
use crate::cpu::executor::ScheduleSeed;
use crate::cpu::{CpuDriver, available_threads, callgrind, facts};
use crate::{Absence, AbsenceKind, Backend, DeviceOrder, Facts, NvidiaTools};

/// Most cases that are tested side by side. Each has all threads of the device, and its calls take
/// that many times longer at most.
const MOST_TESTED: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// The CPU device.
pub(super) const BACKEND: Backend = Backend {
    kind: DeviceKind::Cpu,
    is_numbered: false,
    hint: None,
    kernels_run_in: crate::cpu::KERNELS_RUN_IN,
    nvidia_tools: NvidiaTools::CannotObserve(
        "on the CPU device, `--test` finds accesses out of bounds, divergent barriers and missing barriers by itself",
    ),
    // Ascending order first: its failures are the easiest to understand.
    schedules: &[0, 1, 2, 3],
    order: |options| {
        let threads = options.threads.unwrap_or_else(available_threads);
        DeviceOrder::cpu(threads.get() as u32, options.schedule)
    },
    facts: known,
    open: |order| {
        let schedule = match order.schedule {
            0 => ScheduleSeed::Natural,
            seed => ScheduleSeed::Permuted(seed),
        };
        Ok(Box::new(CpuDriver::new(threads(order), schedule)?))
    },
    compiler: |_, options| {
        let compiler = HostCompiler::find().map_err(NoHostCompiler)?;
        Ok(Box::new(
            compiler
                .for_processors(options.processors)
                .optimizing(options.optimization),
        ))
    },
    target: |_| PORTABLE.to_owned(),
    distance: |target, _| (target == PORTABLE && Processors::Portable.include_this_one()).then_some(0),
    counted_under: |folder| callgrind::launcher(folder).map(Some),
    disassembler: None,
    // Each case is counted in one thread.
    counted_side_by_side: |order| threads(order).unwrap_or_else(available_threads),
    tested_side_by_side: |order| threads(order).unwrap_or_else(available_threads).min(MOST_TESTED),
    counting_takes: 60,
    load_telemetry: || {},
    gauge: |_| None,
    clocks: None,
};

/// The device is part of this program, so every process knows its properties.
fn known(order: &DeviceOrder) -> Result<Option<Facts>, Absence> {
    match gpubench_harness::HOST_BUILD {
        Ok(()) => Ok(Some(facts(threads(order).unwrap_or_else(available_threads)))),
        Err(reason) => Err(Absence {
            kind: AbsenceKind::NotInstalled,
            reason: format!("this tool was built without the CPU device: {reason}"),
            hint: "rebuild the tool with a C++ compiler installed as `c++` or named in `CXX`".to_owned(),
        }),
    }
}

fn threads(order: &DeviceOrder) -> Option<NonZeroUsize> {
    NonZeroUsize::new(order.threads as usize)
}
