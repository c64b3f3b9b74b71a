//! The worker's process: orders in, claims out.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use gpubench::catalog::{DeviceKind, Execution, Recording, Role};
use gpubench::codec;
use rustix::process::Pid;

use super::annotation::Annotation;
use super::buffers::{Buffers, NamedBuffer, describe_buffer};
use super::call::Call;
use super::hosted::{Hosted, HostedOrder};
use super::replay::Replay;
use super::{ReplayError, WorkerError};
use crate::sandbox::{HostedSandbox, keep_files_as_they_are};
use crate::window::WindowKind;
use crate::wire::{
    BufferLayout, Channel, ChannelError, Claim, FaultPlace, FixedText, Frame, PAGE_BYTES, PageAddresses, Patience,
    Problem, SharedPage, SourceModule, UNKNOWN_STEP, WindowOrder, WorkerReady, WorkerSetup, decode_modules,
    from_worker, module_descriptors, read_head, take_files, to_worker,
};
use gpubench_device::harness::{Coverage, Harness};
use gpubench_device::{
    self, Access, DeviceError, DevicePtr, Driver, Event, Fault, HostFailure, Memory, Module, ModuleImage, Stream,
};
use gpubench_device::{DeviceOrder, FaultCode};

/// Event pairs with nothing between them whose median is the reported overhead.
const EMPTY_PAIRS: usize = 101;

/// Serves the broker at the other end of `channel` until it is gone.
///
/// # Errors
/// When the broker breaks the protocol.
pub fn serve(channel: &Channel) -> Result<(), WorkerError> {
    let mut held = Held::Nothing;
    loop {
        let frame = match channel.receive(Patience::Forever) {
            Ok(frame) => frame,
            Err(ChannelError::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        match frame.kind {
            to_worker::ARM => match conduct(channel, held.case()?, &frame.record()?)? {
                Conduct::Ended => continue,
                Conduct::Refused => return Ok(()),
            },
            to_worker::HAND_BACK => {
                held = Held::Device(held.hand_back()?);
                channel.send(from_worker::HANDED_BACK, &[], &[])?;
                continue;
            }
            _ => {}
        }
        let ready = Worker::set_up(held, frame, channel).and_then(|mut ready| {
            let event_overhead_ns = ready.device.measure_empty_pair()?;
            Ok((ready, WorkerReady { event_overhead_ns }))
        });
        match ready {
            Ok((ready, report)) => {
                held = Held::Case(Box::new(ready));
                channel.send_record(from_worker::READY, &report)?;
            }
            Err(error) => return refuse(channel, &error),
        }
    }
}

/// What a worker has between two orders.
enum Held {
    /// It has just begun.
    Nothing,
    /// Its case has been handed back.
    Device(OpenDevice),
    /// A case.
    Case(Box<Worker>),
}

impl Held {
    fn case(&mut self) -> Result<&mut Worker, WorkerError> {
        match self {
            Held::Case(worker) => Ok(worker),
            Held::Nothing | Held::Device(_) => Err(WorkerError::Order("it came before a set-up")),
        }
    }

    fn hand_back(self) -> Result<OpenDevice, WorkerError> {
        match self {
            Held::Case(worker) => Ok(worker.hand_back()),
            Held::Nothing | Held::Device(_) => Err(WorkerError::Order("there is no case to hand back")),
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
    let armed = match worker.arm(order) {
        Ok(armed) => armed,
        Err(error) => {
            worker.let_go(order);
            refuse(channel, &error)?;
            return Ok(Conduct::Refused);
        }
    };
    channel.send_record(from_worker::ARMED, order)?;
    let claim = worker.finish(order, armed)?;
    if let Some(annotation) = &worker.assignment.annotation {
        annotation.close();
    }
    channel.send_record(from_worker::CLAIM, &claim)?;
    Ok(Conduct::Ended)
}

fn refuse(channel: &Channel, error: &WorkerError) -> Result<(), WorkerError> {
    let kind = match error {
        WorkerError::Refused(_) => from_worker::REFUSED,
        WorkerError::Device(error)
        | WorkerError::Plan(error)
        | WorkerError::Replay(ReplayError::Device(error) | ReplayError::Kernel { source: error, .. })
            if error.is_want_of_memory() =>
        {
            from_worker::OUT_OF_MEMORY
        }
        WorkerError::Plan(_) | WorkerError::Replay(_) => from_worker::PLAN_REFUSED,
        _ => from_worker::FAILED,
    };
    let text = FixedText::new(&gpubench_diagnostic::chain(error));
    Ok(channel.send_record(kind, &Problem { text })?)
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
    buffers: Buffers,
    call: Call,
    annotation: Option<Annotation>,
}

/// What came of queueing a window.
enum Armed {
    /// All of it is queued; queueing the call took so many nanoseconds of the host.
    Queued { host_ns: f64 },
    /// The user's host code failed; what it had queued until then is not waited for.
    Failed(HostFailure),
}

impl Worker {
    /// Takes an assignment, the first of a fresh process or the next of one that had others.
    fn set_up(before: Held, mut frame: Frame, channel: &Channel) -> Result<Worker, WorkerError> {
        let setup = parse_setup(&mut frame)?;
        let open = match before {
            Held::Nothing => None,
            Held::Device(device) => Some(device),
            Held::Case(worker) => Some(worker.hand_back()),
        };
        if setup.hosted.is_some() && open.is_some() {
            return Err(WorkerError::Order("host code needs a fresh worker"));
        }
        let sandbox = setup.hosted.as_ref().map(|hosted| {
            let buffers = frame.descriptors.iter().map(AsFd::as_fd);
            let code = module_descriptors(&setup.modules).chain(hosted.library.iter().map(AsFd::as_fd));
            let kept: Vec<_> = buffers.chain(code).chain([channel.as_fd()]).collect();
            // The broker has made it for this worker alone.
            HostedSandbox::begin(&kept, &std::env::temp_dir())
        });
        if open.is_none() && setup.runs_native_kernels() {
            // Results of native kernels are advisory whether or not this machine can: there is no grade to lower.
            let _ = keep_files_as_they_are();
        }
        let mut device = match open {
            None => OpenDevice::open(setup.head.device)?,
            Some(device) if device.order == setup.head.device => device,
            Some(_) => return Err(WorkerError::Order("it is for another device")),
        };
        let assignment = Assignment::take(&mut device, setup, frame.descriptors, sandbox, channel)?;
        Ok(Worker { device, assignment })
    }

    fn hand_back(self) -> OpenDevice {
        let Worker { mut device, assignment } = self;
        assignment.hand_back(&mut *device.driver);
        device
    }
}

impl OpenDevice {
    fn open(order: DeviceOrder) -> Result<OpenDevice, WorkerError> {
        let mut driver = gpubench_device::open(&order)?;
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
    fn take(
        device: &mut OpenDevice,
        setup: Setup,
        descriptors: Vec<OwnedFd>,
        sandbox: Option<HostedSandbox>,
        channel: &Channel,
    ) -> Result<Assignment, WorkerError> {
        let Setup {
            head,
            layouts,
            modules,
            annotation,
            hosted,
            recording,
        } = setup;
        let (driver, stream) = (&mut *device.driver, device.stream);
        let mut descriptors = descriptors.into_iter();
        let page = descriptors.next().ok_or(WorkerError::Order("the page is missing"))?;
        let page = SharedPage::open(page).map_err(WorkerError::Page)?;
        let on_device = driver.register(page.on_host().base(), PAGE_BYTES as u64)?;
        let (buffers, memories) = map_buffers(driver, layouts, descriptors, &recording)?;
        let modules = modules
            .iter()
            .map(|(source, file)| Ok((*source, driver.load(ModuleImage::File(file))?)))
            .collect::<Result<Vec<(u32, Module)>, DeviceError>>()
            .map_err(WorkerError::Plan)?;
        let call = match (hosted, sandbox) {
            (Some(order), Some(sandbox)) => {
                let confinement = sandbox.close(guarded(&head));
                channel.send_record(from_worker::SANDBOX, &confinement.to_report())?;
                let tensors = recording.tensors.len();
                Call::Hosted(Hosted::open(driver, stream, order, &buffers, tensors)?)
            }
            _ => Call::Sealed(Replay::bind(driver, &recording, &buffers, &modules)?),
        };
        Ok(Assignment {
            page,
            on_device: PageAddresses::at(on_device.0),
            memories,
            annotation: annotation.map(Annotation::begin).transpose()?,
            buffers,
            call,
        })
    }

    fn hand_back(self, driver: &mut dyn Driver) {
        self.memories.into_iter().for_each(|memory| driver.release(memory));
        driver.unregister(self.page.on_host().base());
    }
}

impl Worker {
    /// Queues a window behind *go*.
    fn arm(&mut self, order: &WindowOrder) -> Result<Armed, WorkerError> {
        let Assignment {
            on_device,
            buffers,
            call,
            ..
        } = &self.assignment;
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
        if order.kind.is_timed() {
            driver.record(*start, stream)?;
        }
        let queued_from = Instant::now();
        match call.queue(driver, stream) {
            Ok(()) => {}
            Err(DeviceError::Host(failure)) => return Ok(Armed::Failed(failure)),
            Err(error) => return Err(WorkerError::Plan(error)),
        }
        let host_ns = queued_from.elapsed().as_nanos() as f64;
        let coverage = match order.kind {
            WindowKind::Timed | WindowKind::Null => {
                driver.record(*end, stream)?;
                Coverage::Sample
            }
            WindowKind::EarlyCheck => Coverage::Whole,
        };
        let keys = on_device.keys();
        for (output, (address, bytes)) in buffers.outputs().into_iter().enumerate() {
            let seal = on_device.seal(output);
            harness.digest(driver, stream, address, bytes, keys, coverage, seal)?;
        }
        driver.write_value(stream, DevicePtr(on_device.done()), order.window)?;
        Ok(Armed::Queued { host_ns })
    }

    /// Lets what was queued of a window run: it would wait for a *go* that never comes, and the device could not be closed.
    fn let_go(&mut self, order: &WindowOrder) {
        let go = self.assignment.page.on_host().go();
        self.device.driver.store_value(go, order.window);
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
        let OpenDevice {
            driver,
            stream,
            start,
            end,
            ..
        } = &mut self.device;
        match driver.synchronize(*stream) {
            Ok(()) if order.kind.is_timed() => Ok(Claim {
                elapsed_ns: driver.elapsed_ns(*start, *end)?,
                ..claim
            }),
            Ok(()) => Ok(claim),
            Err(DeviceError::Fault(fault)) => Ok(self.fault_claim(claim, &fault)),
            Err(DeviceError::Host(failure)) => Ok(host_claim(claim, &failure)),
            Err(error) => Err(error.into()),
        }
    }

    fn fault_claim(&self, claim: Claim, fault: &Fault) -> Claim {
        let launch = self.assignment.call.faulting_launch(fault);
        let place = match (fault.block, fault.thread) {
            (Some(_), Some(_)) => FaultPlace::Thread,
            (Some(_), None) => FaultPlace::Block,
            (None, _) => FaultPlace::Unknown,
        };
        Claim {
            fault: self.assignment.buffers.code_of(fault),
            step: launch.map_or(UNKNOWN_STEP, |(position, _)| position),
            block: fault.block.unwrap_or_default(),
            thread: fault.thread.unwrap_or_default(),
            place,
            text: FixedText::new(
                &self
                    .assignment
                    .buffers
                    .describe(fault, launch.map(|(_, kernel)| kernel)),
            ),
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
        fault: code,
        text: FixedText::new(&failure.to_string()),
        ..claim
    }
}

/// The buffers as they are mapped here, and the allocations behind them.
fn map_buffers(
    driver: &mut dyn Driver,
    layouts: Vec<BufferLayout>,
    mut descriptors: impl Iterator<Item = OwnedFd>,
    recording: &Recording,
) -> Result<(Buffers, Vec<Memory>), WorkerError> {
    let mut memories = Vec::with_capacity(layouts.len());
    let mut buffers = Vec::with_capacity(layouts.len());
    for (position, layout) in layouts.into_iter().enumerate() {
        let descriptor = descriptors.next().ok_or(WorkerError::Order("a buffer is missing"))?;
        let memory = driver.import(descriptor, layout.allocation)?;
        memories.push(memory);
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
    Ok((Buffers::new(buffers), memories))
}

/// Whose memory must be closed to the user's host code: the broker's, the referee's and the author's.
fn guarded(head: &WorkerSetup) -> impl Iterator<Item = Pid> {
    let others = head.guarded.into_iter().filter_map(|id| Pid::from_raw(id as i32));
    rustix::process::getppid().into_iter().chain(others)
}

/// A set-up as it was sent.
struct Setup {
    head: WorkerSetup,
    layouts: Vec<BufferLayout>,
    modules: Vec<SourceModule>,
    /// The name that windows are marked with.
    annotation: Option<String>,
    hosted: Option<HostedOrder>,
    recording: Recording,
}

impl Setup {
    /// Whether kernels are code of this process, and no profiler has been asked for, which writes files of its own.
    fn runs_native_kernels(&self) -> bool {
        self.hosted.is_none() && self.annotation.is_none() && self.head.device.kind() == DeviceKind::Cpu
    }
}

/// Takes the code off the frame's descriptors; page and buffers are left.
fn parse_setup(frame: &mut Frame) -> Result<Setup, WorkerError> {
    let damaged = || WorkerError::Order("it is damaged");
    let (head, mut rest) = read_head::<WorkerSetup>(&frame.payload)?;
    let mut take = |bytes: usize| {
        let (taken, behind) = rest.split_at_checked(bytes).ok_or_else(damaged)?;
        rest = behind;
        Ok::<_, WorkerError>(taken)
    };
    let layouts = take(head.buffers as usize * size_of::<BufferLayout>())?;
    let modules = take(head.module_bytes as usize)?;
    let annotation = take(head.annotation_bytes as usize)?;
    let annotation = str::from_utf8(annotation).map_err(|_| damaged())?;
    let request = take(head.request_bytes as usize)?;
    let mut recording: Recording = codec::decode(rest).map_err(|_| damaged())?;
    match frame.kind {
        to_worker::SETUP => {}
        // The buffers of the plan's scratch stay: the null worker has what the other has.
        to_worker::SETUP_NULL => {
            recording.plan.steps.clear();
            recording.plan.constants.clear();
            recording.execution = Execution::Sealed;
        }
        _ => return Err(WorkerError::Order("it came out of turn")),
    }
    let library = take_files(head.library_files as usize, &mut frame.descriptors).ok_or_else(damaged)?;
    let hosted = match recording.execution {
        Execution::Sealed => None,
        Execution::Hosted => Some(HostedOrder {
            library,
            benchmark: head.benchmark,
            request: request.to_vec(),
        }),
    };
    Ok(Setup {
        head,
        layouts: bytemuck::allocation::pod_collect_to_vec(layouts),
        modules: decode_modules(modules, &mut frame.descriptors).ok_or_else(damaged)?,
        annotation: Some(annotation).filter(|name| !name.is_empty()).map(str::to_owned),
        hosted,
        recording,
    })
}
