//! A stream of the CPU device: a thread that runs queued operations in order.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::executor::{Access, FaultKind, Kernel, KernelFault, LaunchShape, Pool};
use crate::word::SharedWord;
use crate::{DeviceError, Fault, FaultCode, HostWork, SourceLine, StridedRows, monotonic_ns};

/// The time at which an event was recorded, in nanoseconds of the monotonic clock; 0 before that.
pub(super) type EventTime = Arc<AtomicU64>;

/// How long a stream's thread polls for the next operation before it sleeps. Waking it takes the
/// host longer than queuing.
const SPIN: Duration = Duration::from_micros(20);

/// One entry of a stream's queue.
pub(super) enum Queued {
    One(Operation),
    /// All operations of a graph, in order.
    Graph(Arc<[Operation]>),
    Host(HostWork),
    Synchronize(mpsc::Sender<Option<DeviceError>>),
}

/// An operation that can run more than once.
pub(super) enum Operation {
    Wait {
        word: SharedWord,
        value: u32,
    },
    Write {
        word: SharedWord,
        value: u32,
    },
    /// Wakes the pool's threads and binds this one, so that it does not happen in the next timed
    /// call.
    Prepare,
    Record(EventTime),
    Launch {
        kernel: Kernel,
        shape: LaunchShape,
        arguments: PackedArguments,
    },
    Copy {
        target: u64,
        source: u64,
        bytes: usize,
    },
    Gather {
        target: u64,
        rows: StridedRows,
    },
    Set {
        target: u64,
        value: u8,
        bytes: usize,
    },
}

/// Argument values, each aligned for any scalar or vector type.
pub(super) struct PackedArguments {
    words: Box<[Aligned]>,
    offsets: Vec<usize>,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Aligned([u8; 64]);

impl PackedArguments {
    pub(super) fn new(arguments: &[&[u8]]) -> PackedArguments {
        let lines = arguments
            .iter()
            .map(|argument| argument.len().div_ceil(64).max(1))
            .sum();
        let mut words = vec![Aligned([0; 64]); lines].into_boxed_slice();
        let mut offsets = Vec::with_capacity(arguments.len());
        let mut line = 0;
        for argument in arguments {
            offsets.push(line);
            for piece in argument.chunks(64) {
                words[line].0[..piece.len()].copy_from_slice(piece);
                line += 1;
            }
            line += usize::from(argument.is_empty());
        }
        PackedArguments { words, offsets }
    }

    fn pointers(&self) -> Vec<*const c_void> {
        self.offsets
            .iter()
            .map(|line| (&raw const self.words[*line]).cast())
            .collect()
    }
}

/// The sending end of a stream. Dropping it ends the stream's thread: queued operations are
/// cancelled, and the drop waits for the running one. Nothing then uses memory that the driver
/// unmaps next.
pub(super) struct StreamQueue {
    operations: Option<mpsc::Sender<Queued>>,
    /// The pending reply to a synchronization that ran out of patience.
    pending: Option<mpsc::Receiver<Option<DeviceError>>>,
    /// Whether operations were queued after the last synchronization.
    has_new_work: bool,
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StreamQueue {
    /// Starts the thread.
    pub(super) fn start(pool: Arc<Pool>) -> std::io::Result<StreamQueue> {
        let (operations, queue) = mpsc::channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let worker = StreamThread {
            pool,
            failure: None,
            launches: 0,
            cancelled: Arc::clone(&cancelled),
            is_bound: false,
        };
        let name = "gpubench-stream".to_owned();
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(move || worker.run(&queue))?;
        Ok(StreamQueue {
            operations: Some(operations),
            pending: None,
            has_new_work: false,
            cancelled,
            thread: Some(thread),
        })
    }

    /// Queues an operation. Returns whether the thread is still running.
    pub(super) fn push(&mut self, queued: Queued) -> bool {
        let is_question = matches!(queued, Queued::Synchronize(_));
        let operations = self.operations.as_ref();
        let taken = operations.is_some_and(|operations| operations.send(queued).is_ok());
        self.has_new_work = !(is_question && taken);
        taken
    }

    /// Waits until the queued operations have run. Returns whether they have, or the first failure
    /// since the last one returned; `None` if the thread has ended. Returns at once if nothing was
    /// queued since the last synchronization.
    pub(super) fn idle_within(&mut self, patience: Duration) -> Option<Result<bool, DeviceError>> {
        let began = Instant::now();
        // A pending reply covers only the operations queued before its synchronization.
        while self.pending.is_some() || self.has_new_work {
            let answer = match self.pending.take() {
                Some(pending) => pending,
                None => {
                    let (answer, asked) = mpsc::channel();
                    self.push(Queued::Synchronize(answer)).then_some(asked)?
                }
            };
            match answer.recv_timeout(patience.saturating_sub(began.elapsed())) {
                Ok(None) => {}
                Ok(Some(failure)) => return Some(Err(failure)),
                Err(why) => {
                    self.pending = Some(answer);
                    return (why == mpsc::RecvTimeoutError::Timeout).then_some(Ok(false));
                }
            }
        }
        Some(Ok(true))
    }
}

impl Drop for StreamQueue {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.operations = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to run.
            let _ = thread.join();
        }
    }
}

struct StreamThread {
    pool: Arc<Pool>,
    failure: Option<DeviceError>,
    launches: u32,
    cancelled: Arc<AtomicBool>,
    /// Whether the thread is bound to the processor that the pool leaves for launches.
    is_bound: bool,
}

impl StreamThread {
    fn run(mut self, queue: &mpsc::Receiver<Queued>) {
        let mut spin = Duration::ZERO;
        while let Some(queued) = next(queue, spin) {
            // A caller that synchronizes has nothing more to queue for now.
            spin = match queued {
                Queued::Synchronize(_) => Duration::ZERO,
                _ => SPIN,
            };
            match queued {
                Queued::Synchronize(answer) => {
                    self.launches = 0;
                    // The receiver may be gone.
                    let _ = answer.send(self.failure.take());
                }
                // After a failure nothing runs, as on a GPU with a lost context.
                _ if self.is_over() => {}
                Queued::One(operation) => self.run_one(&operation),
                Queued::Graph(operations) => self.run_graph(&operations),
                Queued::Host(work) => {
                    // Threads that the user's code starts inherit this thread's processors.
                    self.bind(false);
                    self.failure = self.pool.run_host_code(work).err().map(DeviceError::Host);
                }
            }
        }
    }

    /// Whether the rest of the queue does not run.
    fn is_over(&self) -> bool {
        self.failure.is_some() || self.cancelled.load(Ordering::Relaxed)
    }

    fn run_graph(&mut self, operations: &[Operation]) {
        for operation in operations {
            if self.is_over() {
                break;
            }
            self.run_one(operation);
        }
    }

    fn run_one(&mut self, operation: &Operation) {
        match operation {
            Operation::Wait { word, value } => word.wait_for(*value, &self.cancelled),
            Operation::Prepare => {
                self.bind(true);
                self.pool.wake();
            }
            Operation::Write { word, value } => word.store(*value),
            Operation::Record(time) => time.store(monotonic_ns(), Ordering::Release),
            Operation::Launch {
                kernel,
                shape,
                arguments,
            } => self.launch(*kernel, shape, arguments),
            // SAFETY: the driver's callers pass mapped ranges that do not overlap.
            Operation::Copy { target, source, bytes } => unsafe {
                std::ptr::copy_nonoverlapping(*source as *const u8, *target as *mut u8, *bytes);
            },
            // SAFETY: the driver's callers pass mapped ranges that do not overlap.
            Operation::Gather { target, rows } => unsafe { gather(*target, rows) },
            // SAFETY: the driver's callers pass a range that is mapped for stores.
            Operation::Set { target, value, bytes } => unsafe {
                std::ptr::write_bytes(*target as *mut u8, *value, *bytes);
            },
        }
    }

    fn bind(&mut self, wanted: bool) {
        match (self.is_bound, wanted) {
            (false, true) => self.pool.bind_launcher(),
            (true, false) => self.pool.release_launcher(),
            _ => {}
        }
        self.is_bound = wanted;
    }

    fn launch(&mut self, kernel: Kernel, shape: &LaunchShape, arguments: &PackedArguments) {
        self.bind(true);
        // SAFETY: the driver compared the arguments with the kernel's parameters.
        let ended = unsafe { self.pool.launch(kernel, shape, &arguments.pointers()) };
        if let Err(fault) = ended {
            self.failure = Some(DeviceError::Fault(describe(&fault, &kernel, self.launches)));
        }
        self.launches += 1;
    }
}

/// Returns the next operation; `None` when the sender is gone.
fn next(queue: &mpsc::Receiver<Queued>, spin: Duration) -> Option<Queued> {
    let began = Instant::now();
    while began.elapsed() < spin {
        match queue.try_recv() {
            Ok(queued) => return Some(queued),
            Err(mpsc::TryRecvError::Disconnected) => return None,
            Err(mpsc::TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
    queue.recv().ok()
}

fn describe(fault: &KernelFault, kernel: &Kernel, launch: u32) -> Fault {
    let address = match fault.kind {
        FaultKind::Access {
            access: Access::Unknown,
            ..
        } => None,
        FaultKind::Access { address, .. } => Some(address as u64),
        _ => None,
    };
    Fault {
        code: code_of(&fault.kind),
        launch: Some(launch),
        block: Some(fault.block),
        thread: fault.thread,
        address,
        line: (fault.code)
            .and_then(|code| code.source_line(kernel))
            .map(|line| Box::new(SourceLine(line))),
        text: fault.kind.to_string().into(),
    }
}

fn code_of(kind: &FaultKind) -> FaultCode {
    match kind {
        FaultKind::Access { .. } | FaultKind::DynamicShared { .. } | FaultKind::StaticShared { .. } => {
            FaultCode::OutOfBounds
        }
        FaultKind::DivisionByZero => FaultCode::DivisionByZero,
        FaultKind::StackOverflow => FaultCode::StackOverflow,
        FaultKind::IllegalInstruction => FaultCode::IllegalInstruction,
        FaultKind::BarrierDivergence { .. } | FaultKind::BarrierMismatch { .. } | FaultKind::WarpDivergence { .. } => {
            FaultCode::BarrierDivergence
        }
        FaultKind::Trap { .. } | FaultKind::Assert { .. } => FaultCode::Trap,
        FaultKind::InvalidLaunch | FaultKind::OutOfStacks | FaultKind::OutOfDynamicShared => FaultCode::Other,
    }
}

/// Copies rows to where each follows the one before.
///
/// # Safety
/// All rows must be mapped, and the target for as many bytes. They must not overlap.
unsafe fn gather(target: u64, rows: &StridedRows) {
    let StridedRows {
        first,
        bytes,
        pitch,
        count,
    } = *rows;
    for row in 0..count {
        let (source, target) = (first.0 + row * pitch, target + row * bytes);
        // SAFETY: the caller passes mapped ranges that do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(source as *const u8, target as *mut u8, bytes as usize) };
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::atomic::AtomicU32;

    use super::super::executor::ScheduleSeed;
    use super::*;

    fn queue() -> StreamQueue {
        StreamQueue::start(Arc::new(Pool::new(NonZeroUsize::MIN, ScheduleSeed::default()))).unwrap()
    }

    fn is_idle(queue: &mut StreamQueue, patience: Duration) -> Option<bool> {
        queue.idle_within(patience).transpose().unwrap()
    }

    #[test]
    fn an_idle_stream_is_not_synchronized_again() {
        let mut queue = queue();
        assert!(queue.push(Queued::One(Operation::Prepare)));
        assert_eq!(is_idle(&mut queue, Duration::MAX), Some(true));
        // Without a sender, a new synchronization would fail.
        queue.operations = None;
        assert_eq!(is_idle(&mut queue, Duration::MAX), Some(true));
        assert!(!queue.push(Queued::One(Operation::Prepare)));
        assert_eq!([(); 2].map(|()| is_idle(&mut queue, Duration::MAX)), [None; 2]);
    }

    #[test]
    fn a_pending_synchronization_is_not_repeated() {
        let (word, mut queue) = (AtomicU32::new(0), queue());
        // SAFETY: the word lives longer than the queue.
        let word = unsafe { SharedWord::at(word.as_ptr() as u64) };
        assert!(queue.push(Queued::One(Operation::Wait { word, value: 1 })));
        assert_eq!(is_idle(&mut queue, Duration::from_millis(1)), Some(false));
        word.store(1);
        queue.operations = None;
        assert_eq!(is_idle(&mut queue, Duration::MAX), Some(true));
    }

    #[test]
    fn operations_queued_after_a_synchronization_are_waited_for() {
        let (word, time, mut queue) = (AtomicU32::new(0), EventTime::default(), queue());
        // SAFETY: the word lives longer than the queue.
        let word = unsafe { SharedWord::at(word.as_ptr() as u64) };
        assert!(queue.push(Queued::One(Operation::Wait { word, value: 1 })));
        assert_eq!(is_idle(&mut queue, Duration::from_millis(1)), Some(false));
        assert!(queue.push(Queued::One(Operation::Record(Arc::clone(&time)))));
        word.store(1);
        assert_eq!(is_idle(&mut queue, Duration::MAX), Some(true));
        assert_ne!(time.load(Ordering::Acquire), 0);
    }
}
