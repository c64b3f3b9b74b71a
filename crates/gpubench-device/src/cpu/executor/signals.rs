//! Turns processor traps in kernel code into kernel faults.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Once;

use super::code_place::CodePlace;
use super::exchange::Exchange;
use super::fault::Access;
use super::trap::Trap;

/// The signals that a kernel can raise.
const SIGNALS: [libc::c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];
/// Size of the signal stack in bytes; an AVX-512 register frame takes 3 KiB of it.
const SIGNAL_STACK_BYTES: usize = 64 * 1024;

thread_local! {
    /// The exchange of the runner on this thread.
    static RUNNING: Cell<*const Exchange> = const { Cell::new(ptr::null()) };
    static HAS_SIGNAL_STACK: Cell<bool> = const { Cell::new(false) };
}

/// The previous action of each of [`SIGNALS`].
static mut PREVIOUS: [MaybeUninit<libc::sigaction>; SIGNALS.len()] = [const { MaybeUninit::uninit() }; SIGNALS.len()];

/// Handles memory faults, divisions by zero and illegal instructions in kernel code on pool
/// threads. Elsewhere, the previous actions apply. [`Pool::new`](super::Pool::new) calls this; only
/// the first call has an effect.
pub fn install_fault_handlers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (index, &signal) in SIGNALS.iter().enumerate() {
            // SAFETY: zero is a valid `sigaction`; the handler has the signature for `SA_SIGINFO`;
            // only this code writes `PREVIOUS`, before the handler that reads it is installed for
            // this signal.
            unsafe {
                let previous = (&raw mut PREVIOUS[index]).cast::<libc::sigaction>();
                libc::sigaction(signal, ptr::null(), previous);
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_signal as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&mut action.sa_mask);
                libc::sigaction(signal, &action, ptr::null_mut());
            }
        }
    });
}

/// From here until [`leave`], traps on this thread's coroutines are kernel faults.
pub(super) fn enter(exchange: &Exchange) {
    if !HAS_SIGNAL_STACK.replace(true) {
        install_signal_stack();
    }
    RUNNING.set(exchange);
}

pub(super) fn leave() {
    RUNNING.set(ptr::null());
}

/// Installs a signal stack if the thread has none. A trapping kernel may have used up its stack.
/// Threads of the standard library have a signal stack.
fn install_signal_stack() {
    // SAFETY: queries the current stack; if there is none, installs memory of this process that is
    // never freed.
    unsafe {
        let mut present: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(ptr::null(), &mut present);
        if present.ss_flags & libc::SS_DISABLE != 0 {
            let memory = Box::leak(vec![0u8; SIGNAL_STACK_BYTES].into_boxed_slice());
            let stack = libc::stack_t {
                ss_sp: memory.as_mut_ptr().cast(),
                ss_flags: 0,
                ss_size: SIGNAL_STACK_BYTES,
            };
            libc::sigaltstack(&stack, ptr::null_mut());
        }
    }
}

unsafe extern "C" fn on_signal(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes the interrupted thread's context, and `RUNNING` is plain
    // thread-local memory.
    let handled = unsafe { end_coroutine(signal, info, context.cast()) };
    if !handled {
        let index = SIGNALS.iter().position(|&known| known == signal).unwrap_or(0);
        // SAFETY: it was written before this handler was installed. The instruction runs again with
        // the previous action.
        unsafe { libc::sigaction(signal, (&raw const PREVIOUS[index]).cast(), ptr::null_mut()) };
    }
}

/// Makes the interrupted coroutine return, if it runs a kernel.
#[cfg(target_arch = "x86_64")]
unsafe fn end_coroutine(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::ucontext_t) -> bool {
    /// The bit for a write in the error code of a page fault.
    const WRITE: i64 = 2;
    /// The trap number of a page fault. A general protection fault, caused by a non-canonical
    /// address, has no address and no error code.
    const PAGE_FAULT: i64 = 14;

    let exchange = RUNNING.get();
    if exchange.is_null() {
        return false;
    }
    // SAFETY: the exchange lives from `enter` to `leave`, and this is its thread.
    let exchange = unsafe { &*exchange };
    // SAFETY: as above.
    let Some((handler, guard)) = (unsafe { exchange.running() }) else {
        return false;
    };
    // SAFETY: the context is the interrupted thread's.
    let registers = unsafe { &mut (*context).uc_mcontext.gregs };
    let stack = registers[libc::REG_RSP as usize] as usize;
    if !handler.stack_ptr_in_bounds(stack) {
        return false;
    }
    let top_of_stack = match guard.contains(&stack) {
        true => 0,
        // SAFETY: the stack pointer is above the guard, within the coroutine's stack.
        false => unsafe { (stack as *const usize).read_unaligned() },
    };
    // SAFETY: for a synchronous trap, the union holds an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let access = match (
        registers[libc::REG_TRAPNO as usize],
        registers[libc::REG_ERR as usize] & WRITE,
    ) {
        (PAGE_FAULT, 0) => Access::Read,
        (PAGE_FAULT, _) => Access::Write,
        _ => Access::Unknown,
    };
    exchange.leave(Trap {
        signal,
        address,
        access,
        in_guard: guard.contains(&address),
        code: CodePlace {
            instruction: registers[libc::REG_RIP as usize] as usize,
            top_of_stack,
        },
    });
    // SAFETY: the stack pointer is within the coroutine, and the registers are set as the handler
    // requires. Kernels hold nothing that another part of the process reads, except buffers, whose
    // contents are invalid after a fault.
    let target = unsafe { handler.setup_trap_handler(|| ()) };
    registers[libc::REG_RIP as usize] = target.rip as i64;
    registers[libc::REG_RSP as usize] = target.rsp as i64;
    registers[libc::REG_RBP as usize] = target.rbp as i64;
    registers[libc::REG_RDI as usize] = target.rdi as i64;
    registers[libc::REG_RSI as usize] = target.rsi as i64;
    true
}

/// Makes the interrupted coroutine return, if it runs a kernel.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn end_coroutine(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::ucontext_t) -> bool {
    false
}
