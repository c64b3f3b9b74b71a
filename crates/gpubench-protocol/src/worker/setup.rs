//! A set-up as the broker sent it.

use std::num::NonZeroU32;

use gpubench::catalog::{DeviceKind, Execution, Recording};
use gpubench::codec;

use super::WorkerError;
use super::hosted::{Caller, HostCode, HostedOrder};
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
    /// Which thread makes the calls of host code, also if this worker runs their twins.
    pub(super) caller: Caller,
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
            caller: caller(&head, &recording),
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

/// Returns which thread makes the calls. Where calls are counted or observed, nothing is queued
/// while they wait.
fn caller(head: &WorkerSetup, recording: &Recording) -> Caller {
    let is_timed = head.metric == MetricKind::Time && head.observer == Observer::None;
    match (recording.execution, head.device.kind()) {
        (Execution::HostedSync, DeviceKind::Cuda) if is_timed => Caller::OwnThread,
        _ => Caller::OfStream,
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

#[cfg(test)]
mod tests {
    use super::*;

    use crate::worker::tests::{recording, setup};

    fn frame(kind: u32, head: &WorkerSetup, parts: &[&[u8]], recording: &Recording) -> Frame {
        let recording = codec::encode(recording);
        Frame {
            kind,
            payload: [bytemuck::bytes_of(head), &parts.concat(), &recording].concat(),
            descriptors: Vec::new(),
        }
    }

    #[test]
    fn the_parts_of_a_set_up_are_told_apart_by_their_lengths() {
        let head = WorkerSetup {
            metric: MetricKind::Hardware,
            metric_bytes: 4,
            annotation_bytes: 5,
            request_bytes: 3,
            benchmark: 6,
            guarded: [8, 9],
            sides: 2,
            ..setup(0)
        };
        let hosted = Recording {
            execution: Execution::HostedSync,
            ..recording()
        };
        let parts: [&[u8]; 3] = [b"a\nb\n", b"a::bc", b"req"];
        let mut whole = frame(to_worker::SETUP, &head, &parts, &hosted);
        let taken = Setup::take(&mut whole).expect("a set-up");
        assert_eq!(
            (taken.metrics, taken.annotation.as_deref()),
            (vec!["a".to_owned(), "b".to_owned()], Some("a::bc"))
        );
        assert_eq!((taken.guarded, taken.sides, taken.recording), ([8, 9], 2, hosted));
        let code = taken.hosted.map(|hosted| hosted.code);
        assert!(
            matches!(&code, Some(HostCode::OfCrate { benchmark: 6, request }) if request == b"req"),
            "{code:?}"
        );
        let mut none = frame(to_worker::SETUP, &setup(0), &[], &recording());
        let taken = Setup::take(&mut none).expect("a set-up");
        assert!(taken.annotation.is_none() && taken.metrics.is_empty() && taken.hosted.is_none());
        for cut in [0, 7, size_of::<WorkerSetup>(), whole.payload.len() - 1] {
            let mut short = Frame {
                payload: whole.payload[..cut].to_vec(),
                ..frame(to_worker::SETUP, &head, &[], &recording())
            };
            assert!(Setup::take(&mut short).is_err(), "{cut}");
        }
    }

    #[test]
    fn a_control_worker_has_no_plan_no_host_code_and_no_metric() {
        let hosted = Recording {
            execution: Execution::Hosted,
            ..recording()
        };
        let head = WorkerSetup {
            metric: MetricKind::Instructions,
            ..setup(0)
        };
        let taken = Setup::take(&mut frame(to_worker::SETUP_NULL, &head, &[], &hosted)).expect("a set-up");
        let plan = &taken.recording.plan;
        assert!(plan.steps.is_empty() && plan.scratch.is_empty() && plan.constants.is_empty());
        assert_eq!(
            (taken.recording.execution, taken.metric),
            (Execution::Sealed, MetricKind::Time)
        );
        assert!(taken.hosted.is_none() && taken.role().is_none());
    }

    #[test]
    fn only_metrics_of_the_device_are_asked_of_a_counter() {
        let of = |metric, execution| {
            let recording = Recording {
                execution,
                ..recording()
            };
            let head = WorkerSetup { metric, ..setup(0) };
            let taken = Setup::take(&mut frame(to_worker::SETUP, &head, &[], &recording)).expect("a set-up");
            match taken.to_count() {
                None => "nothing",
                Some(CountRequest::Instructions) => "instructions",
                Some(CountRequest::Hardware(_)) => "hardware",
                Some(CountRequest::Memory) => "memory",
            }
        };
        for execution in [Execution::Sealed, Execution::Hosted] {
            assert_eq!(of(MetricKind::Time, execution), "nothing");
            assert_eq!(of(MetricKind::Energy, execution), "nothing");
            assert_eq!(of(MetricKind::Instructions, execution), "instructions");
            assert_eq!(of(MetricKind::Hardware, execution), "hardware");
        }
        assert_eq!(of(MetricKind::Memory, Execution::Sealed), "nothing");
        assert_eq!(of(MetricKind::Memory, Execution::Hosted), "memory");
    }

    #[test]
    fn host_code_and_native_kernels_are_confined_and_a_plan_alone_is_not() {
        let file = || gpubench_device::FrozenFile::of_contents("kernels", &b"code"[..]).expect("a file");
        let role = |device, execution, has_modules: bool| {
            let recording = Recording {
                execution,
                ..recording()
            };
            let head = WorkerSetup { device, ..setup(0) };
            let mut taken = Setup::take(&mut frame(to_worker::SETUP, &head, &[], &recording)).expect("a set-up");
            taken.modules.extend(has_modules.then(|| (0, file())));
            taken.role()
        };
        let [cpu, gpu] = [DeviceOrder::cpu(1, 0), DeviceOrder::cuda(0)];
        for device in [cpu, gpu] {
            for has_modules in [false, true] {
                assert_eq!(
                    role(device, Execution::Hosted, has_modules),
                    Some(ConfinedRole::HostCode)
                );
            }
        }
        assert_eq!(role(cpu, Execution::Sealed, true), Some(ConfinedRole::NativeKernels));
        assert_eq!(role(cpu, Execution::Sealed, false), None);
        assert_eq!(role(gpu, Execution::Sealed, true), None);
    }
}
