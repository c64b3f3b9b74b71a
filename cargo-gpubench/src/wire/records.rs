//! The fixed-size records that referee and worker speak in, and the kinds of frames.

use bytemuck::{Pod, Zeroable};
use gpubench::catalog::DeviceKind;

use super::{FixedText, MAX_OUTPUTS};

/// Kinds of frames from the broker to the referee.
pub mod to_referee {
    /// [`DeviceOrder`](super::DeviceOrder): which device. Once.
    pub const HELLO: u32 = 1;
    /// [`OpenCase`](super::OpenCase), module paths, then the encoded recording.
    pub const OPEN_CASE: u32 = 2;
    /// [`WindowOrder`](super::WindowOrder): generate the window's inputs.
    pub const PREPARE: u32 = 3;
    /// [`WindowOrder`](super::WindowOrder): take the author's expected outputs, restore, flush, let the worker go, check.
    pub const RELEASE: u32 = 4;
    /// The worker is gone: give the window up.
    pub const ABORT: u32 = 5;
    /// Forget the case and its memory.
    pub const CLOSE_CASE: u32 = 6;
    /// [`Begin`](super::Begin): the master seed and the cache flush. Once, before the first case.
    pub const BEGIN: u32 = 7;
    /// [`OccupancyOrder`](super::OccupancyOrder), the path of the compiled kernels, then the kernel's name.
    pub const OCCUPANCY: u32 = 9;
    /// [`WindowOrder`](super::WindowOrder): run the reference on the window's inputs, once the author has made its part of them.
    pub const REFERENCE: u32 = 8;
    /// [`WindowOrder`](super::WindowOrder): generate the window's inputs and run the reference on them, where nobody else has a part in either.
    pub const PREPARE_WITH_ANSWERS: u32 = 10;
}

/// Kinds of frames from the referee to the broker.
pub mod from_referee {
    /// [`Problem`](super::Problem): the order could not be carried out.
    pub const FAILED: u32 = 100;
    /// Answer to `HELLO`: the device's [`Facts`](crate::device::Facts), encoded.
    pub const READY: u32 = 101;
    /// Answer to `OPEN_CASE`: one [`BufferLayout`](super::BufferLayout) for every tensor and scratch allocation, with descriptors: a page for each worker,
    /// the worker under test's first, every buffer, and what the author shares.
    pub const CASE_OPENED: u32 = 102;
    /// Answer to `PREPARE` and `PREPARE_WITH_ANSWERS`: [`Prepared`](super::Prepared).
    pub const PREPARED: u32 = 103;
    /// Answer to `RELEASE`, also to one that was aborted: [`WindowFacts`](super::WindowFacts).
    pub const FACTS: u32 = 104;
    /// Answer to `CLOSE_CASE`.
    pub const CASE_CLOSED: u32 = 105;
    /// Answer to `HELLO`: [`AbsentDevice`](super::AbsentDevice), there is no such device to be used.
    pub const ABSENT: u32 = 106;
    /// Answer to `BEGIN`.
    pub const BEGUN: u32 = 107;
    /// Answer to `OCCUPANCY`: [`OccupancyAnswer`](super::OccupancyAnswer).
    pub const OCCUPANCY_FOUND: u32 = 111;
    /// Answer to `REFERENCE`.
    pub const REFERENCE_DONE: u32 = 108;
    /// [`Problem`](super::Problem): a generator kernel of the crate failed.
    pub const GENERATOR_FAILED: u32 = 109;
    /// [`Problem`](super::Problem): the crate's reference failed.
    pub const REFERENCE_FAILED: u32 = 110;
}

/// Kinds of frames from the broker to a worker.
pub mod to_worker {
    /// [`WorkerSetup`](super::WorkerSetup), layouts, module paths, a name for profilers, the library's path and the encoded request of a hosted benchmark,
    /// and the encoded recording, with descriptors. Again for the next case of a worker that holds no user's code.
    pub const SETUP: u32 = 1;
    /// [`WindowOrder`](super::WindowOrder): queue the window behind *go*.
    pub const ARM: u32 = 2;
    /// As `SETUP`, for a null worker: the recording is taken for its buffers, and its plan is left out.
    pub const SETUP_NULL: u32 = 3;
}

/// Kinds of frames from a worker to the broker.
pub mod from_worker {
    /// [`Problem`](super::Problem): the set-up failed.
    pub const FAILED: u32 = 100;
    /// Answer to `SETUP`: [`WorkerReady`](super::WorkerReady).
    pub const READY: u32 = 101;
    /// Answer to `ARM`: [`WindowOrder`](super::WindowOrder) as understood.
    pub const ARMED: u32 = 102;
    /// The window's work has ended: [`Claim`](super::Claim).
    pub const CLAIM: u32 = 103;
    /// [`SandboxReport`](super::SandboxReport): a hosted worker's first words, said before it loads the user's library.
    pub const SANDBOX: u32 = 104;
    /// [`Problem`](super::Problem): the user's host code could not be set up.
    pub const REFUSED: u32 = 105;
}

/// Which device a role opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DeviceOrder {
    /// 0 for the CPU device, 1 for a CUDA device.
    kind: u32,
    /// Which of several devices of the kind.
    pub ordinal: u32,
    /// Threads of the CPU device; 0 takes all.
    pub threads: u32,
    /// Zero.
    reserved: u32,
    /// Seed of the order in which threads of a block run on the CPU device; 0 is their own order.
    pub schedule: u64,
}

impl DeviceOrder {
    /// The CPU device.
    pub fn cpu(threads: u32, schedule: u64) -> DeviceOrder {
        DeviceOrder {
            kind: 0,
            ordinal: 0,
            threads,
            reserved: 0,
            schedule,
        }
    }

    /// A CUDA device.
    pub fn cuda(ordinal: u32) -> DeviceOrder {
        DeviceOrder {
            kind: 1,
            ordinal,
            threads: 0,
            reserved: 0,
            schedule: 0,
        }
    }

    /// The kind of the device; `None` when the number is none of ours.
    pub fn kind(&self) -> Option<DeviceKind> {
        match self.kind {
            0 => Some(DeviceKind::Cpu),
            1 => Some(DeviceKind::Cuda),
            _ => None,
        }
    }
}

/// How the referee measures.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Begin {
    /// The run's master seed.
    pub master_seed: [u8; 32],
    /// Bytes of the cache flush; 0 flushes nothing.
    pub flush_bytes: u64,
    /// A [`FlushKind`] as number.
    pub flush_kind: u32,
    /// Zero.
    pub reserved: u32,
}

/// Why there is no device.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct AbsentDevice {
    /// An [`AbsenceKind`](crate::device::AbsenceKind) as number.
    pub kind: u64,
    /// Why.
    pub reason: FixedText,
    /// What can be done.
    pub hint: FixedText,
}

/// How the cache is flushed before a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlushKind {
    /// Read through the flush buffer: leaves no dirty lines for the kernel to pay for.
    #[default]
    Read,
    /// Write the flush buffer.
    Write,
}

impl FlushKind {
    /// The number that travels.
    pub fn number(self) -> u32 {
        match self {
            FlushKind::Read => 0,
            FlushKind::Write => 1,
        }
    }

    /// The kind of a number.
    pub fn from_number(number: u32) -> Option<FlushKind> {
        [FlushKind::Read, FlushKind::Write]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}

/// Head of an `OPEN_CASE` frame.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct OpenCase {
    /// Number of the case in the run; separates its seeds from other cases'.
    pub case: u64,
    /// Bytes of module paths that follow: the kernels that the referee runs itself.
    pub module_bytes: u32,
    /// A [`Cast`] as number.
    pub cast: u32,
}

/// Which workers a case has. Each has a shared page of its own, which the other cannot write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// The one under test.
    Worker,
    /// The one under test, and a null worker.
    WorkerAndNull,
}

impl Cast {
    /// The number that travels.
    pub fn number(self) -> u32 {
        match self {
            Cast::Worker => 0,
            Cast::WorkerAndNull => 1,
        }
    }

    /// The cast of a number.
    pub fn from_number(number: u32) -> Option<Cast> {
        [Cast::Worker, Cast::WorkerAndNull]
            .into_iter()
            .find(|cast| cast.number() == number)
    }
}

/// Head of an `OCCUPANCY` frame.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct OccupancyOrder {
    /// Bytes of the path that follows; the kernel's name takes the rest.
    pub path_bytes: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
    /// Zero.
    pub reserved: u32,
}

/// How many blocks of a kernel a multiprocessor holds.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct OccupancyAnswer {
    /// Blocks.
    pub blocks: u32,
    /// Zero.
    pub reserved: u32,
}

/// Where a buffer lies in its allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct BufferLayout {
    /// Bytes of the allocation, whole pages.
    pub allocation: u64,
    /// First byte of the buffer: the front slack lies before it.
    pub offset: u64,
    /// Bytes of the buffer; what is left of the allocation behind them is the back slack.
    pub len: u64,
}

/// An order about one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct WindowOrder {
    /// The window, counted from 1 within its case: the value of *go*.
    pub window: u32,
    /// A [`WindowKind`](crate::window::WindowKind) as number.
    pub kind: u32,
    /// Nanoseconds the referee waits for *done* before it reports that it did not come; used by `RELEASE`.
    pub patience_ns: u64,
}

/// A window's inputs are ready.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Prepared {
    /// Seed for the author's generators of this window.
    pub generator_seed: u64,
    /// Seed for the author's generators of constant tensors: the same for every window of the case.
    pub constant_seed: u64,
}

/// An order that failed, in words.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Problem {
    /// What happened.
    pub text: FixedText,
}

/// First words to a worker.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct WorkerSetup {
    /// Layouts that follow: every tensor, then every scratch allocation of the plan.
    pub buffers: u32,
    /// Bytes of module paths that follow the layouts.
    pub module_bytes: u32,
    /// Bytes of the name that windows are marked with for a profiler, behind the module paths; 0 marks nothing.
    pub annotation_bytes: u32,
    /// Position of the benchmark in its catalog; used by a hosted one.
    pub benchmark: u32,
    /// Bytes of the path of the user's library that follow the module paths; 0 where the benchmark is not hosted.
    pub library_bytes: u32,
    /// Bytes of the encoded request that follow them.
    pub request_bytes: u32,
    /// Processes whose memory must be closed to a hosted worker, beside the broker: referee and author.
    pub guarded: [u32; 2],
    /// The device.
    pub device: DeviceOrder,
}

/// What has become of the sandbox round a hosted worker.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct SandboxReport {
    /// A [`SandboxState`] as number.
    pub state: u32,
    /// Zero.
    pub reserved: u32,
    /// Why it is open.
    pub reason: FixedText,
}

/// Whether a sandbox is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum SandboxState {
    Open = 0,
    Closed = 1,
}

impl SandboxState {
    /// The state of a number; a number that is none of ours is taken for open.
    pub fn from_number(number: u32) -> SandboxState {
        match number {
            1 => SandboxState::Closed,
            _ => SandboxState::Open,
        }
    }
}

/// A worker is ready to be armed.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct WorkerReady {
    /// Median of the time between two events with nothing between them, in nanoseconds.
    pub event_overhead_ns: f64,
}

/// What a worker claims of a window. Nothing here is believed for a verdict of `pass` without the referee's facts.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Claim {
    /// The window.
    pub window: u32,
    /// A [`FaultCode`] as number.
    pub fault: u32,
    /// Time between the two events in nanoseconds; 0 in an early-check window.
    pub elapsed_ns: f64,
    /// Host time of queueing the call in nanoseconds.
    pub host_ns: f64,
    /// Where the fault happened: position of the launch among the plan's steps, or [`UNKNOWN_STEP`].
    pub step: u32,
    /// A [`FaultPlace`] as number: which of `block` and `thread` are known.
    pub place: u32,
    /// Block of the fault.
    pub block: [u32; 3],
    /// Thread of the fault.
    pub thread: [u32; 3],
    /// The fault in words.
    pub text: FixedText,
}

impl Claim {
    /// A claim of nothing.
    pub fn empty(window: u32) -> Claim {
        Claim {
            window,
            ..Claim::zeroed()
        }
    }
}

/// Kinds of kernel faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum FaultCode {
    None = 0,
    OutOfBounds = 1,
    BarrierDivergence = 2,
    DivisionByZero = 3,
    StackOverflow = 4,
    IllegalInstruction = 5,
    Trap = 6,
    Other = 7,
    InputWritten = 8,
    Misaligned = 9,
    LaunchFailed = 10,
    Ecc = 11,
    HostCallFailed = 32,
    ForeignContext = 33,
}

impl FaultCode {
    /// The code of a number; a number that is none of ours is [`FaultCode::Other`].
    pub fn from_number(number: u32) -> FaultCode {
        use FaultCode::*;
        let known = [
            None,
            OutOfBounds,
            BarrierDivergence,
            DivisionByZero,
            StackOverflow,
            IllegalInstruction,
            Trap,
            InputWritten,
            Misaligned,
            LaunchFailed,
            Ecc,
            HostCallFailed,
            ForeignContext,
        ];
        known.into_iter().find(|code| *code as u32 == number).unwrap_or(Other)
    }
}

/// How exactly the place of a fault is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum FaultPlace {
    /// Not at all, as on a GPU.
    Unknown = 0,
    /// The block.
    Block = 1,
    /// Block and thread.
    Thread = 2,
}

impl FaultPlace {
    /// The place of a number; a number that is none of ours tells nothing.
    pub fn from_number(number: u32) -> FaultPlace {
        match number {
            1 => FaultPlace::Block,
            2 => FaultPlace::Thread,
            _ => FaultPlace::Unknown,
        }
    }
}

/// The step of a fault that may have happened in any of several.
pub const UNKNOWN_STEP: u32 = u32::MAX;

/// No element: the value of an index that does not exist.
pub const NOWHERE: u64 = u64::MAX;

/// What the referee found in one output.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct OutputFacts {
    /// Position of the tensor.
    pub tensor: u64,
    /// Elements compared: all of them, or the referee reports a problem instead.
    pub elements: u64,
    /// Elements that agree with the expected ones.
    pub matched: u64,
    /// Wrong elements that still hold the poison.
    pub unwritten: u64,
    /// Wrong elements that are not finite where the expected one is.
    pub non_finite: u64,
    /// Elements with the same bits as element 0.
    pub same_as_first: u64,
    /// First wrong element, or [`NOWHERE`].
    pub first_wrong: u64,
    /// Element with the largest relative error, or [`NOWHERE`].
    pub worst: u64,
    /// Bits of the expected element at `first_wrong`, zero-extended.
    pub expected_bits: u64,
    /// Bits of the element found there.
    pub got_bits: u64,
    /// Largest absolute error over elements that are finite on both sides.
    pub max_abs: f64,
    /// Largest relative error over them.
    pub max_rel: f64,
    /// The seal the worker's device wrote.
    pub seal_claimed: u64,
    /// The seal of the snapshot.
    pub seal_expected: u64,
    /// Bytes that changed between the snapshot and a second look.
    pub late_bytes: u64,
    /// A [`Replay`] as number.
    pub replay: u64,
}

/// Whether a wrong output is the right answer to another call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Replay {
    /// It is no answer that the referee remembers.
    None = 0,
    /// It is the answer to the call before.
    Previous = 1,
    /// It is the answer to the first call.
    First = 2,
    /// It is the answer to the first call, which is also the one before.
    FirstAndPrevious = 3,
}

impl Replay {
    /// The replay of a number.
    pub fn from_number(number: u64) -> Replay {
        [Replay::Previous, Replay::First, Replay::FirstAndPrevious]
            .into_iter()
            .find(|replay| *replay as u64 == number)
            .unwrap_or(Replay::None)
    }
}

/// What the referee found in one window.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct WindowFacts {
    /// The window.
    pub window: u32,
    /// A [`WindowKind`](crate::window::WindowKind) as number.
    pub kind: u32,
    /// A [`WindowEnd`] as number.
    pub end: u32,
    /// Outputs that follow.
    pub output_count: u32,
    /// The referee's clock before it restores the buffers, in nanoseconds.
    pub s0_ns: u64,
    /// Before *go*.
    pub s1_ns: u64,
    /// After *done*.
    pub s2_ns: u64,
    /// When the outputs have been copied.
    pub s3_ns: u64,
    /// The referee's own work in the window beside flush and waiting for *done*, in nanoseconds.
    pub own_ns: u64,
    /// The cache flush, in nanoseconds.
    pub flush_ns: u64,
    /// Digest of all inputs of the window with a key of the case: equal inputs have equal digests.
    pub input_digest: u64,
    /// Position of the first buffer whose slack was written, or [`NOWHERE`].
    pub slack_buffer: u64,
    /// First wrong slack byte, relative to the buffer's first byte.
    pub slack_offset: i64,
    /// Wrong slack bytes of that buffer.
    pub slack_bytes: u64,
    /// What was found in each output.
    pub outputs: [OutputFacts; MAX_OUTPUTS],
}

impl WindowFacts {
    /// The outputs that were checked.
    pub fn outputs(&self) -> &[OutputFacts] {
        &self.outputs[..(self.output_count as usize).min(MAX_OUTPUTS)]
    }
}

/// How a window ended for the referee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum WindowEnd {
    /// *Done* came and everything was checked.
    Checked = 0,
    /// *Done* did not come in time.
    NotDone = 1,
    /// The broker gave the window up.
    Aborted = 2,
}

impl WindowEnd {
    /// The end of a number; anything unknown is taken for not done.
    pub fn from_number(number: u32) -> WindowEnd {
        match number {
            0 => WindowEnd::Checked,
            2 => WindowEnd::Aborted,
            _ => WindowEnd::NotDone,
        }
    }
}

/// Kinds of frames from the broker to an author.
pub mod to_author {
    /// Path of the cdylib. Once.
    pub const LOAD: u32 = 1;
    /// [`BenchmarkNumber`](super::BenchmarkNumber), then the encoded request.
    pub const RECORD: u32 = 2;
    /// [`Attach`](super::Attach), layouts, module paths, the encoded request and the encoded recording, with descriptors.
    pub const ATTACH: u32 = 3;
    /// [`Generate`](super::Generate).
    pub const GENERATE: u32 = 4;
    /// Run the reference, function or plan, over the attached buffers.
    pub const REFERENCE: u32 = 5;
    /// Forget the attached buffers.
    pub const DETACH: u32 = 6;
}

/// Kinds of frames from an author to the broker.
pub mod from_author {
    /// The order could not be carried out; an [`AuthorFailure`](super::AuthorFailure) as number, then text.
    pub const FAILED: u32 = 100;
    /// The order was carried out. Its payload is the encoded catalog (`LOAD`), the encoded recording (`RECORD`) or empty.
    pub const DONE: u32 = 101;
    /// Answer to `RECORD`: the recording depends on an occupancy; the encoded query.
    pub const NEEDS_OCCUPANCY: u32 = 102;
}

/// The benchmark an order to the author is about.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct BenchmarkNumber {
    /// Position in the catalog.
    pub benchmark: u32,
    /// Zero.
    pub reserved: u32,
}

/// Head of an `ATTACH` frame.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Attach {
    /// Position in the catalog.
    pub benchmark: u32,
    /// Layouts that follow, one for every tensor.
    pub tensors: u32,
    /// Bytes of module paths that follow the layouts.
    pub module_bytes: u32,
    /// Bytes of the encoded request that follow the module paths; the recording takes the rest.
    pub request_bytes: u32,
    /// A [`CodeHome`](crate::device::CodeHome) as number.
    pub kernels_run_in: u32,
}

/// An order to generate the author's inputs of a window.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Generate {
    /// Seed of the window.
    pub seed: u64,
    /// Seed of the case's constants.
    pub constant_seed: u64,
    /// The window; constants are generated for window 0 alone.
    pub window: u32,
    /// Zero.
    pub reserved: u32,
}

/// Whose fault it is that an author could not carry out an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AuthorFailure {
    /// The user's function returned an error.
    Returned = 1,
    /// The user's function panicked.
    Panicked = 2,
    /// The crate's library cannot be used.
    Library = 3,
    /// The library has no benchmarks: it does not have the runtime's symbol.
    NoBenchmarks = 4,
    /// A kernel of a generator or of the reference failed.
    Kernel = 5,
    /// Ours.
    Internal = 6,
}

impl AuthorFailure {
    /// The failure of a number; a number that is none of ours is taken for ours to mend.
    pub fn from_number(number: u32) -> AuthorFailure {
        use AuthorFailure::*;
        [Returned, Panicked, Library, NoBenchmarks, Kernel]
            .into_iter()
            .find(|failure| *failure as u32 == number)
            .unwrap_or(Internal)
    }
}
