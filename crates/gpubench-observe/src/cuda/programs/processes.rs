//! Programs that follow processes from their fork to their exit.

use Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};
use Width::{Double, Word};
use gpubench_bpf::{Assembler, Condition, Helper, Operation, Register, Width};

use super::code::{Code, stack};
use crate::cuda::layout::{HEAD, Kind, field, program};
use crate::cuda::map::{Pids, call, process};

/// `R8` = the entry of the current process. Ends if it is not listed.
fn listed(code: &mut Code<'_>) {
    let (maps, end) = (code.maps, code.end);
    code.look_up(&maps.processes, stack::PROCESS);
    code.asm.jump_if(R0, Condition::Equal, 0, end).set(R8, R0);
}

/// Forgets the call that a thread was in, whose number is at `key` on the stack.
fn forget_call(code: &mut Code<'_>, key: i16) {
    let maps = code.maps;
    code.asm.address(R2, R10, key).set_map(R1, &maps.calls);
    code.asm.call(Helper::MapDelete);
}

/// Hands the record to the reader and ends; counts the process as lost where there was no room.
fn submit_or_lose(code: &mut Code<'_>, full: gpubench_bpf::Label) {
    let end = code.end;
    code.submit();
    code.asm.jump(end).place(full);
    code.process_lost();
}

/// Reads 4 bytes of the kernel at the address in `base`, plus `offset`, to `READ` on the stack.
fn read_word(code: &mut Code<'_>, base: Register, offset: i32) {
    code.asm.set(R3, base).calculate(Operation::Add, R3, offset);
    code.asm
        .address(R1, R10, stack::READ)
        .set(R2, 4)
        .call(Helper::ReadKernel);
}

/// Reads the process id of the task in `R7` as the current one sees it to `READ` on the stack. Ends
/// if that is in another namespace. Uses `R6` and `R9`.
fn read_process_in_namespace(code: &mut Code<'_>) {
    let (end, kernel) = (code.end, code.kernel);
    /// A process id of one namespace and the namespace: `struct upid`, 16 bytes.
    const NUMBER_SHIFT: i32 = 4;
    code.asm.call(Helper::CurrentTask).set(R9, R0);
    for task in [R7, R9] {
        code.follow(task, task, kernel.task_leader);
        code.follow(task, task, kernel.task_pid);
    }
    read_word(code, R9, kernel.pid_level);
    code.asm.load(Word, R6, R10, stack::READ);
    read_word(code, R7, kernel.pid_level);
    code.asm.load(Word, R1, R10, stack::READ);
    code.asm.jump_if(R1, Condition::NotEqual, R6, end);
    code.asm.calculate(Operation::ShiftLeft, R6, NUMBER_SHIFT);
    code.asm.calculate(Operation::Add, R7, R6);
    read_word(code, R7, kernel.pid_numbers);
}

/// Lists a process that a listed one forks, before it runs. Runs in the parent.
pub(super) fn fork(mut code: Code<'_>) -> Assembler {
    let (maps, end) = (code.maps, code.end);
    code.who();
    listed(&mut code);
    // The second word of the context is the child.
    code.asm.load(Double, R7, R6, 8);
    match code.recording.pids {
        Pids::OfTheKernel => {
            let process = code.kernel.task_process;
            read_word(&mut code, R7, process);
        }
        Pids::OfNamespace { .. } => read_process_in_namespace(&mut code),
    }
    code.asm.load(Word, R1, R10, stack::READ);
    code.asm.load(Word, R2, R10, stack::PROCESS);
    // A new thread has its process's number.
    code.asm.jump_if(R1, Condition::Equal, R2, end);
    code.now_into_process_value();
    code.asm
        .address(R2, R10, stack::READ)
        .address(R3, R10, stack::PROCESS_VALUE);
    code.asm.set(R4, 0).set_map(R1, &maps.processes).call(Helper::MapUpdate);
    let listed = code.asm.label();
    code.asm.jump_if(R0, Condition::Equal, 0, listed);
    code.process_lost();
    code.asm.jump(end).place(listed);
    let full = code.reserve(HEAD);
    code.head(Kind::Forked);
    code.asm
        .load(Word, R1, R10, stack::READ)
        .store(Double, R9, field::OUT, R1);
    code.asm.load(Double, R1, R10, stack::PROCESS_VALUE);
    code.asm.store(Double, R9, field::ARGUMENTS, R1);
    submit_or_lose(&mut code, full);
    code.finish()
}

/// Makes another process of a listed one that runs another program.
pub(super) fn exec(mut code: Code<'_>) -> Assembler {
    code.who();
    listed(&mut code);
    forget_call(&mut code, stack::TASK);
    // The second word of the context is the thread's own number. From here on it is the process's.
    code.asm.load(Double, R1, R6, 8);
    code.asm.store(Word, R10, stack::TASK, R1);
    forget_call(&mut code, stack::TASK);
    code.who();
    let full = code.reserve(program::SIZE);
    code.head(Kind::Exec);
    code.asm.load(Double, R1, R9, field::AT);
    code.asm.store(Double, R9, field::OUT, R1);
    code.asm.store(Double, R8, process::STARTED, R1);
    code.asm.store(Double, R8, process::EPOCH, R1);
    code.asm.store(Double, R8, process::CAPTURES, 0);
    code.asm.store(Double, R8, process::CALLS, 0);
    // The third word of the context is the program being executed.
    code.asm.load(Double, R7, R6, 16);
    let path = code.kernel.exec_path;
    code.follow(R3, R7, path);
    code.kernel_text(program::PATH);
    code.describe_program();
    let end = code.end;
    code.submit();
    code.asm.jump(end).place(full);
    // The program before it must not be mixed with it, even where its end is lost.
    code.asm.call(Helper::MonotonicNanoseconds);
    code.asm.store(Double, R8, process::STARTED, R0);
    code.asm.store(Double, R8, process::EPOCH, R0);
    code.asm.store(Double, R8, process::CAPTURES, 0);
    code.asm.store(Double, R8, process::CALLS, 0);
    code.process_lost();
    code.finish()
}

/// Forgets the call that a thread died in, and a listed process when its last thread ends.
pub(super) fn exit(mut code: Code<'_>) -> Assembler {
    let (maps, end, kernel) = (code.maps, code.end, code.kernel);
    // The process may be gone already: another thread was its last.
    code.who();
    let (has_no_entry, in_no_call) = (code.asm.label(), code.asm.label());
    code.asm.set(R7, 0);
    code.look_up(&maps.calls, stack::TASK);
    code.asm.jump_if(R0, Condition::Equal, 0, has_no_entry);
    code.asm.load(Double, R7, R0, call::STACK);
    forget_call(&mut code, stack::TASK);
    code.asm.place(has_no_entry);
    listed(&mut code);
    code.asm.jump_if(R7, Condition::Equal, 0, in_no_call);
    code.add_to_calls(-1);
    code.asm.place(in_no_call);
    // The first word of the context is the thread.
    code.asm.load(Double, R6, R6, 0);
    code.follow(R7, R6, kernel.task_signal);
    read_word(&mut code, R7, kernel.signal_live);
    code.asm.load(Word, R1, R10, stack::READ);
    code.asm.jump_if(R1, Condition::NotEqual, 0, end);
    code.asm.load(Double, R1, R8, process::STARTED);
    code.asm.store(Double, R10, stack::PROCESS_VALUE, R1);
    code.asm.address(R2, R10, stack::PROCESS).set_map(R1, &maps.processes);
    code.asm.call(Helper::MapDelete);
    // Another thread that ended at the same time was faster.
    code.asm.jump_if(R0, Condition::NotEqual, 0, end);
    read_word(&mut code, R6, kernel.task_status);
    // The entry is gone; what was in it is on the stack.
    code.asm.address(R8, R10, stack::PROCESS_VALUE);
    let full = code.reserve(HEAD);
    code.head(Kind::Exited);
    code.asm
        .load(Word, R1, R10, stack::READ)
        .store(Double, R9, field::RESULT, R1);
    submit_or_lose(&mut code, full);
    code.finish()
}
