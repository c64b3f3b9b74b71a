//! The state of a worker: its device, which stays open, and a case.

use std::num::NonZeroU32;
use std::os::fd::{AsFd, OwnedFd};

use gpubench::catalog::{Recording, Role};
use rustix::process::Pid;

use super::WorkerError;
use super::annotation::Annotation;
use super::buffers::{Buffers, NamedBuffer, describe_buffer};
use super::call::{Call, Work};
use super::copies::Copies;
use super::hold::Hold;
use super::hosted::{Caller, Hosted};
use super::setup::Setup;
use super::stopwatch::Stopwatch;
use super::tracing::Tracing;
use super::twin::{Twin, Warming};
use crate::window::{Allocations, WindowCalls, WindowContent, WindowKind};
use crate::wire::{
    BufferLayout, Channel, Frame, Observer, PageAddresses, SandboxReport, SharedPage, SourceModule, WindowOrder,
    from_worker, module_descriptors,
};
use gpubench_contract::MetricKind;
use gpubench_device::harness::Harness;
use gpubench_device::{
    Access, Count, Counter, DeviceError, DeviceOrder, DevicePtr, Driver, Memory, Module, ModuleImage, Profiling, Stream,
};
use gpubench_sandbox::{ConfinedRole, Confinement, Sandbox, drop_capabilities};

/// A worker with a case.
pub(super) struct Worker {
    pub(super) device: OpenDevice,
    pub(super) assignment: Assignment,
}

/// The device of a worker, open until its process ends.
pub(super) struct OpenDevice {
    order: DeviceOrder,
    pub(super) driver: Box<dyn Driver>,
    pub(super) harness: Harness,
    own_stream: Stream,
    /// The stream of the case's windows.
    pub(super) stream: Stream,
    pub(super) events: Stopwatch,
    /// Counts the calls of timed windows, if they are not timed.
    pub(super) counter: Option<Box<dyn Counter>>,
    pub(super) tracing: Tracing,
}

/// The case of a worker.
pub(super) struct Assignment {
    pub(super) metric: MetricKind,
    pub(super) page: SharedPage,
    pub(super) on_device: PageAddresses,
    pieces: Vec<SharedPiece>,
    /// The buffers that the call uses.
    pub(super) buffers: Buffers,
    /// The sides whose outputs it has: its own, or all of them in the control worker.
    sides: Vec<Side>,
    /// What a sanitizer's worker has between the shared buffers and `buffers`.
    copies: Option<Copies>,
    pub(super) observer: Observer,
    pub(super) call: Call,
    pub(super) annotation: Option<Annotation>,
    pub(super) hold: Hold,
}

/// A piece of memory that the referee shares.
#[derive(Clone, Copy, Debug)]
struct SharedPiece {
    memory: Memory,
    bytes: u64,
}

/// What the tool's own work in a window uses of a side.
struct Side {
    /// The addresses and bytes of the outputs that are checked, in tensor order.
    outputs: Vec<(DevicePtr, u64)>,
    /// What brings the tensors to the caches before the calls.
    warming: Warming,
    /// The twin for control windows. A worker with the user's host code has none, because that code
    /// could manipulate it.
    twin: Option<Twin>,
}

impl Side {
    /// Returns the side of these buffers. A call of its twin makes `twin` launches, if it has one.
    fn new(
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
        buffers: &Buffers,
        calls: WindowCalls,
        twin: Option<NonZeroU32>,
    ) -> Result<Side, WorkerError> {
        let twin = twin.map(|launches| Twin::new(driver, harness, stream, buffers, calls, launches));
        Ok(Side {
            outputs: buffers.outputs(),
            warming: Warming::new(calls.mode, buffers),
            twin: twin.transpose()?,
        })
    }
}

impl Worker {
    /// Sets up the first case of a new process, or the next one.
    pub(super) fn set_up(open: Option<OpenDevice>, mut frame: Frame, channel: &Channel) -> Result<Worker, WorkerError> {
        let setup = Setup::take(&mut frame)?;
        if setup.hosted.is_some() && open.is_some() {
            return Err(WorkerError::Order("host code needs a fresh worker"));
        }
        if !reads_counters(&setup) {
            drop_capabilities().map_err(WorkerError::Capabilities)?;
        }
        let sandbox = begin_sandbox(&setup, &frame, channel);
        let mut device = match open {
            None => OpenDevice::open(&setup)?,
            Some(device) if device.order == setup.device => device,
            Some(_) => return Err(WorkerError::Order("it names another device")),
        };
        device.stream = match setup.caller {
            Caller::OfStream => device.own_stream,
            Caller::OwnThread => device.driver.default_stream()?,
        };
        let assignment = Assignment::take(&mut device, setup, frame.descriptors, sandbox, channel)?;
        Ok(Worker { device, assignment })
    }

    /// Returns the overhead of a timed window's stopwatch, in nanoseconds.
    pub(super) fn stopwatch_overhead(&mut self) -> Result<f64, WorkerError> {
        let device = &mut self.device;
        let stopwatch = device.events.for_window(WindowKind::Timed);
        Ok(stopwatch.overhead(&mut *device.driver, device.stream)?)
    }

    /// Returns the shortest time that the stopwatch of a timed window reads for no call, in
    /// nanoseconds. The page, which is no longer used, holds the stream back as in a window.
    pub(super) fn shortest_reading(&mut self) -> Result<f64, WorkerError> {
        let Worker { device, assignment } = self;
        let (driver, stream) = (&mut *device.driver, device.stream);
        let stopwatch = device.events.for_window(WindowKind::Timed);
        Ok(stopwatch.shortest_empty_reading(driver, stream, &assignment.page, assignment.on_device)?)
    }

    /// Waits until nothing of this process runs on the device. Kernels can start others.
    pub(super) fn await_own_work(&mut self) -> Result<(), WorkerError> {
        Ok(self.device.driver.synchronize_all()?)
    }

    /// Maps other memory in place of that of the buffers, at the same addresses, and releases the
    /// old one. Nothing of this process may run on the device.
    ///
    /// # Errors
    /// If there are more or fewer descriptors than pieces of memory, or the device refuses.
    pub(super) fn replace_memory(&mut self, descriptors: Vec<OwnedFd>) -> Result<(), WorkerError> {
        self.await_own_work()?;
        let Worker { device, assignment } = self;
        if descriptors.len() != assignment.pieces.len() {
            return Err(WorkerError::Order("it has other buffers than the set-up"));
        }
        for (piece, descriptor) in assignment.pieces.iter_mut().zip(descriptors) {
            piece.replace(&mut *device.driver, descriptor)?;
        }
        Ok(())
    }

    /// Releases the case.
    pub(super) fn hand_back(self) -> OpenDevice {
        let Worker { mut device, assignment } = self;
        assignment.hand_back(&mut *device.driver);
        device
    }
}

impl SharedPiece {
    fn replace(&mut self, driver: &mut dyn Driver, descriptor: OwnedFd) -> Result<(), DeviceError> {
        let new = driver.import(descriptor, self.bytes)?;
        let mapped = driver.remap(self.memory, new);
        // What is no longer mapped, or was never, is not needed.
        driver.release(if mapped.is_ok() { self.memory } else { new });
        mapped.map(|()| self.memory = new)
    }
}

impl OpenDevice {
    fn open(setup: &Setup) -> Result<OpenDevice, WorkerError> {
        let order = setup.device;
        let mut driver = gpubench_device::open(&order)?;
        let counter = setup
            .to_count()
            .map(|request| driver.counter(request, setup.hold))
            .transpose()?;
        let harness = Harness::load(&mut *driver)?;
        let stream = driver.stream()?;
        let events = Stopwatch::events(&mut *driver)?;
        Ok(OpenDevice {
            order,
            driver,
            harness,
            own_stream: stream,
            stream,
            events,
            counter,
            tracing: Tracing::Untried,
        })
    }
}

impl Assignment {
    /// Maps the buffers, closes the sandbox and loads the code. Then binds the plan, or runs the
    /// set-up of the user's host code.
    fn take(
        device: &mut OpenDevice,
        setup: Setup,
        descriptors: Vec<OwnedFd>,
        sandbox: Option<Sandbox>,
        channel: &Channel,
    ) -> Result<Assignment, WorkerError> {
        let (driver, stream) = (&mut *device.driver, device.stream);
        let mut descriptors = descriptors.into_iter();
        let page = descriptors.next().ok_or(WorkerError::Order("the page is missing"))?;
        let page = SharedPage::open(page).map_err(WorkerError::Page)?;
        let on_device = driver.register(page.on_host().base(), page.bytes())?;
        let allocations = setup.allocations();
        let (mapped, pieces) = map_buffers(driver, &allocations, setup.layouts, descriptors, &setup.recording)?;
        let sides = allocations.of_sides().iter().map(|positions| mapped.at(positions));
        let sides: Vec<Buffers> = sides.collect();
        let confinement = sandbox.map_or(Confinement::Closed, |sandbox| sandbox.close(guarded(setup.guarded)));
        channel.send_record(from_worker::SANDBOX, &SandboxReport::from(&confinement))?;
        let modules = load(driver, &setup.modules).map_err(WorkerError::Plan)?;
        let (calls, twin) = (setup.calls, setup.hosted.is_none().then_some(setup.launches));
        let touched = sides
            .iter()
            .map(|buffers| Side::new(driver, &device.harness, stream, buffers, calls, twin));
        let touched = touched.collect::<Result<Vec<Side>, WorkerError>>()?;
        let buffers = sides.into_iter().next().ok_or(WorkerError::Order("it has no side"))?;
        let (copies, buffers) = match setup.observer {
            Observer::None | Observer::Profiler | Observer::Debugger => (None, buffers),
            Observer::Sanitizer => {
                let (copies, own) = Copies::new(driver, &buffers)?;
                (Some(copies), own)
            }
        };
        let work = match setup.hosted {
            Some(order) => {
                if let Some(counter) = &mut device.counter {
                    counter.leave_out_so_far()?;
                }
                let (calls, tensors) = (setup.calls.count, setup.recording.tensors.len());
                Work::Hosted(Hosted::open(
                    driver,
                    stream,
                    (order, setup.caller),
                    calls,
                    &buffers,
                    tensors,
                )?)
            }
            None => Work::sealed(driver, &setup.recording, &buffers, &modules)?,
        };
        let call = Call::new(driver, stream, work, setup.calls)?;
        Ok(Assignment {
            metric: setup.metric,
            on_device: page.mapped_at(on_device.0),
            page,
            pieces,
            annotation: setup.annotation.map(Annotation::begin).transpose()?,
            buffers,
            sides: touched,
            copies,
            observer: setup.observer,
            call,
            hold: Hold::default(),
        })
    }

    /// Returns the side of a window. A worker under test has only its own.
    fn side(&self, order: &WindowOrder) -> Result<&Side, DeviceError> {
        let side = match &self.sides[..] {
            [own] => Some(own),
            all => all.get(order.side.position()),
        };
        side.ok_or_else(|| DeviceError::Unsupported("run a window of a side that it does not have".to_owned()))
    }

    /// Queues the call of a window, or its twin. A profiler sees only the call.
    pub(super) fn queue(
        &self,
        order: &WindowOrder,
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        let kind = order.kind;
        match (kind.content(), &self.side(order)?.twin) {
            (WindowContent::Call, _) => self.queue_call(kind, driver, stream),
            (WindowContent::Twin, Some(twin)) => twin.queue(kind.made_calls(), driver, harness, stream),
            (WindowContent::Twin, None) => Err(DeviceError::Unsupported(
                "run control windows in a worker with host code".to_owned(),
            )),
            // On the thread of a call, so that it takes as long to get there.
            (WindowContent::Nothing, _) => driver.host_call(stream, Box::new(|| Ok(()))),
        }
    }

    /// Queues what comes after *go* and before the calls of a window.
    pub(super) fn prepare(
        &self,
        order: &WindowOrder,
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        self.side(order)?.warming.queue(driver, harness, stream)
    }

    /// Queues the call itself. A profiler sees nothing else, and a sanitizer's call works on the
    /// copies.
    fn queue_call(&self, kind: WindowKind, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match (self.observer, &self.copies) {
            (Observer::Profiler, _) => {
                driver.profile(Profiling::Begin)?;
                self.call.queue(kind, driver, stream)?;
                driver.synchronize_all()?;
                driver.profile(Profiling::End)
            }
            // Host code may use other streams, which do not wait for this one.
            (_, Some(copies)) => {
                copies.fill(driver, stream)?;
                driver.synchronize(stream)?;
                self.call.queue(kind, driver, stream)?;
                driver.synchronize_all()?;
                copies.publish(driver, stream)
            }
            (_, None) => self.call.queue(kind, driver, stream),
        }
    }

    /// Runs the call and counts it. Returns `None` if further calls are needed for complete counts.
    pub(super) fn count(
        &self,
        driver: &mut dyn Driver,
        stream: Stream,
        counter: Option<&mut (dyn Counter + 'static)>,
    ) -> Result<Option<Vec<Count>>, DeviceError> {
        let counts = match counter {
            Some(counter) => self.call.count(self.metric, driver, stream, counter)?,
            None => {
                self.call.queue(WindowKind::Timed, driver, stream)?;
                Some(Vec::new())
            }
        };
        Ok(match self.metric {
            MetricKind::Memory => counts.map(|allocated| [self.buffers.in_use(), allocated].concat()),
            _ => counts,
        })
    }

    /// Queues what follows the call of a window: the output digests and *done*.
    pub(super) fn finish_window(
        &self,
        order: &WindowOrder,
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
    ) -> Result<(), DeviceError> {
        let on_device = self.on_device.in_window(order.window);
        let keys = on_device.keys();
        for (output, (address, bytes)) in self.side(order)?.outputs.iter().copied().enumerate() {
            let digest = on_device.digest(output);
            harness.digest(driver, stream, address, bytes, keys, order.kind.coverage(), digest)?;
        }
        driver.write_value(stream, DevicePtr(on_device.done()), order.window)
    }

    fn hand_back(self, driver: &mut dyn Driver) {
        self.call.release(driver);
        let twins = self.sides.into_iter().filter_map(|side| side.twin);
        twins.for_each(|twin| twin.release(driver));
        self.pieces.iter().for_each(|piece| driver.release(piece.memory));
        driver.unregister(self.page.on_host().base());
    }
}

/// Whether this process reads a GPU's counters, or a profiler does in it, for which the driver may
/// ask for capabilities.
fn reads_counters(setup: &Setup) -> bool {
    let counts = setup.role().is_none() && setup.metric.needs_counters();
    counts || setup.observer == Observer::Profiler
}

/// Begins the sandbox for the code that will run here. It keeps the connection and the descriptors
/// of the set-up.
fn begin_sandbox(setup: &Setup, frame: &Frame, channel: &Channel) -> Option<Sandbox> {
    let role = setup.role()?;
    if let Some(reason) = reason_to_leave_open(role, setup) {
        return Some(Sandbox::left_open(reason));
    }
    let library = setup.hosted.iter().flat_map(|hosted| &hosted.library);
    let code = module_descriptors(&setup.modules).chain(library.map(AsFd::as_fd));
    let buffers = frame.descriptors.iter().map(AsFd::as_fd);
    let kept: Vec<_> = buffers.chain(code).chain([channel.as_fd()]).collect();
    // The broker has made this folder for this worker alone.
    let private = (role == ConfinedRole::HostCode).then(std::env::temp_dir);
    Some(Sandbox::begin(role, &kept, private.as_deref()))
}

/// Returns why the sandbox of a role cannot be closed.
fn reason_to_leave_open(role: ConfinedRole, setup: &Setup) -> Option<&'static str> {
    let has_native_kernels = role == ConfinedRole::NativeKernels;
    if has_native_kernels && setup.metric.needs_counters() {
        Some("valgrind, which counts the instructions, needs files and system calls")
    } else if setup.observer != Observer::None {
        Some("a sanitizer, a profiler or a debugger works in the process of the host code")
    } else if has_native_kernels && setup.annotation.is_some() {
        Some("a profiler must write files in the process of the kernels")
    } else {
        None
    }
}

/// Maps the buffers. Returns them in the order of `allocations`, and their memory.
fn map_buffers(
    driver: &mut dyn Driver,
    allocations: &Allocations,
    layouts: Vec<BufferLayout>,
    mut descriptors: impl Iterator<Item = OwnedFd>,
    recording: &Recording,
) -> Result<(Buffers, Vec<SharedPiece>), WorkerError> {
    let mut pieces = Vec::with_capacity(allocations.memories());
    let mut buffers: Vec<NamedBuffer> = Vec::with_capacity(layouts.len());
    let uses = allocations.first_uses();
    if uses.len() != layouts.len() {
        return Err(WorkerError::Order("it has other buffers than its recording"));
    }
    for (position, ((_, index), layout)) in uses.into_iter().zip(layouts).enumerate() {
        let (name, role) = describe_buffer(recording, index);
        let mapping = if allocations.is_home(position) {
            let descriptor = descriptors.next().ok_or(WorkerError::Order("a buffer is missing"))?;
            let bytes = layout.allocation;
            let memory = driver.import(descriptor, bytes)?;
            pieces.push(SharedPiece { memory, bytes });
            let access = match role {
                Role::Input | Role::Constant => Access::Read,
                Role::Output | Role::InOut | Role::Scratch => Access::ReadWrite,
            };
            driver.map(memory, access)?
        } else {
            buffers[allocations.home_of(position)].mapping
        };
        buffers.push(NamedBuffer {
            name,
            role,
            mapping,
            layout,
        });
    }
    Ok((Buffers(buffers), pieces))
}

/// Loads the compiled sources of a plan.
fn load(driver: &mut dyn Driver, modules: &[SourceModule]) -> Result<Vec<(u32, Module)>, DeviceError> {
    let loaded = modules
        .iter()
        .map(|(source, file)| Ok((*source, driver.load(ModuleImage::File(file))?)));
    loaded.collect()
}

/// Returns the processes whose memory host code must not reach: the broker and `others`.
fn guarded(others: [u32; 2]) -> impl Iterator<Item = Pid> {
    let others = others.into_iter().filter_map(|id| Pid::from_raw(id as i32));
    rustix::process::getppid().into_iter().chain(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::worker::tests::{recording, setup};

    fn taken(change: impl FnOnce(&mut Setup)) -> Setup {
        let recording = gpubench::codec::encode(&recording());
        let mut frame = Frame {
            kind: crate::wire::to_worker::SETUP,
            payload: [bytemuck::bytes_of(&setup(0)), &recording].concat(),
            descriptors: Vec::new(),
        };
        let mut setup = Setup::take(&mut frame).expect("a set-up");
        change(&mut setup);
        setup
    }

    #[test]
    fn a_sandbox_stays_open_only_for_what_must_work_in_its_process() {
        use ConfinedRole::{HostCode, NativeKernels};
        type Change = fn(&mut Setup);
        let cases: [(Change, bool, bool); 8] = [
            (|_| {}, false, false),
            (|setup| setup.metric = MetricKind::Memory, false, false),
            (|setup| setup.metric = MetricKind::Instructions, true, false),
            (|setup| setup.metric = MetricKind::Hardware, true, false),
            (|setup| setup.annotation = Some("axpy".to_owned()), true, false),
            (|setup| setup.observer = Observer::Sanitizer, true, true),
            (|setup| setup.observer = Observer::Profiler, true, true),
            (|setup| setup.observer = Observer::Debugger, true, true),
        ];
        for (position, (change, native, hosted)) in cases.into_iter().enumerate() {
            let setup = taken(change);
            assert_eq!(
                reason_to_leave_open(NativeKernels, &setup).is_some(),
                native,
                "{position}"
            );
            assert_eq!(reason_to_leave_open(HostCode, &setup).is_some(), hosted, "{position}");
        }
    }

    #[test]
    fn capabilities_are_kept_only_to_read_counters_outside_of_a_sandbox() {
        let kept = |change: fn(&mut Setup)| reads_counters(&taken(change));
        assert!(!kept(|_| {}) && !kept(|setup| setup.metric = MetricKind::Memory));
        assert!(kept(|setup| setup.metric = MetricKind::Instructions));
        assert!(kept(|setup| setup.metric = MetricKind::Hardware));
        assert!(kept(|setup| setup.observer = Observer::Profiler));
        assert!(!kept(|setup| setup.observer = Observer::Sanitizer));
        let file = gpubench_device::FrozenFile::of_contents("kernels", &b"code"[..]).expect("a file");
        let mut native = taken(|setup| setup.metric = MetricKind::Instructions);
        native.modules.push((0, file));
        assert!(!reads_counters(&native), "its kernels are native code");
    }

    #[test]
    fn the_memory_of_the_parent_and_of_the_named_processes_is_guarded() {
        let parent = rustix::process::getppid().map(Pid::as_raw_pid);
        let ids = |others| guarded(others).map(Pid::as_raw_pid).collect::<Vec<_>>();
        let with = |others: &[i32]| parent.into_iter().chain(others.iter().copied()).collect::<Vec<_>>();
        assert_eq!(ids([0, 0]), with(&[]));
        assert_eq!(ids([77, 0]), with(&[77]));
        assert_eq!(ids([77, 78]), with(&[77, 78]));
    }
}
