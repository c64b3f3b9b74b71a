//! Running one block after the other on one OS thread.
//!
//! All of a block's threads begin in a loop on the first coroutine. A thread that waits keeps the coroutine it is on, and the loop goes on
//! with the next thread on another one. Coroutines outlive the block: when its threads have returned, they begin those of the next block.

use std::cell::Cell;
use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr;
use std::thread::{self, ThreadId};

use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::abi::{Callbacks, Request, Shape, Threads, range, stop, vote, wait};
use super::fault::{FaultKind, KernelFault};
use super::kernel::Kernel;
use super::launch::{LaunchShape, ScheduleSeed};
use super::signals::{self, Trap};
use super::stack::GuardedStack;
use super::warp::{LANES, Lane, Settlement, settle};

/// What kernels call back.
pub(super) static CALLBACKS: Callbacks = Callbacks {
    wait: enter_wait,
    stop: stop_launch,
};

/// A launch as every thread of a pool needs it.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub(super) kernel: Kernel,
    pub(super) shape: LaunchShape,
    /// Addresses of the argument values; valid until the launch returns.
    pub(super) arguments: *const *const c_void,
    pub(super) order: ScheduleSeed,
}

// SAFETY: the pool keeps the arguments alive until every thread has left the job.
unsafe impl Send for Job {}

/// A coroutine that runs threads of blocks, and what the thread that waits on it asked for.
struct Slot {
    coroutine: Coroutine<(), (), (), GuardedStack>,
    trap_handler: CoroutineTrapHandler<()>,
    guard: Range<usize>,
    yielder: Cell<*const Yielder<(), ()>>,
    /// What the thread waits for; null if none does.
    request: Cell<*const Request>,
    answer: Cell<u64>,
    /// Whether the coroutine is parked inside the kernel that ran last, ready for threads of the next block.
    in_kernel: Cell<bool>,
}

/// What the scheduler, the running coroutine and the signal handler tell each other; all three reach it through a raw pointer.
pub(super) struct Exchange {
    current: Cell<*mut Slot>,
    entry: Cell<Threads>,
    first: Cell<u32>,
    end: Cell<u32>,
    /// Threads at the block barrier.
    arrived: Cell<u32>,
    /// Line of the barrier the first of them met, and what it answers.
    barrier: Cell<(u32, u32)>,
    /// Whether another met a different one.
    mismatched: Cell<bool>,
    /// Threads whose predicate holds.
    votes: Cell<u32>,
    /// Threads that wait for lanes of their warp.
    in_warps: Cell<u32>,
    stopped: Cell<Option<(FaultKind, u32)>>,
    trap: Cell<Option<Trap>>,
}

impl Exchange {
    /// Trap handler and guard of the running coroutine.
    ///
    /// # Safety
    /// Called on the thread that owns the exchange.
    pub(super) unsafe fn running(&self) -> Option<(CoroutineTrapHandler<()>, &Range<usize>)> {
        let slot = self.current.get();
        // SAFETY: a slot is current only while it exists.
        (!slot.is_null()).then(|| unsafe { ((*slot).trap_handler, &(*slot).guard) })
    }

    #[inline]
    fn arrive_at_barrier(&self, request: &Request) {
        let place = (request.line, request.arg);
        if self.arrived.get() == 0 {
            self.barrier.set(place);
        } else if self.barrier.get() != place {
            self.mismatched.set(true);
        }
        self.arrived.set(self.arrived.get() + 1);
        self.votes.set(self.votes.get() + request.value as u32);
    }

    /// Leaves the reason why the running coroutine was ended.
    pub(super) fn leave(&self, trap: Trap) {
        self.trap.set(Some(trap));
    }
}

extern "C" fn no_entry(_first: u32, _end: u32) {}

/// `gb_callbacks.wait` where it is jumped to: goes back by a jump as well.
#[cfg(target_arch = "x86_64")]
unsafe extern "C" fn enter_wait(worker: *mut c_void, request: *const Request) -> ! {
    // SAFETY: the shim hands over what `wait` asks for.
    let answer = unsafe { wait_for_others(worker.cast(), request) };
    // SAFETY: the shim's frame is intact and expects to go on at this place, with these registers and no others.
    unsafe {
        std::arch::asm!(
            "mov rsp, [rcx + {stack}]",
            "mov rbp, [rcx + {frame}]",
            "jmp [rcx + {place}]",
            stack = const std::mem::offset_of!(Request, stack),
            frame = const std::mem::offset_of!(Request, frame),
            place = const std::mem::offset_of!(Request, place),
            in("rcx") request,
            in("rax") answer,
            options(noreturn),
        )
    }
}

/// `gb_callbacks.wait` where it is called.
#[cfg(not(target_arch = "x86_64"))]
unsafe extern "C" fn enter_wait(worker: *mut c_void, request: *const Request) -> u64 {
    // SAFETY: the shim hands over what `wait` asks for.
    unsafe { wait_for_others(worker.cast(), request) }
}

/// Notes what the running thread asks for and lets others run until it is answered.
///
/// # Safety
/// `exchange` is the one that `BlockRunner::begin` gave to the kernel, and `request` lives as long as its thread waits.
#[inline(always)]
unsafe fn wait_for_others(exchange: *const Exchange, request: *const Request) -> u64 {
    // SAFETY: the current slot is the one this coroutine runs on, and its yielder lives as long as its coroutine.
    unsafe {
        let slot = (*exchange).current.get();
        match (*request).kind {
            wait::BARRIER => {
                (*slot).request.set(request);
                (*exchange).arrive_at_barrier(&*request);
            }
            wait::PARK => {
                (*slot).request.set(ptr::null());
                (*slot).in_kernel.set(true);
            }
            _ => {
                (*slot).request.set(request);
                (*exchange).in_warps.set((*exchange).in_warps.get() + 1);
            }
        }
        (*(*slot).yielder.get()).suspend(());
        (*slot).answer.get()
    }
}

/// `gb_callbacks.stop`: never returns to the kernel, whose coroutine is abandoned.
unsafe extern "C" fn stop_launch(worker: *mut c_void, kind: u32, line: u32, thread: u32) {
    let exchange = worker.cast::<Exchange>();
    let kind = match kind {
        stop::ASSERT => FaultKind::Assert { line },
        stop::TRAP => FaultKind::Trap { line },
        _ => FaultKind::IllegalInstruction,
    };
    // SAFETY: as in `wait_for_others`.
    unsafe {
        (*exchange).stopped.set(Some((kind, thread)));
        loop {
            (*(*(*exchange).current.get()).yielder.get()).suspend(());
        }
    }
}

/// Where a resumed coroutine stopped.
enum Paused {
    /// Its thread waits.
    Waiting,
    /// Its threads have returned.
    Parked,
}

/// Why a block ended early; `thread` is linear, and exact if it is there.
struct Broken {
    kind: FaultKind,
    thread: Option<u32>,
}

/// Which form of a kernel runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Fast,
    Precise,
}

impl Form {
    fn entry(self, job: &Job) -> Threads {
        match self {
            Form::Fast => job.kernel.descriptor().fast,
            Form::Precise => job.kernel.descriptor().precise,
        }
    }
}

/// Runs blocks on the calling thread; belongs to one thread at a time.
pub(super) struct BlockRunner {
    exchange: Box<Exchange>,
    slots: Vec<*mut Slot>,
    /// For every thread of the block the slot it waits on; null if it returned without waiting.
    slot_of: Vec<*mut Slot>,
    order: Option<Vec<u32>>,
    form: Form,
    /// The thread that ran blocks last.
    thread: Option<ThreadId>,
}

// SAFETY: a runner moves between threads only while no kernel of it runs, and `begin` drops the coroutines that are inside kernels of
// another thread; the others are parked in a frame of this file that keeps nothing of a thread.
unsafe impl Send for BlockRunner {}

impl BlockRunner {
    pub(super) fn new() -> BlockRunner {
        let exchange = Exchange {
            current: Cell::new(ptr::null_mut()),
            entry: Cell::new(no_entry),
            first: Cell::new(0),
            end: Cell::new(0),
            arrived: Cell::new(0),
            barrier: Cell::new((0, 0)),
            mismatched: Cell::new(false),
            votes: Cell::new(0),
            in_warps: Cell::new(0),
            stopped: Cell::new(None),
            trap: Cell::new(None),
        };
        BlockRunner {
            exchange: Box::new(exchange),
            slots: Vec::new(),
            slot_of: Vec::new(),
            order: None,
            form: Form::Fast,
            thread: None,
        }
    }

    /// Prepares the calling thread for blocks of a job; once per job and thread.
    pub(super) fn begin(&mut self, job: &Job) {
        let shape = &job.shape;
        let abi_shape = Shape {
            grid: shape.grid,
            block: shape.block,
            dynamic_shared: shape.dynamic_shared,
        };
        let exchange: *const Exchange = &*self.exchange;
        // SAFETY: the unit copies the shape; exchange and arguments outlive the launch.
        unsafe { ((*job.kernel.descriptor().unit).begin)(exchange as *mut c_void, &abi_shape, job.arguments) };
        self.order = job.order.order(shape.threads());
        let fast = self.order.is_none() && shape.fits_fast_form();
        self.form = if fast { Form::Fast } else { Form::Precise };
        self.make_coroutines_enter(self.form.entry(job));
        self.slot_of.clear();
        self.slot_of.resize(shape.threads() as usize, ptr::null_mut());
    }

    /// Leads coroutines that are parked inside another kernel out of it.
    fn make_coroutines_enter(&mut self, entry: Threads) {
        let thread = Some(thread::current().id());
        if self.thread != thread {
            // Kernels keep the addresses of the other thread's memory.
            self.thread = thread;
            self.abandon_coroutines();
        }
        if !ptr::fn_addr_eq(self.exchange.entry.get(), entry) {
            for &slot in &self.slots {
                // SAFETY: slots live as long as the runner.
                if unsafe { (*slot).in_kernel.get() } {
                    // SAFETY: as above.
                    unsafe { (*slot).answer.set(0) };
                    // It only returns: nothing of the kernel runs that could fail.
                    let _ = self.resume(slot);
                }
            }
        }
    }

    /// Runs the blocks with these linear numbers. [`begin`](Self::begin) was called for the job on this thread.
    pub(super) fn run(&mut self, job: &Job, blocks: Range<u64>) -> Result<(), (u64, KernelFault)> {
        signals::enter(&self.exchange);
        let unit = job.kernel.descriptor().unit;
        let mut outcome = Ok(());
        let [mut x, mut y, mut z] = job.shape.block_at(blocks.start);
        for block in blocks {
            // SAFETY: the unit is prepared for this job.
            unsafe { ((*unit).block)(x, y, z) };
            if let Err(broken) = self.run_block(job, self.form) {
                outcome = Err((block, self.attribute(job, [x, y, z], broken)));
                break;
            }
            x += 1;
            if x == job.shape.grid[0] {
                (x, y) = (0, y + 1);
            }
            if y == job.shape.grid[1] {
                (y, z) = (0, z + 1);
            }
        }
        signals::leave();
        outcome
    }

    /// Names the thread of a fault. Where the compiler kept the thread's index in registers, the block is run again in its precise form.
    fn attribute(&mut self, job: &Job, block: [u32; 3], broken: Broken) -> KernelFault {
        let broken = match broken.kind {
            FaultKind::Access { .. }
            | FaultKind::DivisionByZero
            | FaultKind::IllegalInstruction
            | FaultKind::StackOverflow
                if self.form == Form::Fast =>
            {
                match self.run_block(job, Form::Precise) {
                    Err(again) if std::mem::discriminant(&again.kind) == std::mem::discriminant(&broken.kind) => again,
                    _ => Broken { thread: None, ..broken },
                }
            }
            _ => broken,
        };
        let [bx, by, _] = job.shape.block;
        let thread = broken
            .thread
            .map(|linear| [linear % bx, linear / bx % by, linear / bx / by]);
        KernelFault {
            kind: broken.kind,
            block,
            thread,
        }
    }

    fn run_block(&mut self, job: &Job, form: Form) -> Result<(), Broken> {
        let descriptor = job.kernel.descriptor();
        let entry = if form == Form::Fast {
            descriptor.fast
        } else {
            descriptor.precise
        };
        self.exchange.entry.set(entry);
        self.exchange.arrived.set(0);
        self.exchange.mismatched.set(false);
        self.exchange.votes.set(0);
        self.exchange.in_warps.set(0);
        let threads = job.shape.threads();
        let outcome = self
            .start_threads(threads)
            .and_then(|waited| if waited { self.run_phases(threads) } else { Ok(()) });
        outcome.map_err(|mut broken| {
            if let Some(trap) = self.exchange.trap.take() {
                broken = Broken {
                    kind: trap.kind(),
                    thread: Some(self.thread_that_ran(job)),
                };
            }
            self.abandon_coroutines();
            broken
        })
    }

    fn thread_that_ran(&self, job: &Job) -> u32 {
        let mut index = [0u32; 3];
        // SAFETY: the unit writes three words.
        unsafe { ((*job.kernel.descriptor().unit).thread)(index.as_mut_ptr()) };
        let [bx, by, _] = job.shape.block;
        index[0] + bx * (index[1] + by * index[2])
    }

    /// Runs every thread to its first wait or its end; answers whether any waits.
    fn start_threads(&mut self, threads: u32) -> Result<bool, Broken> {
        match self.order.take() {
            None => self.start_in_natural_order(threads),
            Some(order) => {
                let outcome = self.start_in_order(&order);
                self.order = Some(order);
                outcome
            }
        }
    }

    fn start_in_natural_order(&mut self, threads: u32) -> Result<bool, Broken> {
        let mut next = 0;
        let mut used = 0;
        while next < threads {
            let slot = self.slot(used)?;
            match self.start(slot, next, threads)? {
                Paused::Parked if used == 0 => return Ok(false),
                Paused::Parked => {
                    self.slot_of[next as usize..].fill(ptr::null_mut());
                    break;
                }
                Paused::Waiting => {
                    // SAFETY: the request of a waiting thread lives on its coroutine's stack.
                    let thread = unsafe { (*(*slot).request.get()).thread };
                    self.slot_of[next as usize..thread as usize].fill(ptr::null_mut());
                    self.slot_of[thread as usize] = slot;
                    next = thread + 1;
                    used += 1;
                }
            }
        }
        Ok(true)
    }

    fn start_in_order(&mut self, order: &[u32]) -> Result<bool, Broken> {
        let mut used = 0;
        for &thread in order {
            let slot = self.slot(used)?;
            let waits = matches!(self.start(slot, thread, thread + 1)?, Paused::Waiting);
            self.slot_of[thread as usize] = if waits { slot } else { ptr::null_mut() };
            used += usize::from(waits);
        }
        Ok(used > 0)
    }

    /// Runs the started threads from barrier to barrier to their ends.
    fn run_phases(&mut self, threads: u32) -> Result<(), Broken> {
        loop {
            if self.exchange.in_warps.get() > 0 {
                self.settle_warps()?;
            }
            match self.exchange.arrived.get() {
                0 => return Ok(()),
                arrived if arrived < threads || self.exchange.mismatched.get() => return Err(self.divergence(threads)),
                _ => self.release_barrier(threads)?,
            }
        }
    }

    fn release_barrier(&mut self, threads: u32) -> Result<(), Broken> {
        let (_, kind) = self.exchange.barrier.get();
        if kind != vote::NONE {
            let votes = self.exchange.votes.get();
            let answer = match kind {
                vote::COUNT => votes,
                vote::AND => u32::from(votes == threads),
                vote::OR => u32::from(votes > 0),
                _ => 0,
            };
            for &slot in &self.slot_of {
                // SAFETY: every thread of the block waits on its slot.
                unsafe { (*slot).answer.set(u64::from(answer)) };
            }
        }
        self.exchange.arrived.set(0);
        self.exchange.votes.set(0);
        for step in 0..threads as usize {
            let thread = self.order.as_ref().map_or(step, |order| order[step] as usize);
            self.resume(self.slot_of[thread])?;
        }
        Ok(())
    }

    /// Runs warps until no thread waits for lanes of its own.
    fn settle_warps(&mut self) -> Result<(), Broken> {
        for first in (0..self.slot_of.len()).step_by(LANES) {
            loop {
                if let Some(answers) = self.full_shuffle(first) {
                    self.proceed(first, u32::MAX, &answers)?;
                    continue;
                }
                let lanes = self.lanes(first);
                match settle(&lanes) {
                    Settlement::Settled => break,
                    Settlement::Proceed { lanes, answers } => self.proceed(first, lanes, &answers)?,
                    Settlement::Stuck { line, mask, arrived } => {
                        return Err(Broken {
                            kind: FaultKind::WarpDivergence { line, mask, arrived },
                            thread: None,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// The answers to a shuffle that all 32 lanes of a warp wait at; the usual case, without a look at each lane's state.
    fn full_shuffle(&self, first: usize) -> Option<[u64; LANES]> {
        let slots: &[*mut Slot; LANES] = self.slot_of.get(first..first + LANES)?.try_into().ok()?;
        let mut values = [0; LANES];
        let mut sources = [0; LANES];
        let mut place = None;
        for (lane, &slot) in slots.iter().enumerate() {
            // SAFETY: slots live as long as the runner, and requests as long as their threads wait.
            let request = unsafe { slot.as_ref()?.request.get().as_ref()? };
            if request.kind != wait::SHUFFLE
                || request.mask != u32::MAX
                || *place.get_or_insert(request.line) != request.line
            {
                return None;
            }
            (values[lane], sources[lane]) = (request.value, request.arg as usize % LANES);
        }
        Some(sources.map(|source| values[source]))
    }

    fn lanes(&self, first: usize) -> [Lane; LANES] {
        std::array::from_fn(|lane| {
            let slot = self.slot_of.get(first + lane).copied().unwrap_or(ptr::null_mut());
            if slot.is_null() {
                return Lane::Exited;
            }
            // SAFETY: the slots of this runner live as long as it does.
            let request = unsafe { (*slot).request.get() };
            if request.is_null() {
                return Lane::Exited;
            }
            // SAFETY: the request of a waiting thread lives on its coroutine's stack.
            match unsafe { *request } {
                Request {
                    kind: wait::BARRIER, ..
                } => Lane::AtBarrier,
                request => Lane::Waiting(request),
            }
        })
    }

    fn proceed(&mut self, first: usize, lanes: u32, answers: &[u64; LANES]) -> Result<(), Broken> {
        self.exchange
            .in_warps
            .set(self.exchange.in_warps.get() - lanes.count_ones());
        for (lane, &answer) in answers.iter().enumerate() {
            if lanes >> lane & 1 == 1 {
                let slot = self.slot_of[first + lane];
                // SAFETY: a lane that waits has a slot.
                unsafe { (*slot).answer.set(answer) };
                self.resume(slot)?;
            }
        }
        Ok(())
    }

    /// Describes a barrier that not all threads reach.
    fn divergence(&self, threads: u32) -> Broken {
        let mut lines: Vec<(u32, u32)> = Vec::new();
        for &slot in &self.slot_of {
            // SAFETY: slots live as long as the runner, and a waiting thread's request while it waits.
            let line = unsafe {
                match slot.as_ref().map(|slot| slot.request.get()) {
                    Some(request) if !request.is_null() => (*request).line,
                    _ => continue,
                }
            };
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, count)) => *count += 1,
                None => lines.push((line, 1)),
            }
        }
        lines.sort_unstable();
        let kind = match lines[..] {
            [(first, at_first), (second, at_second), ..] => FaultKind::BarrierMismatch {
                lines: [first, second],
                arrived: [at_first, at_second],
                of: threads,
            },
            [(line, arrived)] => FaultKind::BarrierDivergence {
                line,
                arrived,
                of: threads,
            },
            [] => FaultKind::BarrierDivergence {
                line: 0,
                arrived: 0,
                of: threads,
            },
        };
        Broken { kind, thread: None }
    }

    /// Has a coroutine that is free run threads `first..end`.
    #[inline]
    fn start(&self, slot: *mut Slot, first: u32, end: u32) -> Result<Paused, Broken> {
        self.exchange.first.set(first);
        self.exchange.end.set(end);
        // SAFETY: slots live as long as the runner.
        unsafe { (*slot).answer.set(range(first, end)) };
        self.resume(slot)
    }

    /// Switches to a coroutine until its thread waits or its threads have returned.
    #[inline]
    fn resume(&self, slot: *mut Slot) -> Result<Paused, Broken> {
        self.exchange.current.set(slot);
        // SAFETY: slots live as long as the runner; while a coroutine runs, its fields are reached through cells alone.
        unsafe {
            (*slot).request.set(ptr::null());
            match (*slot).coroutine.resume(()) {
                CoroutineResult::Yield(()) if !(*slot).request.get().is_null() => Ok(Paused::Waiting),
                CoroutineResult::Yield(()) => match self.exchange.stopped.take() {
                    None => Ok(Paused::Parked),
                    Some((kind, thread)) => Err(Broken {
                        kind,
                        thread: Some(thread),
                    }),
                },
                CoroutineResult::Return(()) => Err(Broken {
                    kind: FaultKind::IllegalInstruction,
                    thread: None,
                }),
            }
        }
    }

    fn slot(&mut self, number: usize) -> Result<*mut Slot, Broken> {
        if number == self.slots.len() {
            let stack = GuardedStack::new(number).map_err(Broken::without_stack)?;
            self.slots
                .push(Box::into_raw(Box::new(Slot::new(stack, &self.exchange))));
        }
        Ok(self.slots[number])
    }

    /// Gives every coroutine that is inside a kernel a new start; the kernel's frames are dropped as they are.
    fn abandon_coroutines(&mut self) {
        self.exchange.current.set(ptr::null_mut());
        for &slot in &self.slots {
            // SAFETY: the slot was made by `slot`, and nothing else refers to it now.
            let mut slot = unsafe { Box::from_raw(slot) };
            // SAFETY: kernels own nothing that is dropped, and no reference to their frames remains.
            unsafe { slot.coroutine.force_reset() };
            drop(slot);
        }
        self.slots.clear();
        self.slot_of.fill(ptr::null_mut());
    }
}

impl Drop for BlockRunner {
    fn drop(&mut self) {
        self.abandon_coroutines();
    }
}

impl Slot {
    fn new(stack: GuardedStack, exchange: &Exchange) -> Slot {
        let guard = stack.guard();
        let exchange = ptr::from_ref(exchange);
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            loop {
                // SAFETY: the exchange outlives the coroutine; the entry is of the kernel that the unit was prepared for.
                unsafe {
                    (*(*exchange).current.get()).yielder.set(yielder);
                    ((*exchange).entry.get())((*exchange).first.get(), (*exchange).end.get());
                    (*(*exchange).current.get()).request.set(ptr::null());
                    (*(*exchange).current.get()).in_kernel.set(false);
                }
                yielder.suspend(());
            }
        });
        Slot {
            trap_handler: coroutine.trap_handler(),
            guard,
            coroutine,
            yielder: Cell::new(ptr::null()),
            request: Cell::new(ptr::null()),
            answer: Cell::new(0),
            in_kernel: Cell::new(false),
        }
    }
}

impl Broken {
    fn without_stack(_: io::Error) -> Broken {
        Broken {
            kind: FaultKind::OutOfStacks,
            thread: None,
        }
    }
}
