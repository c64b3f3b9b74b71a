//! The backend of CUDA GPUs.

use std::num::NonZeroUsize;

use gpubench::catalog::DeviceKind;

use crate::clocks::NvmlClocks;
use crate::compilers::{Disassembler, GpuCompiler, GpuCompilers};
use crate::cuda::{Architecture, CudaDriver};
use crate::telemetry::nvml::{NvmlGauge, library};
use crate::{Backend, DeviceOrder, NvidiaTools};

/// CUDA GPUs.
pub(super) const BACKEND: Backend = Backend {
    kind: DeviceKind::Cuda,
    is_numbered: true,
    hint: Some("`cargo gpubench doctor` lists what else a GPU needs"),
    kernels_run_in: crate::cuda::KERNELS_RUN_IN,
    nvidia_tools: NvidiaTools::Observe,
    schedules: &[0],
    order: |options| DeviceOrder::cuda(options.ordinal),
    // Only the referee has a context on the GPU, so only the referee knows its properties.
    facts: |_| Ok(None),
    open: |order| Ok(Box::new(CudaDriver::open(order)?)),
    compiler: |device, options| {
        let compilers = GpuCompilers::find(options.tool, &options.named)?;
        let architecture = Architecture::of_capability(device.capability);
        Ok(Box::new(GpuCompiler::new(architecture, compilers)))
    },
    target: |device| Architecture::of_capability(device.capability).to_string(),
    distance: |target, device| {
        let compiled_for: Architecture = target.parse().ok()?;
        let runs = compiled_for.machine_code_runs_on(Architecture::of_capability(device.capability));
        runs.then(|| device.capability - compiled_for.capability)
    },
    counted_under: |_| Ok(None),
    disassembler: Some(Disassembler::find),
    // CUPTI does not open a second process while one has the counters.
    counted_side_by_side: |_| NonZeroUsize::MIN,
    // Most of a test is the work of the driver, which makes contexts one after another.
    tested_side_by_side: |_| NonZeroUsize::MIN,
    counting_takes: 4,
    load_telemetry: || {
        // A failure means that there is no telemetry, for whoever asks for it later.
        let _ = library();
    },
    gauge: |facts| {
        let gauge = NvmlGauge::open(facts.identity.as_deref()?).ok()?;
        Some(Box::new(gauge))
    },
    clocks: Some(|uuid| Ok(Box::new(NvmlClocks::open(uuid)?))),
};
