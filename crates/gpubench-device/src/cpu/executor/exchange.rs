//! Communication between a block's scheduler, the threads that it runs and the signal handler.

use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::abi::{Callbacks, Request, Threads, range, stop, wait};
use super::fault::FaultKind;
use super::stack::GuardedStack;
use super::trap::Trap;

/// The functions that kernels call.
pub(super) static CALLBACKS: Callbacks = Callbacks {
    wait: enter_wait,
    stop: stop_launch,
};

/// Why a resumed coroutine stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Paused {
    /// Its thread waits.
    Waiting,
    /// Its threads have returned.
    Parked,
    /// Its thread was stopped, by itself or by a trap. The coroutine cannot be used again.
    Ended,
}

/// A coroutine that runs threads of blocks, with the request of a waiting thread.
///
/// A switch uses the first five fields, which are in one cache line.
#[repr(C, align(64))]
pub(super) struct Slot {
    coroutine: Coroutine<(), (), (), GuardedStack>,
    yielder: Cell<*const Yielder<(), ()>>,
    /// The request of the waiting thread; null if none waits.
    pub(super) request: Cell<*const Request>,
    pub(super) answer: Cell<u64>,
    /// Whether the coroutine is parked inside the last kernel, ready for threads of the next block.
    pub(super) in_kernel: Cell<bool>,
    trap_handler: CoroutineTrapHandler<()>,
    guard: Range<usize>,
}

/// The shared state of the scheduler, the running coroutine and the signal handler. All three reach
/// it through a raw pointer.
pub(super) struct Exchange {
    current: Cell<*mut Slot>,
    /// The function for coroutines that are not inside a kernel; `first..end` are its threads.
    pub(super) entry: Cell<Threads>,
    first: Cell<u32>,
    end: Cell<u32>,
    /// Threads at the block barrier.
    pub(super) arrived: Cell<u32>,
    /// Line and vote of the barrier that the first thread reached.
    pub(super) barrier: Cell<(u32, u32)>,
    /// Whether a thread reached another barrier.
    pub(super) mismatched: Cell<bool>,
    /// Threads whose predicate is true.
    pub(super) votes: Cell<u32>,
    /// Threads that wait for lanes of their warp.
    pub(super) in_warps: Cell<u32>,
    /// Why the running thread stopped itself, and its index.
    pub(super) stopped: Cell<Option<(FaultKind, u32)>>,
    /// The trap that stopped the running thread.
    pub(super) trap: Cell<Option<Trap>>,
}

impl Exchange {
    pub(super) fn new() -> Exchange {
        Exchange {
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
        }
    }

    /// Prepares for a block: no thread waits, and coroutines run `entry`.
    pub(super) fn reset(&self, entry: Threads) {
        self.entry.set(entry);
        self.arrived.set(0);
        self.mismatched.set(false);
        self.votes.set(0);
        self.in_warps.set(0);
    }

    /// Makes a parked coroutine run threads `first..end`.
    ///
    /// # Safety
    /// As for [`resume`](Self::resume).
    #[inline]
    pub(super) unsafe fn start(&self, slot: *mut Slot, first: u32, end: u32) -> Paused {
        self.first.set(first);
        self.end.set(end);
        // SAFETY: the caller guarantees that the slot is valid.
        unsafe {
            (*slot).answer.set(range(first, end));
            self.resume(slot)
        }
    }

    /// Switches to a coroutine until its thread waits or its threads have returned.
    ///
    /// # Safety
    /// The slot exists, was made for this exchange, and has not [ended](Paused::Ended). No
    /// coroutine of the exchange runs.
    #[inline]
    pub(super) unsafe fn resume(&self, slot: *mut Slot) -> Paused {
        self.current.set(slot);
        // SAFETY: the caller guarantees that the slot is valid; while its coroutine runs, only
        // cells of the other fields are used.
        unsafe {
            (*slot).request.set(ptr::null());
            match (*slot).coroutine.resume(()) {
                CoroutineResult::Yield(()) if !(*slot).request.get().is_null() => Paused::Waiting,
                CoroutineResult::Yield(()) if self.stopped.get().is_none() => Paused::Parked,
                _ => Paused::Ended,
            }
        }
    }

    /// Clears the running coroutine, so that its slot may be dropped.
    pub(super) fn forget_current(&self) {
        self.current.set(ptr::null_mut());
    }

    /// Returns the trap handler and the guard of the running coroutine.
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

    /// Records the trap that ended the running coroutine.
    pub(super) fn leave(&self, trap: Trap) {
        self.trap.set(Some(trap));
    }
}

extern "C" fn no_entry(_first: u32, _end: u32) {}

/// `gb_callbacks.wait` for processors on which kernels jump to it. It jumps back, too.
#[cfg(target_arch = "x86_64")]
unsafe extern "C" fn enter_wait(worker: *mut c_void, request: *const Request) -> ! {
    // SAFETY: the shim passes the arguments that `wait` needs.
    let answer = unsafe { wait_for_others(worker.cast(), request) };
    // SAFETY: the shim's frame is intact and expects to continue at this place, with these
    // registers and no others.
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

/// `gb_callbacks.wait` for processors on which kernels call it.
#[cfg(not(target_arch = "x86_64"))]
unsafe extern "C" fn enter_wait(worker: *mut c_void, request: *const Request) -> u64 {
    // SAFETY: the shim passes the arguments that `wait` needs.
    unsafe { wait_for_others(worker.cast(), request) }
}

/// Records the running thread's request, and runs other threads until it has a result.
///
/// # Safety
/// `exchange` is the one that `BlockRunner::begin` passed to the kernel, and `request` lives as
/// long as its thread waits.
#[inline(always)]
unsafe fn wait_for_others(exchange: *const Exchange, request: *const Request) -> u64 {
    // SAFETY: the current slot is that of this coroutine, and its yielder lives as long as its
    // coroutine.
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

impl Slot {
    /// Allocates a slot on the heap. Pass it to [`discard`](Self::discard) before the exchange is
    /// dropped.
    pub(super) fn allocate(stack: GuardedStack, exchange: &Exchange) -> *mut Slot {
        Box::into_raw(Box::new(Slot::new(stack, exchange)))
    }

    /// Drops a slot. If its coroutine is inside a kernel, the kernel's frames are discarded.
    ///
    /// # Safety
    /// The slot came from [`allocate`](Self::allocate) and is not used again.
    pub(super) unsafe fn discard(slot: *mut Slot) {
        // SAFETY: the caller guarantees that the slot is valid; kernels own nothing that needs to
        // be dropped.
        unsafe {
            let mut slot = Box::from_raw(slot);
            slot.coroutine.force_reset();
        }
    }

    fn new(stack: GuardedStack, exchange: &Exchange) -> Slot {
        let guard = stack.guard();
        let exchange = ptr::from_ref(exchange);
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            loop {
                // SAFETY: the exchange outlives the coroutine; the entry belongs to the kernel that
                // the unit was prepared for.
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
