//! The worker's process: orders in, claims out.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Instant;

use gpubench::catalog::{Execution, Recording, Role};
use gpubench::codec;
use rustix::process::Pid;

use super::WorkerError;
use super::buffers::{Buffers, NamedBuffer, describe_buffer};
use super::call::Call;
use super::hosted::{Hosted, HostedOrder};
use super::replay::Replay;
use crate::device::harness::{Coverage, Harness};
use crate::device::{
    self, Access, DeviceError, DevicePtr, Driver, Event, Fault, HostFailure, Module, ModuleImage, Stream,
};
use crate::sandbox::HostedSandbox;
use crate::window::WindowKind;
use crate::wire::{
    BufferLayout, Channel, ChannelError, Claim, FaultCode, FaultPlace, FixedText, Frame, PAGE_BYTES, PageAddresses,
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
    let mut worker = match channel
        .receive(Patience::Forever)
        .map_err(WorkerError::from)
        .and_then(|frame| Worker::set_up(frame, channel))
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
        let armed = match worker.arm(&order) {
            Ok(armed) => armed,
            Err(error) => {
                worker.let_go(&order);
                return refuse(channel, &error);
            }
        };
        channel.send_record(from_worker::ARMED, &order)?;
        let claim = worker.finish(&order, armed)?;
        channel.send_record(from_worker::CLAIM, &claim)?;
    }
}

fn refuse(channel: &Channel, error: &WorkerError) -> Result<(), WorkerError> {
    let kind = match error {
        WorkerError::Refused(_) => from_worker::REFUSED,
        _ => from_worker::FAILED,
    };
    let text = FixedText::new(&crate::error::chain(error));
    Ok(channel.send_record(kind, &Problem { text })?)
}

struct Worker {
    driver: Box<dyn Driver>,
    harness: Harness,
    stream: Stream,
    start: Event,
    end: Event,
    page: SharedPage,
    on_device: PageAddresses,
    buffers: Buffers,
    call: Call,
}

/// What came of queueing a window.
enum Armed {
    /// All of it is queued; queueing the call took so many nanoseconds of the host.
    Queued { host_ns: f64 },
    /// The user's host code failed; what it had queued until then is not waited for.
    Failed(HostFailure),
}

impl Worker {
    fn set_up(frame: Frame, channel: &Channel) -> Result<Worker, WorkerError> {
        let Setup {
            head,
            layouts,
            modules,
            hosted,
            recording,
        } = parse_setup(&frame)?;
        let sandbox = hosted.as_ref().map(|_| {
            let received = frame.descriptors.iter().map(AsFd::as_fd);
            HostedSandbox::begin(&received.chain([channel.as_fd()]).collect::<Vec<_>>())
        });
        let mut driver = device::open(&head.device)?;
        let harness = Harness::load(&mut *driver)?;
        let mut descriptors = frame.descriptors.into_iter();
        let page = descriptors.next().ok_or(WorkerError::Order("the page is missing"))?;
        let page = SharedPage::open(page).map_err(WorkerError::Page)?;
        let on_device = driver.register(page.on_host().base(), PAGE_BYTES as u64)?;
        let buffers = map_buffers(&mut *driver, layouts, descriptors, &recording)?;
        let modules = modules
            .iter()
            .map(|(source, path)| Ok((*source, driver.load(ModuleImage::File(path))?)))
            .collect::<Result<Vec<(u32, Module)>, DeviceError>>()?;
        let (stream, start, end) = (driver.stream()?, driver.event()?, driver.event()?);
        let call = match (hosted, sandbox) {
            (Some(order), Some(sandbox)) => {
                let confinement = sandbox.close(guarded(&head));
                channel.send_record(from_worker::SANDBOX, &confinement.to_report())?;
                let tensors = recording.tensors.len();
                Call::Hosted(Hosted::open(&mut *driver, stream, order, &buffers, tensors)?)
            }
            _ => Call::Sealed(Replay::bind(&mut *driver, &recording, &buffers, &modules)?),
        };
        Ok(Worker {
            driver,
            harness,
            stream,
            start,
            end,
            page,
            on_device: PageAddresses::at(on_device.0),
            buffers,
            call,
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

    /// Queues a window behind *go*.
    fn arm(&mut self, order: &WindowOrder) -> Result<Armed, WorkerError> {
        let kind = WindowKind::from_number(order.kind).ok_or(WorkerError::Order("unknown kind of window"))?;
        let (driver, stream) = (&mut *self.driver, self.stream);
        driver.wait_value(stream, DevicePtr(self.on_device.go()), order.window)?;
        if kind == WindowKind::Timed {
            driver.record(self.start, stream)?;
        }
        let queued_from = Instant::now();
        match self.call.queue(driver, stream) {
            Ok(()) => {}
            Err(DeviceError::Host(failure)) => return Ok(Armed::Failed(failure)),
            Err(error) => return Err(error.into()),
        }
        let host_ns = queued_from.elapsed().as_nanos() as f64;
        let coverage = match kind {
            WindowKind::Timed => {
                driver.record(self.end, stream)?;
                Coverage::Sample
            }
            WindowKind::EarlyCheck => Coverage::Whole,
        };
        let keys = self.on_device.keys();
        for (output, (address, bytes)) in self.buffers.outputs().into_iter().enumerate() {
            let seal = self.on_device.seal(output);
            self.harness
                .digest(driver, stream, address, bytes, keys, coverage, seal)?;
        }
        driver.write_value(stream, DevicePtr(self.on_device.done()), order.window)?;
        Ok(Armed::Queued { host_ns })
    }

    /// Lets what was queued of a window run: it would wait for a *go* that never comes, and the device could not be closed.
    fn let_go(&mut self, order: &WindowOrder) {
        self.driver.store_value(self.page.on_host().go(), order.window);
    }

    /// Waits for the window's work and says what it took.
    fn finish(&mut self, order: &WindowOrder, armed: Armed) -> Result<Claim, WorkerError> {
        let empty = Claim::empty(order.window);
        let host_ns = match armed {
            Armed::Queued { host_ns } => host_ns,
            Armed::Failed(failure) => {
                self.let_go(order);
                return Ok(host_claim(empty, &failure));
            }
        };
        let claim = Claim { host_ns, ..empty };
        match self.driver.synchronize(self.stream) {
            Ok(()) if order.kind == WindowKind::Timed.number() => Ok(Claim {
                elapsed_ns: self.driver.elapsed_ns(self.start, self.end)?,
                ..claim
            }),
            Ok(()) => Ok(claim),
            Err(DeviceError::Fault(fault)) => Ok(self.fault_claim(claim, &fault)),
            Err(DeviceError::Host(failure)) => Ok(host_claim(claim, &failure)),
            Err(error) => Err(error.into()),
        }
    }

    fn fault_claim(&self, claim: Claim, fault: &Fault) -> Claim {
        let launch = self.call.faulting_launch(fault);
        let place = match (fault.block, fault.thread) {
            (Some(_), Some(_)) => FaultPlace::Thread,
            (Some(_), None) => FaultPlace::Block,
            (None, _) => FaultPlace::Unknown,
        };
        Claim {
            fault: self.buffers.code_of(fault) as u32,
            step: launch.map_or(UNKNOWN_STEP, |(position, _)| position),
            block: fault.block.unwrap_or_default(),
            thread: fault.thread.unwrap_or_default(),
            place: place as u32,
            text: FixedText::new(&self.buffers.describe(fault, launch.map(|(_, kernel)| kernel))),
            ..claim
        }
    }
}

fn host_claim(claim: Claim, failure: &HostFailure) -> Claim {
    let code = match failure {
        HostFailure::Returned(_) | HostFailure::Panicked(_) => FaultCode::HostCallFailed,
        HostFailure::ForeignContext => FaultCode::ForeignContext,
    };
    Claim {
        fault: code as u32,
        text: FixedText::new(&failure.to_string()),
        ..claim
    }
}

fn map_buffers(
    driver: &mut dyn Driver,
    layouts: Vec<BufferLayout>,
    mut descriptors: impl Iterator<Item = OwnedFd>,
    recording: &Recording,
) -> Result<Buffers, WorkerError> {
    let mut buffers = Vec::with_capacity(layouts.len());
    for (position, layout) in layouts.into_iter().enumerate() {
        let descriptor = descriptors.next().ok_or(WorkerError::Order("a buffer is missing"))?;
        let memory = driver.import(descriptor, layout.allocation)?;
        let (name, role) = describe_buffer(recording, position);
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
    Ok(Buffers::new(buffers))
}

/// Whose memory must be closed to the user's host code: the broker's, the referee's and the author's.
fn guarded(head: &WorkerSetup) -> impl Iterator<Item = Pid> {
    let others = head.guarded.into_iter().filter_map(|id| Pid::from_raw(id as i32));
    rustix::process::getppid().into_iter().chain(others)
}

/// The broker's first order.
struct Setup {
    head: WorkerSetup,
    layouts: Vec<BufferLayout>,
    modules: Vec<(u32, PathBuf)>,
    hosted: Option<HostedOrder>,
    recording: Recording,
}

fn parse_setup(frame: &Frame) -> Result<Setup, WorkerError> {
    let damaged = || WorkerError::Order("it is damaged");
    if frame.kind != to_worker::SETUP {
        return Err(WorkerError::Order("it came out of turn"));
    }
    let mut rest = frame.payload.as_slice();
    let mut take = |bytes: usize| {
        let (taken, behind) = rest.split_at_checked(bytes).ok_or_else(damaged)?;
        rest = behind;
        Ok::<_, WorkerError>(taken)
    };
    let head: WorkerSetup = bytemuck::pod_read_unaligned(take(size_of::<WorkerSetup>())?);
    let layouts = take(head.buffers as usize * size_of::<BufferLayout>())?;
    let modules = take(head.module_bytes as usize)?;
    let library = take(head.library_bytes as usize)?;
    let request = take(head.request_bytes as usize)?;
    let recording: Recording = codec::decode(rest).map_err(|_| damaged())?;
    let hosted = match recording.execution {
        Execution::Sealed => None,
        Execution::Hosted => Some(HostedOrder {
            library: PathBuf::from(OsStr::from_bytes(library)),
            benchmark: head.benchmark,
            request: request.to_vec(),
        }),
    };
    Ok(Setup {
        head,
        layouts: bytemuck::allocation::pod_collect_to_vec(layouts),
        modules: decode_modules(modules).ok_or_else(damaged)?,
        hosted,
        recording,
    })
}

fn record<R: bytemuck::AnyBitPattern>(frame: &Frame, kind: u32) -> Result<R, WorkerError> {
    if frame.kind != kind {
        return Err(WorkerError::Order("it came out of turn"));
    }
    bytemuck::try_pod_read_unaligned(&frame.payload).map_err(|_| WorkerError::Order("it has another length"))
}
