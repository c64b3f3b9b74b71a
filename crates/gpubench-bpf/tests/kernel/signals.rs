//! Signals that come while the kernel is asked for something.

#![expect(unsafe_code, reason = "signals are sent to a thread by system calls")]

use std::os::unix::thread::JoinHandleExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use gpubench_bpf::{Assembler, AttachType, Condition, Program, ProgramKind, Register};

use crate::target::may_probe;

extern "C" fn ignored(_signal: i32) {}

/// Takes the verifier a few milliseconds.
fn long_program() -> Assembler {
    let mut code = Assembler::new();
    code.load(gpubench_bpf::Width::Double, Register::R2, Register::R1, 112);
    for _ in 0..2000 {
        let next = code.label();
        code.jump_if(Register::R2, Condition::Equal, 7, next).place(next);
    }
    code.set(Register::R0, 0).exit();
    code
}

#[test]
fn programs_are_loaded_although_signals_come() {
    if !may_probe("programs_are_loaded_although_signals_come") {
        return;
    }
    // SAFETY: the handler does nothing, so it may run at any time.
    unsafe { libc::signal(libc::SIGUSR1, ignored as *const () as libc::sighandler_t) };
    static LOADED: AtomicBool = AtomicBool::new(false);
    let loading = std::thread::spawn(|| {
        let load = |_| Program::load(ProgramKind::Probe, AttachType::Plain, "gpubench_long", long_program());
        let result = (0..50).try_for_each(|number| load(number).map(drop));
        LOADED.store(true, Ordering::Release);
        result
    });
    while !LOADED.load(Ordering::Acquire) {
        // SAFETY: the thread is not joined yet, so its handle is valid.
        unsafe { libc::pthread_kill(loading.as_pthread_t(), libc::SIGUSR1) };
        std::thread::sleep(std::time::Duration::from_micros(50));
    }
    loading.join().expect("a result").expect("each load succeeds");
}
