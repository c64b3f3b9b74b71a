//! A set-up as it was sent.

use std::num::NonZeroU32;

use gpubench::catalog::{Execution, Recording};
use gpubench::codec;
use gpubench_contract::Method;

use super::WorkerError;
use super::hosted::HostedOrder;
use super::twin::launches;
use crate::wire::{BufferLayout, Frame, SourceModule, WorkerSetup, decode_modules, read_head, take_files, to_worker};
use gpubench_device::{DeviceOrder, KernelHost};
use gpubench_sandbox::ConfinedRole;

/// A set-up as it was sent.
pub(super) struct Setup {
    pub(super) device: DeviceOrder,
    pub(super) method: Method,
    pub(super) layouts: Vec<BufferLayout>,
    pub(super) modules: Vec<SourceModule>,
    /// The name that windows are marked with.
    pub(super) annotation: Option<String>,
    pub(super) hosted: Option<HostedOrder>,
    /// How many launches a call has, and its twin.
    pub(super) launches: NonZeroU32,
    pub(super) recording: Recording,
    /// Processes whose memory must be closed to a hosted worker, beside the broker: referee and
    /// author.
    pub(super) guarded: [u32; 2],
}

impl Setup {
    /// Takes the code off the frame's descriptors; page and buffers are left.
    pub(super) fn take(frame: &mut Frame) -> Result<Setup, WorkerError> {
        let mut setup = Setup::parse(frame).ok_or(WorkerError::Order("it is damaged"))?;
        match frame.kind {
            to_worker::SETUP => {}
            // The buffers of the plan's scratch stay: the control worker has what the other has.
            to_worker::SETUP_NULL => {
                setup.recording.plan.steps.clear();
                setup.recording.plan.constants.clear();
                setup.recording.execution = Execution::Sealed;
                setup.hosted = None;
            }
            _ => return Err(WorkerError::Order("it came out of turn")),
        }
        Ok(setup)
    }

    fn parse(frame: &mut Frame) -> Option<Setup> {
        let (head, mut rest) = read_head::<WorkerSetup>(&frame.payload).ok()?;
        let layouts = rest.split_off(..head.buffers as usize * size_of::<BufferLayout>())?;
        let modules = rest.split_off(..head.module_bytes as usize)?;
        let annotation = str::from_utf8(rest.split_off(..head.annotation_bytes as usize)?).ok()?;
        let request = rest.split_off(..head.request_bytes as usize)?;
        let recording: Recording = codec::decode(rest).ok()?;
        let library = take_files(head.library_files as usize, &mut frame.descriptors)?;
        Some(Setup {
            device: head.device,
            method: head.method,
            layouts: bytemuck::allocation::pod_collect_to_vec(layouts),
            modules: decode_modules(modules, &mut frame.descriptors)?,
            annotation: Some(annotation).filter(|name| !name.is_empty()).map(str::to_owned),
            hosted: (recording.execution == Execution::Hosted).then(|| HostedOrder {
                library,
                benchmark: head.benchmark,
                request: request.to_vec(),
            }),
            launches: launches(&recording),
            recording,
            guarded: head.guarded,
        })
    }

    /// Whose code this process will run; nothing where it is the tool's alone.
    pub(super) fn role(&self) -> Option<ConfinedRole> {
        let is_native = self.device.backend().kernels_run_in == KernelHost::Author && !self.modules.is_empty();
        match &self.hosted {
            Some(_) => Some(ConfinedRole::HostCode),
            None => is_native.then_some(ConfinedRole::NativeKernels),
        }
    }
}
