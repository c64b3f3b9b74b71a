//! A set-up as the broker sent it.

use std::num::NonZeroU32;

use gpubench::catalog::{Execution, Recording};
use gpubench::codec;

use super::WorkerError;
use super::hosted::{HostCode, HostedOrder};
use super::twin::launches;
use crate::window::{Allocations, Gate, WindowCalls};
use crate::wire::{
    BufferLayout, Frame, Observer, SourceModule, WorkerSetup, decode_modules, read_head, take_files, to_worker,
};
use gpubench_contract::MetricKind;
use gpubench_device::{Backend, CountRequest, CounterHold, DeviceOrder, KernelHost};
use gpubench_sandbox::ConfinedRole;

/// A set-up as the broker sent it.
pub(super) struct Setup {
    pub(super) device: DeviceOrder,
    pub(super) calls: WindowCalls,
    pub(super) metric: MetricKind,
    /// How long to keep the counters of a GPU.
    pub(super) hold: CounterHold,
    /// The hardware metrics to read.
    pub(super) metrics: Vec<String>,
    pub(super) layouts: Vec<BufferLayout>,
    /// Number of sides whose outputs are among the buffers.
    sides: usize,
    pub(super) modules: Vec<SourceModule>,
    /// The name of the windows in a profiler.
    pub(super) annotation: Option<String>,
    pub(super) observer: Observer,
    pub(super) hosted: Option<HostedOrder>,
    /// Number of launches of a call and of its twin.
    pub(super) launches: NonZeroU32,
    pub(super) recording: Recording,
    /// Processes, besides the broker, whose memory a hosted worker must not reach: referee and
    /// author.
    pub(super) guarded: [u32; 2],
}

impl Setup {
    /// Takes the code from the frame's descriptors. The page and the buffers remain.
    pub(super) fn take(frame: &mut Frame) -> Result<Setup, WorkerError> {
        let mut setup = Setup::parse(frame).ok_or(WorkerError::Order("it is damaged"))?;
        match frame.kind {
            to_worker::SETUP => {}
            // The twin uses no scratch.
            to_worker::SETUP_NULL => {
                setup.recording.plan.scratch.clear();
                setup.recording.plan.steps.clear();
                setup.recording.plan.constants.clear();
                setup.recording.execution = Execution::Sealed;
                setup.hosted = None;
                setup.metric = MetricKind::Time;
            }
            _ => return Err(WorkerError::Order("it is not expected now")),
        }
        Ok(setup)
    }

    fn parse(frame: &mut Frame) -> Option<Setup> {
        let (head, mut rest) = read_head::<WorkerSetup>(&frame.payload).ok()?;
        let layouts = rest.split_off(..head.buffers as usize * size_of::<BufferLayout>())?;
        let modules = rest.split_off(..head.module_bytes as usize)?;
        let metrics = str::from_utf8(rest.split_off(..head.metric_bytes as usize)?).ok()?;
        let annotation = str::from_utf8(rest.split_off(..head.annotation_bytes as usize)?).ok()?;
        let request = rest.split_off(..head.request_bytes as usize)?;
        let recording: Recording = codec::decode(rest).ok()?;
        let library = take_files(head.library_files as usize, &mut frame.descriptors)?;
        Some(Setup {
            device: head.device,
            calls: head.calls,
            metric: head.metric,
            hold: head.hold,
            metrics: metrics.lines().map(str::to_owned).collect(),
            layouts: bytemuck::allocation::pod_collect_to_vec(layouts),
            sides: head.sides as usize,
            modules: decode_modules(modules, &mut frame.descriptors)?,
            annotation: Some(annotation).filter(|name| !name.is_empty()).map(str::to_owned),
            observer: head.observer,
            hosted: recording.execution.is_hosted().then(|| HostedOrder {
                library,
                code: host_code(&head, request, &recording),
            }),
            launches: launches(&recording),
            recording,
            guarded: head.guarded,
        })
    }

    /// Returns which buffers the worker has. A worker under test has those of its side, the control
    /// worker the tensors of all.
    pub(super) fn allocations(&self) -> Allocations {
        let scratch = self.recording.plan.scratch.len();
        Allocations::new(
            &self.recording.tensors,
            self.calls.count,
            std::iter::repeat_n(scratch, self.sides),
        )
    }

    /// Returns what to count, if a counter is needed.
    pub(super) fn to_count(&self) -> Option<CountRequest<'_>> {
        match self.metric {
            MetricKind::Time | MetricKind::Energy => None,
            MetricKind::Instructions => Some(CountRequest::Instructions),
            MetricKind::Hardware => Some(CountRequest::Hardware(&self.metrics)),
            // The steps of a plan allocate nothing.
            MetricKind::Memory => self.hosted.as_ref().map(|_| CountRequest::Memory),
        }
    }

    /// Returns the sandbox role for the code in this process, or `None` if it is only the tool's.
    pub(super) fn role(&self) -> Option<ConfinedRole> {
        let is_native =
            Backend::for_order(&self.device).kernels_run_in == KernelHost::Author && !self.modules.is_empty();
        match &self.hosted {
            Some(_) => Some(ConfinedRole::HostCode),
            None => is_native.then_some(ConfinedRole::NativeKernels),
        }
    }
}

/// Returns where the host code of a recording is.
fn host_code(head: &WorkerSetup, request: &[u8], recording: &Recording) -> HostCode {
    let Some(call) = &recording.call else {
        return HostCode::OfCrate {
            benchmark: head.benchmark,
            request: request.to_vec(),
        };
    };
    let tensors = recording.tensors.len() / head.calls.count.get() as usize;
    HostCode::OwnLibrary {
        call: (**call).clone(),
        tensors: recording.tensors[..tensors].to_vec(),
        device: head.device.kind(),
        gate: Gate::new(recording.execution),
    }
}
