//! A stream of the CPU device: a thread that carries out queued operations in order.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::executor::{Access, FaultKind, Kernel, KernelFault, LaunchShape, Pool};
use crate::word::SharedWord;
use crate::{DeviceError, Fault, FaultCode, HostWork};

/// The time an event was recorded at, in nanoseconds of the monotonic clock; 0 before that.
pub(super) type EventTime = Arc<AtomicU64>;

/// How long a stream's thread looks for the next operation before it sleeps. To wake it takes the
/// host longer than to queue.
const SPIN: Duration = Duration::from_micros(20);

/// One queued operation.
pub(super) enum Operation {
    Wait {
        word: SharedWord,
        value: u32,
    },
    Write {
        word: SharedWord,
        value: u32,
    },
    /// Sleeping threads of the pool would be woken, and this one moved, inside the call that is
    /// timed next.
    GetReady,
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
    Set {
        target: u64,
        value: u8,
        bytes: usize,
    },
    Host(HostWork),
    Synchronize(mpsc::Sender<Option<DeviceError>>),
}

/// Argument values, each at an address aligned for any scalar or vector type.
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

/// The sending end of a stream's thread. Dropping it ends the thread: what is queued is given up,
/// what runs is waited for, so that nothing runs on memory that the driver unmaps next.
pub(super) struct StreamQueue {
    operations: Option<mpsc::Sender<Operation>>,
    /// The answer to a question that nobody had the patience for.
    asked: Option<mpsc::Receiver<Option<DeviceError>>>,
    /// Whether something was queued behind the last question.
    unasked: bool,
    given_up: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StreamQueue {
    /// Starts the thread.
    pub(super) fn start(pool: Arc<Pool>) -> std::io::Result<StreamQueue> {
        let (operations, queue) = mpsc::channel();
        let given_up = Arc::new(AtomicBool::new(false));
        let worker = StreamThread {
            pool,
            failure: None,
            launches: 0,
            given_up: Arc::clone(&given_up),
            is_bound: false,
        };
        let name = "gpubench-stream".to_owned();
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(move || worker.carry_out(&queue))?;
        Ok(StreamQueue {
            operations: Some(operations),
            asked: None,
            unasked: false,
            given_up,
            thread: Some(thread),
        })
    }

    /// Queues an operation. Says whether the thread is still there to take it.
    pub(super) fn push(&mut self, operation: Operation) -> bool {
        let is_question = matches!(operation, Operation::Synchronize(_));
        let operations = self.operations.as_ref();
        let taken = operations.is_some_and(|operations| operations.send(operation).is_ok());
        self.unasked = !(is_question && taken);
        taken
    }

    /// Waits until the thread has carried out what is queued, and says whether it has, or the first
    /// failure since the last that was told. `None` where the thread has ended. Nobody is asked
    /// where nothing was queued since the last answer.
    pub(super) fn idle_within(&mut self, patience: Duration) -> Option<Result<bool, DeviceError>> {
        let began = Instant::now();
        // An answer that is owed tells of what was queued before its question, and of no more.
        while self.asked.is_some() || self.unasked {
            let answer = match self.asked.take() {
                Some(owed) => owed,
                None => {
                    let (answer, asked) = mpsc::channel();
                    self.push(Operation::Synchronize(answer)).then_some(asked)?
                }
            };
            match answer.recv_timeout(patience.saturating_sub(began.elapsed())) {
                Ok(None) => {}
                Ok(Some(failure)) => return Some(Err(failure)),
                Err(why) => {
                    self.asked = Some(answer);
                    return (why == mpsc::RecvTimeoutError::Timeout).then_some(Ok(false));
                }
            }
        }
        Some(Ok(true))
    }
}

impl Drop for StreamQueue {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Relaxed);
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
    given_up: Arc<AtomicBool>,
    /// Whether it runs on the processor that the pool leaves to launches; else it may run anywhere.
    is_bound: bool,
}

impl StreamThread {
    fn carry_out(mut self, queue: &mpsc::Receiver<Operation>) {
        let mut spin = Duration::ZERO;
        while let Some(operation) = next(queue, spin) {
            // Who asks has queued all there is.
            spin = match operation {
                Operation::Synchronize(_) => Duration::ZERO,
                _ => SPIN,
            };
            match operation {
                Operation::Synchronize(answer) => {
                    self.launches = 0;
                    // Nobody listens any more: nothing to tell.
                    let _ = answer.send(self.failure.take());
                }
                // Behind a failure nothing is carried out, as on a GPU whose context is lost.
                _ if self.failure.is_some() || self.given_up.load(Ordering::Relaxed) => {}
                operation => self.carry_out_one(operation),
            }
        }
    }

    fn carry_out_one(&mut self, operation: Operation) {
        match operation {
            Operation::Wait { word, value } => word.wait_for(value, &self.given_up),
            Operation::GetReady => {
                self.bind(true);
                self.pool.wake();
            }
            Operation::Write { word, value } => word.store(value),
            Operation::Record(time) => time.store(monotonic_ns(), Ordering::Release),
            Operation::Launch {
                kernel,
                shape,
                arguments,
            } => self.launch(kernel, &shape, &arguments),
            // SAFETY: the driver's callers pass ranges of mapped device memory that do not overlap.
            Operation::Copy { target, source, bytes } => unsafe {
                std::ptr::copy_nonoverlapping(source as *const u8, target as *mut u8, bytes);
            },
            // SAFETY: the driver's callers pass a range of device memory mapped for stores.
            Operation::Set { target, value, bytes } => unsafe {
                std::ptr::write_bytes(target as *mut u8, value, bytes);
            },
            Operation::Host(work) => {
                // Threads that the user's code starts may run where this one may.
                self.bind(false);
                self.failure = work().err().map(DeviceError::Host);
            }
            Operation::Synchronize(_) => {}
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
        // SAFETY: the driver compared the arguments' number and sizes with the kernel's parameters.
        let ended = unsafe { self.pool.launch(kernel, shape, &arguments.pointers()) };
        if let Err(fault) = ended {
            self.failure = Some(DeviceError::Fault(describe(&fault, self.launches)));
        }
        self.launches += 1;
    }
}

/// The next operation; nothing where no more will come.
fn next(queue: &mpsc::Receiver<Operation>, spin: Duration) -> Option<Operation> {
    let began = Instant::now();
    while began.elapsed() < spin {
        match queue.try_recv() {
            Ok(operation) => return Some(operation),
            Err(mpsc::TryRecvError::Disconnected) => return None,
            Err(mpsc::TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
    queue.recv().ok()
}

fn describe(fault: &KernelFault, launch: u32) -> Fault {
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
        text: fault.kind.to_string(),
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

/// The monotonic clock in nanoseconds, read as the harness's stamp kernel reads it.
pub(super) fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
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

    fn says(queue: &mut StreamQueue, patience: Duration) -> Option<bool> {
        queue.idle_within(patience).transpose().unwrap()
    }

    #[test]
    fn a_stream_that_is_at_rest_is_not_asked_again() {
        let mut queue = queue();
        assert!(queue.push(Operation::GetReady));
        assert_eq!(says(&mut queue, Duration::MAX), Some(true));
        // A question would get no answer any more.
        queue.operations = None;
        assert_eq!(says(&mut queue, Duration::MAX), Some(true));
        assert!(!queue.push(Operation::GetReady));
        assert_eq!([(); 2].map(|()| says(&mut queue, Duration::MAX)), [None; 2]);
    }

    #[test]
    fn a_question_that_is_owed_an_answer_is_not_put_again() {
        let (word, mut queue) = (AtomicU32::new(0), queue());
        // SAFETY: the word lives longer than the queue.
        let word = unsafe { SharedWord::at(word.as_ptr() as u64) };
        assert!(queue.push(Operation::Wait { word, value: 1 }));
        assert_eq!(says(&mut queue, Duration::from_millis(1)), Some(false));
        word.store(1);
        queue.operations = None;
        assert_eq!(says(&mut queue, Duration::MAX), Some(true));
    }

    #[test]
    fn what_is_queued_behind_a_question_is_waited_for_too() {
        let (word, time, mut queue) = (AtomicU32::new(0), EventTime::default(), queue());
        // SAFETY: the word lives longer than the queue.
        let word = unsafe { SharedWord::at(word.as_ptr() as u64) };
        assert!(queue.push(Operation::Wait { word, value: 1 }));
        assert_eq!(says(&mut queue, Duration::from_millis(1)), Some(false));
        assert!(queue.push(Operation::Record(Arc::clone(&time))));
        word.store(1);
        assert_eq!(says(&mut queue, Duration::MAX), Some(true));
        assert_ne!(time.load(Ordering::Acquire), 0);
    }
}
