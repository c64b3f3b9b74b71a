//! The worker's process: orders in, claims out.

use std::os::fd::OwnedFd;
use std::time::Instant;

use gpubench::catalog::{Recording, Role};
use gpubench::codec;

use super::WorkerError;
use super::annotation::Annotation;
use super::replay::{NamedBuffer, Replay};
use crate::device::harness::{Coverage, Harness};
use crate::device::{self, Access, DeviceError, DevicePtr, Driver, Event, Memory, Module, ModuleImage, Stream};
use crate::window::WindowKind;
use crate::wire::{
    BufferLayout, Channel, ChannelError, Claim, DeviceOrder, FaultPlace, FixedText, Frame, PAGE_BYTES, PageAddresses,
    Patience, Problem, SharedPage, UNKNOWN_STEP, WindowOrder, WorkerReady, WorkerSetup, decode_modules, from_worker,
    to_worker,
};

/// Event pairs with nothing between them whose median is the reported overhead.
const EMPTY_PAIRS: usize = 101;

/// Serves the broker at the other end of `channel` until it is gone.
///
/// # Errors
/// When the broker breaks the protocol.
pub fn serve(channel: &Channel) -> Result<(), WorkerError> {
    let mut worker = None;
    loop {
        let frame = match channel.receive(Patience::Forever) {
            Ok(frame) => frame,
            Err(ChannelError::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if frame.kind == to_worker::ARM {
            let worker = worker.as_mut().ok_or(WorkerError::Order("it came before a set-up"))?;
            match conduct(channel, worker, &record(&frame)?)? {
                Conduct::Ended => continue,
                Conduct::Refused => return Ok(()),
            }
        }
        match Worker::set_up(worker.take(), frame) {
            Ok(ready) => {
                let ready = worker.insert(ready);
                let event_overhead_ns = ready.device.measure_empty_pair()?;
                channel.send_record(from_worker::READY, &WorkerReady { event_overhead_ns })?;
            }
            Err(error) => return refuse(channel, &error),
        }
    }
}

/// What became of a window.
enum Conduct {
    /// It has ended, and was claimed.
    Ended,
    /// It could not be queued.
    Refused,
}

fn conduct(channel: &Channel, worker: &mut Worker, order: &WindowOrder) -> Result<Conduct, WorkerError> {
    if let Some(annotation) = &worker.assignment.annotation {
        annotation.open(order.window);
    }
    let host_ns = match worker.arm(order) {
        Ok(host_ns) => host_ns,
        Err(error) => {
            worker.let_go(order);
            refuse(channel, &error)?;
            return Ok(Conduct::Refused);
        }
    };
    channel.send_record(from_worker::ARMED, order)?;
    let claim = worker.finish(order, host_ns)?;
    if let Some(annotation) = &worker.assignment.annotation {
        annotation.close();
    }
    channel.send_record(from_worker::CLAIM, &claim)?;
    Ok(Conduct::Ended)
}

fn refuse(channel: &Channel, error: &WorkerError) -> Result<(), WorkerError> {
    let text = FixedText::new(&crate::error::chain(error));
    Ok(channel.send_record(from_worker::FAILED, &Problem { text })?)
}

struct Worker {
    device: OpenDevice,
    assignment: Assignment,
}

/// What a worker has for as long as it lives.
struct OpenDevice {
    order: DeviceOrder,
    driver: Box<dyn Driver>,
    harness: Harness,
    stream: Stream,
    start: Event,
    end: Event,
}

/// What a worker has for a case.
struct Assignment {
    page: SharedPage,
    on_device: PageAddresses,
    memories: Vec<Memory>,
    replay: Replay,
    annotation: Option<Annotation>,
}

impl Worker {
    /// Takes an assignment, the first of a fresh process or the next of one that had `before`.
    fn set_up(before: Option<Worker>, frame: Frame) -> Result<Worker, WorkerError> {
        let setup = parse_setup(&frame)?;
        let mut device = match before {
            None => OpenDevice::open(setup.device)?,
            Some(Worker { mut device, assignment }) if device.order == setup.device => {
                assignment.hand_back(&mut *device.driver);
                device
            }
            Some(_) => return Err(WorkerError::Order("it is for another device")),
        };
        let assignment = Assignment::take(&mut *device.driver, setup, frame.descriptors)?;
        Ok(Worker { device, assignment })
    }
}

impl OpenDevice {
    fn open(order: DeviceOrder) -> Result<OpenDevice, WorkerError> {
        let mut driver = device::open(&order)?;
        let harness = Harness::load(&mut *driver)?;
        let (stream, start, end) = (driver.stream()?, driver.event()?, driver.event()?);
        Ok(OpenDevice {
            order,
            driver,
            harness,
            stream,
            start,
            end,
        })
    }

    /// Median time between two events with nothing between them, in nanoseconds.
    fn measure_empty_pair(&mut self) -> Result<f64, DeviceError> {
        let mut pairs = Vec::with_capacity(EMPTY_PAIRS);
        for _ in 0..EMPTY_PAIRS {
            self.driver.record(self.start, self.stream)?;
            self.driver.record(self.end, self.stream)?;
            self.driver.synchronize(self.stream)?;
            pairs.push(self.driver.elapsed_ns(self.start, self.end)?);
        }
        pairs.sort_by(f64::total_cmp);
        Ok(pairs[EMPTY_PAIRS / 2])
    }
}

impl Assignment {
    fn take(driver: &mut dyn Driver, setup: Setup, descriptors: Vec<OwnedFd>) -> Result<Assignment, WorkerError> {
        let Setup {
            layouts,
            modules,
            annotation,
            recording,
            ..
        } = setup;
        let mut descriptors = descriptors.into_iter();
        let page = descriptors.next().ok_or(WorkerError::Order("the page is missing"))?;
        let page = SharedPage::open(page).map_err(WorkerError::Page)?;
        let on_device = driver.register(page.on_host().base(), PAGE_BYTES as u64)?;
        let mut memories = Vec::with_capacity(layouts.len());
        let mut buffers = Vec::with_capacity(layouts.len());
        for (position, layout) in layouts.into_iter().enumerate() {
            let descriptor = descriptors.next().ok_or(WorkerError::Order("a buffer is missing"))?;
            let memory = driver.import(descriptor, layout.allocation)?;
            memories.push(memory);
            let (name, role) = describe_buffer(&recording, position);
            let access = if matches!(role, Role::Input | Role::Constant) {
                Access::Read
            } else {
                Access::ReadWrite
            };
            buffers.push(NamedBuffer {
                name,
                role,
                mapping: driver.map(memory, access)?,
                layout,
            });
        }
        let modules = modules
            .iter()
            .map(|(source, path)| Ok((*source, driver.load(ModuleImage::File(path))?)))
            .collect::<Result<Vec<(u32, Module)>, DeviceError>>()?;
        let replay = Replay::bind(driver, &recording, buffers, &modules)?;
        Ok(Assignment {
            page,
            on_device: PageAddresses::at(on_device.0),
            memories,
            replay,
            annotation: annotation.map(Annotation::begin).transpose()?,
        })
    }

    fn hand_back(self, driver: &mut dyn Driver) {
        self.memories.into_iter().for_each(|memory| driver.release(memory));
        driver.unregister(self.page.on_host().base());
    }
}

impl Worker {
    /// Queues a window behind *go*, and gives the host time of queueing the call in nanoseconds.
    fn arm(&mut self, order: &WindowOrder) -> Result<f64, WorkerError> {
        let kind = WindowKind::from_number(order.kind).ok_or(WorkerError::Order("unknown kind of window"))?;
        let Assignment { on_device, replay, .. } = &self.assignment;
        let OpenDevice {
            driver,
            harness,
            stream,
            start,
            end,
            ..
        } = &mut self.device;
        let (driver, stream) = (&mut **driver, *stream);
        driver.wait_value(stream, DevicePtr(on_device.go()), order.window)?;
        if kind.is_timed() {
            driver.record(*start, stream)?;
        }
        let queued_from = Instant::now();
        replay.queue(driver, stream)?;
        let host_ns = queued_from.elapsed().as_nanos() as f64;
        let coverage = match kind {
            WindowKind::Timed | WindowKind::Null => {
                driver.record(*end, stream)?;
                Coverage::Sample
            }
            WindowKind::EarlyCheck => Coverage::Whole,
        };
        let keys = on_device.keys();
        for (output, (address, bytes)) in replay.outputs().into_iter().enumerate() {
            let seal = on_device.seal(output);
            harness.digest(driver, stream, address, bytes, keys, coverage, seal)?;
        }
        driver.write_value(stream, DevicePtr(on_device.done()), order.window)?;
        Ok(host_ns)
    }

    /// Lets what was queued of a window run: it would wait for a *go* that never comes, and the device could not be closed.
    fn let_go(&mut self, order: &WindowOrder) {
        let go = self.assignment.page.on_host().go();
        self.device.driver.store_value(go, order.window);
    }

    /// Waits for the window's work and says what it took.
    fn finish(&mut self, order: &WindowOrder, host_ns: f64) -> Result<Claim, WorkerError> {
        let mut claim = Claim {
            host_ns,
            ..Claim::empty(order.window)
        };
        let replay = &self.assignment.replay;
        let OpenDevice {
            driver,
            stream,
            start,
            end,
            ..
        } = &mut self.device;
        match driver.synchronize(*stream) {
            Ok(()) if WindowKind::from_number(order.kind).is_some_and(WindowKind::is_timed) => {
                claim.elapsed_ns = driver.elapsed_ns(*start, *end)?;
            }
            Ok(()) => {}
            Err(DeviceError::Fault(fault)) => {
                claim.fault = replay.code_of(&fault) as u32;
                claim.step = replay.step_of(&fault).unwrap_or(UNKNOWN_STEP);
                claim.block = fault.block.unwrap_or_default();
                claim.thread = fault.thread.unwrap_or_default();
                claim.place = match (fault.block, fault.thread) {
                    (Some(_), Some(_)) => FaultPlace::Thread,
                    (Some(_), None) => FaultPlace::Block,
                    (None, _) => FaultPlace::Unknown,
                } as u32;
                claim.text = FixedText::new(&replay.describe(&fault));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(claim)
    }
}

/// A set-up as it was sent.
struct Setup {
    device: DeviceOrder,
    layouts: Vec<BufferLayout>,
    modules: Vec<(u32, std::path::PathBuf)>,
    /// The name that windows are marked with.
    annotation: Option<String>,
    recording: Recording,
}

fn parse_setup(frame: &Frame) -> Result<Setup, WorkerError> {
    let damaged = || WorkerError::Order("it is damaged");
    let (head, rest) = frame
        .payload
        .split_at_checked(size_of::<WorkerSetup>())
        .ok_or_else(damaged)?;
    let setup: WorkerSetup = bytemuck::pod_read_unaligned(head);
    let layout_bytes = setup.buffers as usize * size_of::<BufferLayout>();
    let (layouts, rest) = rest.split_at_checked(layout_bytes).ok_or_else(damaged)?;
    let (modules, rest) = rest.split_at_checked(setup.module_bytes as usize).ok_or_else(damaged)?;
    let (annotation, recording) = rest
        .split_at_checked(setup.annotation_bytes as usize)
        .ok_or_else(damaged)?;
    let annotation = str::from_utf8(annotation).map_err(|_| damaged())?;
    let mut recording: Recording = codec::decode(recording).map_err(|_| damaged())?;
    match frame.kind {
        to_worker::SETUP => {}
        // The buffers of the plan's scratch stay: the null worker has what the other has.
        to_worker::SETUP_NULL => recording.plan.steps.clear(),
        _ => return Err(WorkerError::Order("it came out of turn")),
    }
    Ok(Setup {
        device: setup.device,
        layouts: bytemuck::allocation::pod_collect_to_vec(layouts),
        modules: decode_modules(modules).ok_or_else(damaged)?,
        annotation: Some(annotation).filter(|name| !name.is_empty()).map(str::to_owned),
        recording,
    })
}

fn describe_buffer(recording: &Recording, position: usize) -> (String, Role) {
    match recording.tensors.get(position) {
        Some(tensor) => (tensor.name.clone(), tensor.role),
        None => (format!("scratch {}", position - recording.tensors.len()), Role::Scratch),
    }
}

fn record<R: bytemuck::AnyBitPattern>(frame: &Frame) -> Result<R, WorkerError> {
    bytemuck::try_pod_read_unaligned(&frame.payload).map_err(|_| WorkerError::Order("it has another length"))
}
