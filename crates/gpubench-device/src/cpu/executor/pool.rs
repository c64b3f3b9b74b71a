//! Distributes the blocks of a launch to threads.

use std::cell::Cell;
use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::block::{BlockRunner, Job};
use super::fault::{FaultKind, KernelFault};
use super::kernel::Kernel;
use super::launch::{LaunchShape, ScheduleSeed};
use super::processors::Processors;
use super::signals::install_fault_handlers;
use crate::cpu::valgrind::toggle_collection;

/// How long a thread polls for the next launch before it sleeps.
const SPIN_AFTER_LAUNCH: Duration = Duration::from_micros(200);
/// How long it polls after [`Pool::wake`].
const SPIN_AFTER_WAKE: Duration = Duration::from_millis(5);
/// How long the launching thread waits for the others to be ready. On a busy machine, a late thread
/// joins the launch later.
const PATIENCE: Duration = Duration::from_millis(5);
/// Pieces of a grid per thread, so that threads finish at about the same time.
const PIECES_PER_THREAD: u64 = 16;

/// Threads that run the blocks of launches. The launching thread takes part, so a pool of one has
/// no threads of its own.
pub struct Pool {
    shared: Arc<Shared>,
    launcher: Mutex<BlockRunner>,
    helpers: Vec<JoinHandle<()>>,
    processors: Option<Arc<Processors>>,
    order: ScheduleSeed,
}

struct Shared {
    /// A counter that changes when there is work; helpers poll it.
    signal: AtomicU64,
    /// The first block that no thread has claimed yet.
    next: AtomicU64,
    /// Helpers that work on the open launch.
    inside: AtomicUsize,
    /// Helpers that sleep or are about to.
    asleep: AtomicUsize,
    /// Helpers that have run since the last call of [`Pool::wake`].
    ready: AtomicUsize,
    /// Whether any launch since the last call of [`Pool::wake`] used the helpers; true before the
    /// first.
    wanted: AtomicBool,
    closing: AtomicBool,
    /// Whether callgrind collects the costs of blocks.
    collecting: AtomicBool,
    /// Whether kernels may not start threads or processes.
    alone: AtomicBool,
    state: Mutex<State>,
}

struct State {
    /// The launch that helpers may join.
    open: Option<Job>,
    /// The fault with the lowest block so far.
    fault: Option<(u64, KernelFault)>,
    /// Until when helpers should stay ready.
    ready_until: Option<Instant>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Claims and runs blocks until none is left.
    fn work(&self, runner: &mut BlockRunner, job: &Job, threads: usize) {
        let blocks = job.shape.blocks();
        let piece = (blocks / (threads as u64 * PIECES_PER_THREAD)).max(1);
        if self.alone.load(Ordering::Relaxed) && deny_new_tasks().is_err() {
            return self.end_with((0, KernelFault::of_block([0; 3], FaultKind::InvalidLaunch)), blocks);
        }
        if let Err(kind) = runner.begin(job) {
            return self.end_with((0, KernelFault::of_block([0; 3], kind)), blocks);
        }
        let is_collecting = self.collecting.load(Ordering::Relaxed);
        loop {
            let start = self.next.fetch_add(piece, Ordering::Relaxed);
            if start >= blocks {
                return;
            }
            toggle_collection_if(is_collecting);
            let ended = runner.run(job, start..blocks.min(start + piece));
            toggle_collection_if(is_collecting);
            if let Err(fault) = ended {
                return self.end_with(fault, blocks);
            }
        }
    }

    /// Stops threads from claiming more blocks of the launch, and keeps the fault if its block is
    /// lower than that of the known one.
    fn end_with(&self, fault: (u64, KernelFault), blocks: u64) {
        self.next.store(blocks, Ordering::Relaxed);
        let mut state = self.state();
        if state.fault.is_none_or(|known| fault.0 < known.0) {
            state.fault = Some(fault);
        }
    }

    /// The loop of a helper.
    fn help(&self, threads: usize) {
        let mut runner = BlockRunner::new();
        let mut seen = 0;
        let mut patience = SPIN_AFTER_LAUNCH;
        while !self.closing.load(Ordering::Acquire) {
            seen = self.wait_for_signal(seen, patience);
            self.ready.fetch_add(1, Ordering::Release);
            let state = self.state();
            let ready = state
                .ready_until
                .map(|until| until.saturating_duration_since(Instant::now()));
            patience = ready.unwrap_or_default().max(SPIN_AFTER_LAUNCH);
            let Some(job) = state.open else { continue };
            self.inside.fetch_add(1, Ordering::Relaxed);
            drop(state);
            self.work(&mut runner, &job, threads);
            self.inside.fetch_sub(1, Ordering::Release);
        }
    }

    fn wait_for_signal(&self, seen: u64, patience: Duration) -> u64 {
        let begun = Instant::now();
        loop {
            for _ in 0..64 {
                let now = self.signal.load(Ordering::Acquire);
                if now != seen {
                    return now;
                }
                std::hint::spin_loop();
            }
            if begun.elapsed() > patience {
                self.asleep.fetch_add(1, Ordering::SeqCst);
                while self.signal.load(Ordering::SeqCst) == seen {
                    std::thread::park();
                }
                self.asleep.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }
}

/// Denies the calling thread to start threads and processes. Once is enough.
fn deny_new_tasks() -> std::io::Result<()> {
    thread_local! {
        static IS_ALONE: Cell<bool> = const { Cell::new(false) };
    }
    if IS_ALONE.replace(true) {
        Ok(())
    } else {
        gpubench_sandbox::deny_new_tasks()
    }
}

fn toggle_collection_if(is_collecting: bool) {
    if is_collecting {
        toggle_collection();
    }
}

impl Pool {
    /// Creates a pool of `threads` threads in total, which run blocks and threads in `order`.
    /// Installs the fault handlers.
    ///
    /// # Panics
    /// When the system has no more threads.
    pub fn new(threads: NonZeroUsize, order: ScheduleSeed) -> Pool {
        install_fault_handlers();
        let shared = Arc::new(Shared {
            signal: AtomicU64::new(0),
            next: AtomicU64::new(0),
            inside: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            ready: AtomicUsize::new(0),
            wanted: AtomicBool::new(true),
            closing: AtomicBool::new(false),
            collecting: AtomicBool::new(false),
            alone: AtomicBool::new(false),
            state: Mutex::new(State {
                open: None,
                fault: None,
                ready_until: None,
            }),
        });
        let processors = Processors::for_threads(threads.get()).map(Arc::new);
        let helper = |number| {
            let (shared, processors) = (Arc::clone(&shared), processors.clone());
            std::thread::spawn(move || {
                if let Some(processors) = processors {
                    processors.bind(number);
                }
                shared.help(threads.get());
            })
        };
        let helpers = (1..threads.get()).map(helper).collect();
        Pool {
            shared,
            launcher: Mutex::new(BlockRunner::new()),
            helpers,
            processors,
            order,
        }
    }

    /// Returns the number of threads, including the launching one.
    pub fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Binds the calling thread to the processor for launches, if every thread of the pool has a
    /// processor.
    pub fn bind_launcher(&self) {
        if let Some(processors) = &self.processors {
            processors.bind(0);
        }
    }

    /// Lets the calling thread run on any processor again.
    pub fn release_launcher(&self) {
        if let Some(processors) = &self.processors {
            processors.release();
        }
    }

    /// Denies kernels of later launches to start threads and processes, whose instructions would
    /// not be counted.
    pub(in crate::cpu) fn forbid_new_tasks(&self) {
        self.shared.alone.store(true, Ordering::Relaxed);
    }

    /// Makes callgrind collect the costs of the blocks of later launches, or stop doing so.
    pub(in crate::cpu) fn collect_costs(&self, wanted: bool) {
        self.shared.collecting.store(wanted, Ordering::Relaxed);
    }

    /// Runs host code, and lets callgrind collect its costs if it collects those of blocks.
    pub(in crate::cpu) fn run_host_code<T>(&self, work: impl FnOnce() -> T) -> T {
        let is_collecting = self.shared.collecting.load(Ordering::Relaxed);
        toggle_collection_if(is_collecting);
        let result = work();
        toggle_collection_if(is_collecting);
        result
    }

    /// Wakes sleeping threads and waits until they are ready, so that a launch within the next
    /// milliseconds starts on all of them at once. Does nothing if no launch has used the helpers
    /// since the last call: a thread polling on the same core would only slow the next launch down.
    pub fn wake(&self) {
        if !self.shared.wanted.swap(false, Ordering::Relaxed) {
            return;
        }
        let begun = Instant::now();
        self.shared.state().ready_until = Some(begun + PATIENCE + SPIN_AFTER_WAKE);
        self.shared.ready.store(0, Ordering::Relaxed);
        self.call_helpers();
        while self.shared.ready.load(Ordering::Acquire) < self.helpers.len() && begun.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
    }

    /// Runs a kernel over a grid. Returns when every block has ended, or when the first fault has
    /// ended the launch. `arguments` are the addresses of the argument values. Launches of one pool
    /// run one after another.
    ///
    /// # Errors
    /// The fault of the lowest block among those that faulted.
    ///
    /// # Safety
    /// Each argument points to a value of its parameter's size, and the kernel may do what it does
    /// with the memory that its arguments point to.
    pub unsafe fn launch(
        &self,
        kernel: Kernel,
        shape: &LaunchShape,
        arguments: &[*const c_void],
    ) -> Result<(), KernelFault> {
        if !shape.is_runnable() || arguments.len() != kernel.param_sizes().len() {
            return Err(KernelFault::of_block([0; 3], FaultKind::InvalidLaunch));
        }
        let mut runner = self.launcher.lock().unwrap_or_else(PoisonError::into_inner);
        let order = if kernel.is_own {
            ScheduleSeed::Natural
        } else {
            self.order
        };
        let job = Job {
            kernel,
            shape: *shape,
            arguments: arguments.as_ptr(),
            order,
        };
        self.shared.next.store(0, Ordering::Relaxed);
        let is_distributed = order == ScheduleSeed::Natural && shape.blocks() > 1 && !self.helpers.is_empty();
        if is_distributed {
            self.shared.wanted.store(true, Ordering::Relaxed);
            self.shared.state().open = Some(job);
            self.call_helpers();
        }
        self.shared.work(&mut runner, &job, self.threads());
        if is_distributed {
            self.shared.state().open = None;
            while self.shared.inside.load(Ordering::Acquire) > 0 {
                std::hint::spin_loop();
            }
        }
        match self.shared.state().fault.take() {
            Some((_, fault)) => Err(fault),
            None => Ok(()),
        }
    }

    fn call_helpers(&self) {
        self.shared.signal.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::SeqCst) > 0 {
            for helper in &self.helpers {
                helper.thread().unpark();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        self.call_helpers();
        for helper in self.helpers.drain(..) {
            // A helper that panicked has printed its message to standard error.
            let _ = helper.join();
        }
    }
}
