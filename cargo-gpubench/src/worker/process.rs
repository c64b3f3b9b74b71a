//! The worker's process: orders in, claims out.

use std::time::Instant;

use gpubench::catalog::{Recording, Role};
use gpubench::codec;

use super::WorkerError;
use super::annotation::Annotation;
use super::replay::{NamedBuffer, Replay};
use crate::device::harness::{Coverage, Harness};
use crate::device::{self, Access, DeviceError, DevicePtr, Driver, Event, Module, ModuleImage, Stream};
use crate::window::WindowKind;
use crate::wire::{
    BufferLayout, Channel, ChannelError, Claim, FaultPlace, FixedText, Frame, PAGE_BYTES, PageAddresses, Patience,
    Problem, SharedPage, UNKNOWN_STEP, WindowOrder, WorkerReady, WorkerSetup, decode_modules, from_worker, to_worker,
};

/// Event pairs with nothing between them whose median is the reported overhead.
const EMPTY_PAIRS: usize = 101;

/// Serves the broker at the other end of `channel` until it is gone.
///
/// # Errors
/// When the broker breaks the protocol.
pub fn serve(channel: &Channel) -> Result<(), WorkerError> {
    let mut worker = match channel
        .receive(Patience::Forever)
        .map_err(WorkerError::from)
        .and_then(Worker::set_up)
    {
        Ok(worker) => worker,
        Err(WorkerError::Channel(ChannelError::Closed)) => return Ok(()),
        Err(error) => return refuse(channel, &error),
    };
    let event_overhead_ns = worker.measure_empty_pair()?;
    channel.send_record(from_worker::READY, &WorkerReady { event_overhead_ns })?;
    loop {
        let frame = match channel.receive(Patience::Forever) {
            Ok(frame) => frame,
            Err(ChannelError::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let order: WindowOrder = record(&frame, to_worker::ARM)?;
        if let Some(annotation) = &worker.annotation {
            annotation.open(order.window);
        }
        let host_ns = match worker.arm(&order) {
            Ok(host_ns) => host_ns,
            Err(error) => {
                worker.let_go(&order);
                return refuse(channel, &error);
            }
        };
        channel.send_record(from_worker::ARMED, &order)?;
        let claim = worker.finish(&order, host_ns)?;
        if let Some(annotation) = &worker.annotation {
            annotation.close();
        }
        channel.send_record(from_worker::CLAIM, &claim)?;
    }
}

fn refuse(channel: &Channel, error: &WorkerError) -> Result<(), WorkerError> {
    let text = FixedText::new(&crate::error::chain(error));
    Ok(channel.send_record(from_worker::FAILED, &Problem { text })?)
}

struct Worker {
    driver: Box<dyn Driver>,
    harness: Harness,
    stream: Stream,
    start: Event,
    end: Event,
    page: SharedPage,
    on_device: PageAddresses,
    replay: Replay,
    annotation: Option<Annotation>,
}

impl Worker {
    fn set_up(frame: Frame) -> Result<Worker, WorkerError> {
        let ParsedSetup {
            setup,
            layouts,
            modules,
            annotation,
            recording,
        } = parse_setup(&frame)?;
        let mut driver = device::open(&setup.device)?;
        let harness = Harness::load(&mut *driver)?;
        let mut descriptors = frame.descriptors.into_iter();
        let page = descriptors.next().ok_or(WorkerError::Order("the page is missing"))?;
        let page = SharedPage::open(page).map_err(WorkerError::Page)?;
        let on_device = driver.register(page.on_host().base(), PAGE_BYTES as u64)?;
        let mut buffers = Vec::with_capacity(layouts.len());
        for (position, layout) in layouts.into_iter().enumerate() {
            let descriptor = descriptors.next().ok_or(WorkerError::Order("a buffer is missing"))?;
            let memory = driver.import(descriptor, layout.allocation)?;
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
        let replay = Replay::bind(&mut *driver, &recording, buffers, &modules)?;
        let (stream, start, end) = (driver.stream()?, driver.event()?, driver.event()?);
        Ok(Worker {
            driver,
            harness,
            stream,
            start,
            end,
            page,
            on_device: PageAddresses::at(on_device.0),
            replay,
            annotation: annotation.map(Annotation::begin).transpose()?,
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

    /// Queues a window behind *go*, and gives the host time of queueing the call in nanoseconds.
    fn arm(&mut self, order: &WindowOrder) -> Result<f64, WorkerError> {
        let kind = WindowKind::from_number(order.kind).ok_or(WorkerError::Order("unknown kind of window"))?;
        let (driver, stream) = (&mut *self.driver, self.stream);
        driver.wait_value(stream, DevicePtr(self.on_device.go()), order.window)?;
        if kind == WindowKind::Timed {
            driver.record(self.start, stream)?;
        }
        let queued_from = Instant::now();
        self.replay.queue(driver, stream)?;
        let host_ns = queued_from.elapsed().as_nanos() as f64;
        let coverage = match kind {
            WindowKind::Timed => {
                driver.record(self.end, stream)?;
                Coverage::Sample
            }
            WindowKind::EarlyCheck => Coverage::Whole,
        };
        let keys = self.on_device.keys();
        for (output, (address, bytes)) in self.replay.outputs().into_iter().enumerate() {
            let seal = self.on_device.seal(output);
            self.harness
                .digest(driver, stream, address, bytes, keys, coverage, seal)?;
        }
        driver.write_value(stream, DevicePtr(self.on_device.done()), order.window)?;
        Ok(host_ns)
    }

    /// Lets what was queued of a window run: it would wait for a *go* that never comes, and the device could not be closed.
    fn let_go(&mut self, order: &WindowOrder) {
        self.driver.store_value(self.page.on_host().go(), order.window);
    }

    /// Waits for the window's work and says what it took.
    fn finish(&mut self, order: &WindowOrder, host_ns: f64) -> Result<Claim, WorkerError> {
        let mut claim = Claim {
            host_ns,
            ..Claim::empty(order.window)
        };
        match self.driver.synchronize(self.stream) {
            Ok(()) if order.kind == WindowKind::Timed.number() => {
                claim.elapsed_ns = self.driver.elapsed_ns(self.start, self.end)?;
            }
            Ok(()) => {}
            Err(DeviceError::Fault(fault)) => {
                claim.fault = self.replay.code_of(&fault) as u32;
                claim.step = self.replay.step_of(&fault).unwrap_or(UNKNOWN_STEP);
                claim.block = fault.block.unwrap_or_default();
                claim.thread = fault.thread.unwrap_or_default();
                claim.place = match (fault.block, fault.thread) {
                    (Some(_), Some(_)) => FaultPlace::Thread,
                    (Some(_), None) => FaultPlace::Block,
                    (None, _) => FaultPlace::Unknown,
                } as u32;
                claim.text = FixedText::new(&self.replay.describe(&fault));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(claim)
    }
}

/// The broker's first words.
struct ParsedSetup {
    setup: WorkerSetup,
    layouts: Vec<BufferLayout>,
    modules: Vec<(u32, std::path::PathBuf)>,
    /// The name that windows are marked with.
    annotation: Option<String>,
    recording: Recording,
}

fn parse_setup(frame: &Frame) -> Result<ParsedSetup, WorkerError> {
    let damaged = || WorkerError::Order("it is damaged");
    if frame.kind != to_worker::SETUP {
        return Err(WorkerError::Order("it came out of turn"));
    }
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
    let modules = decode_modules(modules).ok_or_else(damaged)?;
    let recording = codec::decode(recording).map_err(|_| damaged())?;
    Ok(ParsedSetup {
        setup,
        layouts: bytemuck::allocation::pod_collect_to_vec(layouts),
        modules,
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

fn record<R: bytemuck::AnyBitPattern>(frame: &Frame, kind: u32) -> Result<R, WorkerError> {
    if frame.kind != kind {
        return Err(WorkerError::Order("it came out of turn"));
    }
    bytemuck::try_pod_read_unaligned(&frame.payload).map_err(|_| WorkerError::Order("it has another length"))
}
