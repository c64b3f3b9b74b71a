//! Runs blocks one after another on one OS thread.
//!
//! All threads of a block start in a loop on the first coroutine. A thread that waits keeps its
//! coroutine, and the loop continues with the next thread on another one. Coroutines outlive the
//! block: when its threads have returned, they start those of the next block.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::thread::{self, ThreadId};

use super::abi::{Request, Threads, vote, wait};
use super::code_place::CodePlace;
use super::dynamic_shared::DynamicShared;
use super::exchange::{Exchange, Paused, Slot};
use super::fault::{FaultKind, KernelFault};
use super::kernel::{Kernel, PlaceDynamicShared};
use super::launch::{LaunchShape, ScheduleSeed};
use super::signals;
use super::stack::GuardedStack;
use super::static_shared::Guarded;
use super::warp::{LANES, Lane, NextStep, next_step};

/// A launch, for every thread of a pool.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub(super) kernel: Kernel,
    pub(super) shape: LaunchShape,
    /// Addresses of the argument values, valid until the launch returns.
    pub(super) arguments: *const *const c_void,
    pub(super) order: ScheduleSeed,
}

// SAFETY: the pool keeps the arguments alive until every thread has left the job.
unsafe impl Send for Job {}

/// Why a block ended early. `thread` is linear; if present, it is exact.
struct BlockFailure {
    kind: FaultKind,
    thread: Option<u32>,
    code: Option<CodePlace>,
}

/// The variant of a kernel to run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Fast,
    Precise,
}

impl Form {
    fn entry(self, job: &Job) -> Threads {
        match self {
            Form::Fast => job.kernel.descriptor.fast,
            Form::Precise => job.kernel.descriptor.precise,
        }
    }
}

/// Runs blocks on the calling thread. Only one thread uses it at a time.
pub(super) struct BlockRunner {
    exchange: Box<Exchange>,
    slots: Vec<*mut Slot>,
    /// The slot on which each thread of the block waits; null if it returned without waiting.
    slot_of: Vec<*mut Slot>,
    order: Option<Vec<u32>>,
    form: Form,
    /// Whether a thread of the job has waited. If so, the kernel keeps the thread index in memory.
    waited: bool,
    /// Created for the first kernel that uses it.
    dynamic_shared: Option<DynamicShared>,
    /// The library that last received the address of dynamic shared memory, and that address;
    /// `None` if the job's kernel does not take one.
    placed: Option<(PlaceDynamicShared, *mut u8)>,
    /// The job's static shared memory on this thread, if overruns can be detected.
    static_shared: Option<Guarded>,
    /// The thread that last ran blocks.
    thread: Option<ThreadId>,
}

// SAFETY: a runner moves between threads only while no kernel of it runs, and `begin` drops the
// coroutines that are inside kernels of another thread. The others are parked in a frame of this
// file, which refers to nothing of a thread.
unsafe impl Send for BlockRunner {}

impl BlockRunner {
    pub(super) fn new() -> BlockRunner {
        BlockRunner {
            exchange: Box::new(Exchange::new()),
            slots: Vec::new(),
            slot_of: Vec::new(),
            order: None,
            form: Form::Fast,
            waited: false,
            dynamic_shared: None,
            placed: None,
            static_shared: None,
            thread: None,
        }
    }

    /// Prepares the calling thread for blocks of a job. Called once per job and thread.
    pub(super) fn begin(&mut self, job: &Job) -> Result<(), FaultKind> {
        let shape = &job.shape;
        let exchange: *const Exchange = &*self.exchange;
        // SAFETY: the unit copies the shape; exchange and arguments outlive the launch.
        unsafe { ((*job.kernel.descriptor.unit).begin)(exchange as *mut c_void, shape, job.arguments) };
        self.order = job.order.order(shape.threads());
        let fast = self.order.is_none() && shape.fits_fast_form();
        self.form = if fast { Form::Fast } else { Form::Precise };
        self.move_to_this_thread();
        self.static_shared = job.kernel.static_shared.map(|shared| shared.of_this_thread(job.order));
        let has_moved = self.place_dynamic_shared(job)?;
        self.leave_other_kernels(self.form.entry(job), has_moved);
        self.waited = false;
        self.slot_of.clear();
        self.slot_of.resize(shape.threads() as usize, ptr::null_mut());
        Ok(())
    }

    /// Resets state that is valid only on another thread: kernels keep addresses of its memory.
    fn move_to_this_thread(&mut self) {
        let thread = Some(thread::current().id());
        if self.thread != thread {
            self.thread = thread;
            self.placed = None;
            self.abandon_coroutines();
        }
    }

    /// Passes the address of dynamic shared memory on this thread to the job's kernel. Returns
    /// whether it is a new address.
    fn place_dynamic_shared(&mut self, job: &Job) -> Result<bool, FaultKind> {
        let Some(place) = job.kernel.place_dynamic_shared else {
            self.placed = None;
            return Ok(false);
        };
        let shared = match &mut self.dynamic_shared {
            Some(shared) => shared,
            none => none.insert(DynamicShared::new(job.order).map_err(|_| FaultKind::OutOfDynamicShared)?),
        };
        let start = shared.prepare(job.shape.dynamic_shared);
        if (self.placed).is_some_and(|(library, known)| ptr::fn_addr_eq(library, place) && known == start) {
            return Ok(false);
        }
        // SAFETY: the memory outlives the launch.
        unsafe { place(start.cast()) };
        self.placed = Some((place, start));
        Ok(true)
    }

    /// Returns the job's dynamic shared memory, if the kernel received its address.
    fn dynamic_shared(&mut self, job: &Job) -> Option<&mut DynamicShared> {
        job.kernel.place_dynamic_shared.and(self.dynamic_shared.as_mut())
    }

    /// Makes coroutines leave the kernel they are parked in, if it is another kernel or knows
    /// another address of dynamic shared memory.
    fn leave_other_kernels(&mut self, entry: Threads, has_moved: bool) {
        if has_moved || !ptr::fn_addr_eq(self.exchange.entry.get(), entry) {
            for &slot in &self.slots {
                // SAFETY: slots live as long as the runner.
                if unsafe { (*slot).in_kernel.get() } {
                    // SAFETY: as above.
                    unsafe { (*slot).answer.set(0) };
                    // The coroutine only returns; no kernel code that could fail runs.
                    let _ = self.go_on(slot);
                }
            }
        }
    }

    /// Runs the blocks with these linear numbers, or at these positions of the job's order.
    /// [`begin`](Self::begin) must have been called for the job on this thread.
    pub(super) fn run(&mut self, job: &Job, blocks: Range<u64>) -> Result<(), (u64, KernelFault)> {
        signals::enter(&self.exchange);
        let unit = job.kernel.descriptor.unit;
        let mut outcome = Ok(());
        let order = job.order.order_of_blocks(job.shape.blocks());
        let [mut x, mut y, mut z] = job.shape.block_at(blocks.start);
        for mut block in blocks {
            if let Some(order) = order {
                block = order.at(block);
                [x, y, z] = job.shape.block_at(block);
            }
            // SAFETY: the unit is prepared for this job.
            unsafe { ((*unit).block)(x, y, z) };
            if let Err(failure) = self.run_block(job, self.form) {
                outcome = Err((block, self.attribute(job, [x, y, z], failure)));
                break;
            }
            let overrun = self.dynamic_shared(job).and_then(DynamicShared::overrun);
            if let Some(kind) = overrun.or_else(|| self.static_shared?.overrun()) {
                outcome = Err((block, KernelFault::of_block([x, y, z], kind)));
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

    /// Finds the thread of a fault. If the compiler kept the thread index in registers, runs the
    /// block again in its precise variant.
    fn attribute(&mut self, job: &Job, block: [u32; 3], failure: BlockFailure) -> KernelFault {
        let failure = match failure.kind {
            FaultKind::Access { .. }
            | FaultKind::DynamicShared { .. }
            | FaultKind::DivisionByZero
            | FaultKind::IllegalInstruction
            | FaultKind::StackOverflow
                if self.form == Form::Fast =>
            {
                match self.run_block(job, Form::Precise) {
                    Err(again) if std::mem::discriminant(&again.kind) == std::mem::discriminant(&failure.kind) => again,
                    _ if self.waited => failure,
                    _ => BlockFailure {
                        thread: None,
                        ..failure
                    },
                }
            }
            _ => failure,
        };
        let [bx, by, _] = job.shape.block;
        let thread = failure
            .thread
            .map(|linear| [linear % bx, linear / bx % by, linear / bx / by]);
        KernelFault {
            kind: failure.kind,
            block,
            thread,
            code: failure.code,
        }
    }

    fn run_block(&mut self, job: &Job, form: Form) -> Result<(), BlockFailure> {
        self.exchange.reset(form.entry(job));
        let threads = job.shape.threads();
        let outcome = self
            .start_threads(threads)
            .and_then(|waited| if waited { self.run_phases(threads) } else { Ok(()) });
        outcome.map_err(|mut failure| {
            if let Some(trap) = self.exchange.trap.take() {
                let kind = trap.kind();
                failure = BlockFailure {
                    kind: self.dynamic_shared(job).map_or(kind, |shared| shared.name(kind)),
                    thread: Some(self.thread_that_ran(job)),
                    code: Some(trap.code),
                };
            }
            self.abandon_coroutines();
            failure
        })
    }

    fn thread_that_ran(&self, job: &Job) -> u32 {
        let mut index = [0u32; 3];
        // SAFETY: the unit writes three words.
        unsafe { ((*job.kernel.descriptor.unit).thread)(index.as_mut_ptr()) };
        let [bx, by, _] = job.shape.block;
        index[0] + bx * (index[1] + by * index[2])
    }

    /// Runs every thread to its first wait or its end. Returns whether any thread waits.
    fn start_threads(&mut self, threads: u32) -> Result<bool, BlockFailure> {
        match self.order.take() {
            None => self.start_in_natural_order(threads),
            Some(order) => {
                let outcome = self.start_in_order(&order);
                self.order = Some(order);
                outcome
            }
        }
    }

    fn start_in_natural_order(&mut self, threads: u32) -> Result<bool, BlockFailure> {
        let mut next = 0;
        let mut used = 0;
        while next < threads {
            let slot = self.slot(used)?;
            let is_waiting = self.start(slot, next, threads)?;
            if !is_waiting && used == 0 {
                return Ok(false);
            }
            if !is_waiting {
                self.slot_of[next as usize..].fill(ptr::null_mut());
                break;
            }
            self.waited = true;
            // SAFETY: the request of a waiting thread lives on its coroutine's stack.
            let thread = unsafe { (*(*slot).request.get()).thread };
            self.slot_of[next as usize..thread as usize].fill(ptr::null_mut());
            self.slot_of[thread as usize] = slot;
            next = thread + 1;
            used += 1;
        }
        Ok(true)
    }

    fn start_in_order(&mut self, order: &[u32]) -> Result<bool, BlockFailure> {
        let mut used = 0;
        for &thread in order {
            let slot = self.slot(used)?;
            let waits = self.start(slot, thread, thread + 1)?;
            self.slot_of[thread as usize] = if waits { slot } else { ptr::null_mut() };
            used += usize::from(waits);
        }
        Ok(used > 0)
    }

    /// Runs the started threads from barrier to barrier until they end.
    fn run_phases(&mut self, threads: u32) -> Result<(), BlockFailure> {
        loop {
            if self.exchange.in_warps.get() > 0 {
                self.run_warps()?;
            }
            match self.exchange.arrived.get() {
                0 => return Ok(()),
                arrived if arrived < threads || self.exchange.mismatched.get() => return Err(self.divergence(threads)),
                _ => self.release_barrier(threads)?,
            }
        }
    }

    fn release_barrier(&mut self, threads: u32) -> Result<(), BlockFailure> {
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
            self.go_on(self.slot_of[thread])?;
        }
        Ok(())
    }

    /// Runs warps until no thread waits for lanes of its warp.
    fn run_warps(&mut self) -> Result<(), BlockFailure> {
        for first in (0..self.slot_of.len()).step_by(LANES) {
            loop {
                if let Some(answers) = self.full_shuffle(first) {
                    self.proceed(first, u32::MAX, &answers)?;
                    continue;
                }
                let lanes = self.lanes(first);
                match next_step(&lanes) {
                    NextStep::Idle => break,
                    NextStep::Proceed { lanes, answers } => self.proceed(first, lanes, &answers)?,
                    NextStep::Stuck { line, mask, arrived } => {
                        return Err(FaultKind::WarpDivergence { line, mask, arrived }.into());
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the results of a shuffle at which all 32 lanes of a warp wait. This is the common
    /// case; it needs no check of each lane's state.
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

    fn lanes(&self, first: usize) -> [Lane<'_>; LANES] {
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
            match unsafe { &*request } {
                Request {
                    kind: wait::BARRIER, ..
                } => Lane::AtBarrier,
                request => Lane::Waiting(request),
            }
        })
    }

    fn proceed(&mut self, first: usize, lanes: u32, answers: &[u64; LANES]) -> Result<(), BlockFailure> {
        self.exchange
            .in_warps
            .set(self.exchange.in_warps.get() - lanes.count_ones());
        for (lane, &answer) in answers.iter().enumerate() {
            if lanes >> lane & 1 == 1 {
                let slot = self.slot_of[first + lane];
                // SAFETY: a lane that waits has a slot.
                unsafe { (*slot).answer.set(answer) };
                self.go_on(slot)?;
            }
        }
        Ok(())
    }

    /// Describes a barrier that not all threads reach.
    fn divergence(&self, threads: u32) -> BlockFailure {
        let mut lines: Vec<(u32, u32)> = Vec::new();
        for &slot in &self.slot_of {
            // SAFETY: slots live as long as the runner, and a waiting thread's request while it
            // waits.
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
            _ => {
                let (line, arrived) = lines.first().copied().unwrap_or_default();
                FaultKind::BarrierDivergence {
                    line,
                    arrived,
                    of: threads,
                }
            }
        };
        kind.into()
    }

    /// Makes a free coroutine run threads `first..end`. Returns whether the last of them waits.
    #[inline]
    fn start(&self, slot: *mut Slot, first: u32, end: u32) -> Result<bool, BlockFailure> {
        // SAFETY: slots live as long as the runner, and no other coroutine of it runs.
        match unsafe { self.exchange.start(slot, first, end) } {
            Paused::Waiting => Ok(true),
            Paused::Parked => Ok(false),
            Paused::Ended => Err(self.failure()),
        }
    }

    /// Resumes a thread that has its result.
    #[inline]
    fn go_on(&self, slot: *mut Slot) -> Result<(), BlockFailure> {
        // SAFETY: slots live as long as the runner, and no other coroutine of it runs.
        match unsafe { self.exchange.resume(slot) } {
            Paused::Ended => Err(self.failure()),
            _ => Ok(()),
        }
    }

    /// Returns why the last coroutine ended. The thread of a trap is found later.
    #[cold]
    fn failure(&self) -> BlockFailure {
        match self.exchange.stopped.take() {
            Some((kind, thread)) => BlockFailure {
                kind,
                thread: Some(thread),
                code: None,
            },
            None => FaultKind::IllegalInstruction.into(),
        }
    }

    fn slot(&mut self, number: usize) -> Result<*mut Slot, BlockFailure> {
        if number == self.slots.len() {
            let stack = GuardedStack::new(number).map_err(|_| FaultKind::OutOfStacks)?;
            self.slots.push(Slot::allocate(stack, &self.exchange));
        }
        Ok(self.slots[number])
    }

    /// Restarts every coroutine that is inside a kernel. The kernel's frames are discarded.
    fn abandon_coroutines(&mut self) {
        self.exchange.forget_current();
        for &slot in &self.slots {
            // SAFETY: `slot` created the slot, and nothing else refers to it now.
            unsafe { Slot::discard(slot) };
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

impl From<FaultKind> for BlockFailure {
    fn from(kind: FaultKind) -> BlockFailure {
        BlockFailure {
            kind,
            thread: None,
            code: None,
        }
    }
}
