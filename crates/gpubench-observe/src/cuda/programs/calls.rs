//! Programs at the driver's functions.

use Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};
use Width::{Double, Word};
use gpubench_bpf::{Assembler, Condition, Helper, Operation, Register, Registers, Width};

use super::code::{Code, ONLY_IF_ABSENT, stack};
use super::loaded::Probe;
use crate::Launches;
use crate::cuda::layout::{HEAD, Kind, field};
use crate::cuda::map::{call, counter, latest, launch, process};

/// What a program at the begin of a call records after the head and the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// Nothing more.
    Arguments,
    /// The same, and only while the process captures a stream.
    WhileCapturing,
    /// Bytes of the arguments that are on the stack.
    Stack(i16),
    /// Bytes of the structure at argument 0.
    Structure(i32),
}

/// What a program at a return reads of the process's memory, which the call has touched by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returned {
    /// What is at argument 0.
    Out,
    /// The text at an argument.
    Text(usize),
    /// The text at the address that is at argument 0.
    TextOut,
    /// Bytes of the structure at an argument.
    Structure(usize, i32),
    /// A capture begins.
    CaptureBegins,
    /// A capture ends.
    CaptureEnds,
    /// Handles of kernels end.
    HandlesEnd,
}

/// Blocks in z, shared memory, stream: the arguments of a launch after the sixth.
const LAUNCH_STACK: i16 = 24;
/// `CUlaunchConfig` up to the number of its attributes.
const LAUNCH_CONFIGURATION: i32 = 56;
/// `CUDA_ARRAY3D_DESCRIPTOR`. The one of two dimensions is shorter.
const ARRAY: i32 = 40;
/// `CUDA_MEMCPY2D` and `CUDA_MEMCPY3D`.
const COPY_2D: i32 = 128;
const COPY_3D: i32 = 200;

/// Mangled names of templates are long.
pub(in crate::cuda) const NAME_BYTES: i32 = 4096;
/// Most names are not.
const SHORT_NAME_BYTES: i32 = 256;

/// Nanoseconds of an epoch without counting. A program that unloads modules all the time would have
/// entries made and removed for each launch.
const YOUNG: i32 = 1_000_000;

/// `CUDA_ERROR_NOT_READY`, the answer of a query and no error.
const NOT_READY: i32 = 600;

/// The program at the begin of calls. Launches come first: they are the most frequent.
pub(super) fn entries(mut code: Code<'_>) -> Assembler {
    code.which_function();
    code.who();
    code.observed_process();
    code.unless_nested();
    code.count(counter::ENTRIES);
    let recorded = [
        (Probe::Launch, Entered::Stack(LAUNCH_STACK)),
        (Probe::LaunchExtended, Entered::Structure(LAUNCH_CONFIGURATION)),
        (Probe::Enter, Entered::Arguments),
        (Probe::EnterWhileCapturing, Entered::WhileCapturing),
        (
            Probe::RecordEvent,
            match code.recording.launches {
                Launches::Each => Entered::Arguments,
                Launches::Counted => Entered::WhileCapturing,
            },
        ),
    ];
    let end = code.end;
    for (probe, entered) in recorded {
        let other = code.unless(probe);
        if let (Launches::Counted, Some(handle)) = (code.recording.launches, handle_of(probe)) {
            count_launch(&mut code, handle);
        }
        record_entry(&mut code, probe, entered);
        code.asm.jump(end).place(other);
    }
    let counted = code.unless(Probe::Store);
    store(&mut code);
    code.asm.place(counted);
    code.finish()
}

/// Returns which argument of a launch is the kernel.
fn handle_of(probe: Probe) -> Option<usize> {
    match probe {
        Probe::Launch => Some(0),
        Probe::LaunchExtended => Some(1),
        _ => None,
    }
}

/// Counts a launch and ends, unless it is the first of its kernel or part of a capture.
fn count_launch(code: &mut Code<'_>, handle: usize) {
    let (maps, end) = (code.maps, code.end);
    let key = stack::LAUNCH;
    let (recorded, untold) = (code.asm.label(), code.asm.label());
    code.asm.store(Word, R10, stack::READ, 0);
    code.look_up(&maps.latest, stack::READ);
    code.asm.jump_if(R0, Condition::Equal, 0, untold);
    code.asm.load(Double, R1, R6, Registers::HERE.arguments[handle]);
    code.asm.store(Double, R10, key + launch::HANDLE, R1);
    code.asm.store(Double, R0, latest::HANDLE, R1);
    code.asm.load(Double, R1, R10, stack::TASK);
    code.asm.store(Double, R0, latest::TASK, R1);
    code.asm.load(Double, R1, R8, process::CAPTURES);
    code.asm.jump_if(R1, Condition::NotEqual, 0, recorded);
    code.asm.load(Double, R1, R8, process::EPOCH);
    code.asm.store(Double, R10, key + launch::EPOCH, R1);
    code.asm.load(Word, R1, R10, stack::PROCESS);
    code.asm.store(Word, R10, key + launch::PROCESS, R1);
    code.asm.store(Word, R10, key + launch::FUNCTION, R7);
    code.look_up(&maps.launches, key);
    code.asm.jump_if(R0, Condition::Equal, 0, recorded);
    code.asm.set(R1, 1).atomic_add(R0, 0, R1).jump(end);
    code.asm.place(untold).place(recorded);
}

/// Has launches of the kernel in the record counted from now on, and notes it there.
fn begin_to_count(code: &mut Code<'_>) {
    let (maps, key) = (code.maps, stack::LAUNCH);
    let recorded = code.asm.label();
    code.asm.load(Double, R1, R8, process::CAPTURES);
    code.asm.jump_if(R1, Condition::NotEqual, 0, recorded);
    code.asm.load(Double, R1, R9, field::AT);
    code.asm.load(Double, R2, R8, process::EPOCH);
    code.asm.calculate(Operation::Subtract, R1, R2);
    code.asm.jump_if(R1, Condition::Less, YOUNG, recorded);
    code.asm.store(Double, R10, stack::READ, 0);
    code.asm.address(R2, R10, key).address(R3, R10, stack::READ);
    code.asm.set(R4, ONLY_IF_ABSENT).set_map(R1, &maps.launches);
    code.asm.call(Helper::MapUpdate);
    // Another thread was faster, or there is no room: this launch is one by itself.
    code.asm.jump_if(R0, Condition::NotEqual, 0, recorded);
    code.asm.load(Double, R1, R10, key + launch::EPOCH);
    code.asm.store(Double, R9, field::EPOCH, R1);
    code.asm.place(recorded);
}

/// Records that a call begins.
fn record_entry(code: &mut Code<'_>, probe: Probe, entered: Entered) {
    if entered == Entered::WhileCapturing {
        let end = code.end;
        code.asm.load(Double, R1, R8, process::CAPTURES);
        code.asm.jump_if(R1, Condition::Equal, 0, end);
    }
    let rest = match entered {
        Entered::Arguments | Entered::WhileCapturing => 0,
        Entered::Stack(bytes) => i32::from(bytes),
        Entered::Structure(bytes) => bytes,
    };
    let full = code.reserve(HEAD + rest);
    code.head(Kind::Entered);
    code.asm.store(Word, R9, field::FUNCTION, R7);
    code.arguments();
    if code.recording.launches == Launches::Counted && handle_of(probe).is_some() {
        begin_to_count(code);
    }
    match entered {
        Entered::Arguments | Entered::WhileCapturing => {}
        Entered::Stack(bytes) => {
            code.asm.load(Double, R3, R6, Registers::HERE.stack);
            let above = i32::from(Registers::HERE.stack_arguments);
            code.asm.calculate(Operation::Add, R3, above);
            code.read_user(field::REST, i32::from(bytes));
        }
        Entered::Structure(bytes) => {
            code.asm.load(Double, R3, R6, Registers::HERE.arguments[0]);
            code.read_user(field::REST, bytes);
        }
    }
    code.submit_or_drop(full);
}

/// Keeps the arguments of a call until its return.
fn store(code: &mut Code<'_>) {
    let end = code.end;
    let (known, full) = (code.asm.label(), code.asm.label());
    let maps = code.maps;
    code.look_up(&maps.calls, stack::TASK);
    code.asm.jump_if(R0, Condition::NotEqual, 0, known);
    // The thread's first call of this kind.
    for at in (0..call::BYTES).step_by(8) {
        code.asm.store(Double, R10, stack::CALL_VALUE + at, 0);
    }
    code.asm
        .address(R2, R10, stack::TASK)
        .address(R3, R10, stack::CALL_VALUE);
    code.asm.set(R4, 0).set_map(R1, &maps.calls).call(Helper::MapUpdate);
    code.look_up(&maps.calls, stack::TASK);
    code.asm.jump_if(R0, Condition::Equal, 0, full);
    code.asm.place(known).set(R9, R0);
    code.asm.load(Double, R1, R6, Registers::HERE.stack);
    code.asm.store(Double, R9, call::STACK, R1);
    code.asm.store(Double, R9, call::FUNCTION, R7);
    for (number, register) in (0_i16..).zip(Registers::HERE.arguments) {
        code.asm.load(Double, R1, R6, register);
        code.asm.store(Double, R9, call::ARGUMENTS + 8 * number, R1);
    }
    code.asm.call(Helper::MonotonicNanoseconds);
    code.asm.store(Double, R9, call::AT, R0);
    code.add_to_calls(1);
    code.asm.jump(end).place(full);
    code.count(counter::DROPPED);
}

/// `R9` = the entry of the call that returns. Ends unless the thread is in that call.
fn returning_call(code: &mut Code<'_>) {
    let (maps, end) = (code.maps, code.end);
    code.look_up(&maps.calls, stack::TASK);
    code.asm.jump_if(R0, Condition::Equal, 0, end).set(R9, R0);
    code.asm.load(Double, R1, R9, call::STACK);
    let popped = i32::from(Registers::HERE.popped_by_return);
    code.asm.calculate(Operation::Add, R1, popped);
    code.asm.load(Double, R2, R6, Registers::HERE.stack);
    code.asm.jump_if(R1, Condition::NotEqual, R2, end);
    code.asm.load(Double, R1, R9, call::FUNCTION);
    code.asm.jump_if(R1, Condition::NotEqual, R7, end);
}

/// Counts the return, and an error. Keeps the result in `BEGAN` on the stack.
fn count_result(code: &mut Code<'_>, register: i16) {
    let fine = code.asm.label();
    code.asm.load(Double, R1, R6, register);
    sign_extend(code, R1);
    code.asm.store(Double, R10, stack::BEGAN, R1);
    jump_if_fine(code, fine);
    code.count(counter::ERRORS);
    code.asm.place(fine);
}

/// A `CUresult` has 32 bits.
fn sign_extend(code: &mut Code<'_>, register: Register) {
    code.asm.calculate(Operation::ShiftLeft, register, 32);
    code.asm.calculate(Operation::ShiftRightSigned, register, 32);
}

/// Goes to `fine` if the result on the stack is no error.
fn jump_if_fine(code: &mut Code<'_>, fine: gpubench_bpf::Label) {
    code.asm.load(Double, R1, R10, stack::BEGAN);
    code.asm.jump_if(R1, Condition::Equal, 0, fine);
    code.asm.jump_if(R1, Condition::Equal, NOT_READY, fine);
}

/// The program at returns.
pub(super) fn returns(mut code: Code<'_>) -> Assembler {
    let end = code.end;
    code.which_function();
    code.who();
    listed_process(&mut code);
    let recorded = code.unless(Probe::ReturnOfFailure);
    code.unless_nested();
    code.count(counter::RETURNS);
    record_failure(&mut code, Registers::HERE.returned);
    code.asm.jump(end).place(recorded);
    returning_call(&mut code);
    // The call moves to the stack, so that `R9` is free for the record.
    for at in (0..call::BYTES).step_by(8) {
        code.asm.load(Double, R1, R9, at);
        code.asm.store(Double, R10, stack::CALL_VALUE + at, R1);
    }
    code.asm.store(Double, R9, call::STACK, 0);
    code.add_to_calls(-1);
    code.count(counter::RETURNS);
    count_result(&mut code, Registers::HERE.returned);
    let kinds = [
        (Probe::Return, Returned::Out),
        (Probe::ReturnWithName, Returned::Text(2)),
        (Probe::ReturnWithNameOut, Returned::TextOut),
        (Probe::ReturnWithArray, Returned::Structure(1, ARRAY)),
        (Probe::ReturnWithCopy2, Returned::Structure(0, COPY_2D)),
        (Probe::ReturnWithCopy3, Returned::Structure(0, COPY_3D)),
        (Probe::ReturnOfBegin, Returned::CaptureBegins),
        (Probe::ReturnOfEnd, Returned::CaptureEnds),
        (Probe::ReturnOfUnload, Returned::HandlesEnd),
    ];
    for (probe, returned) in kinds {
        let other = code.unless(probe);
        count_captures(&mut code, returned);
        begin_epoch(&mut code, returned);
        record_return(&mut code, returned);
        code.asm.jump(end).place(other);
    }
    code.finish()
}

/// The program where stubs go after an error.
pub(super) fn ways_out(mut code: Code<'_>) -> Assembler {
    code.which_function();
    code.who();
    listed_process(&mut code);
    code.unless_nested();
    record_failure(&mut code, Registers::HERE.failed_result);
    code.finish()
}

/// Records that a call returns.
fn record_return(code: &mut Code<'_>, returned: Returned) {
    match returned {
        Returned::Out | Returned::CaptureBegins | Returned::CaptureEnds | Returned::HandlesEnd => {
            let full = begin_return(code, 0);
            code.submit_or_drop(full);
        }
        Returned::Structure(number, bytes) => {
            let full = begin_return(code, bytes);
            code.asm.load(Double, R3, R10, kept_argument(number));
            code.read_user(field::REST, bytes);
            code.submit_or_drop(full);
        }
        Returned::Text(_) | Returned::TextOut => record_name(code, returned),
    }
}

/// Records a name, in a short record if it fits: the ring has room for ten times as many.
fn record_name(code: &mut Code<'_>, returned: Returned) {
    let end = code.end;
    let fits = code.asm.label();
    let full = begin_return(code, SHORT_NAME_BYTES);
    read_name(code, returned, SHORT_NAME_BYTES);
    // The length with its zero; a text that is cut has the whole room.
    code.asm.jump_if(R0, Condition::Less, SHORT_NAME_BYTES, fits);
    code.discard();
    let long = code.asm.label();
    code.asm.jump(long).place(fits);
    code.submit_or_drop(full);
    code.asm.jump(end).place(long);
    let full = begin_return(code, NAME_BYTES);
    read_name(code, returned, NAME_BYTES);
    code.submit_or_drop(full);
}

fn read_name(code: &mut Code<'_>, returned: Returned, most: i32) {
    match returned {
        Returned::Text(number) => code.asm.load(Double, R3, R10, kept_argument(number)),
        _ => code.asm.load(Double, R3, R9, field::OUT),
    };
    code.read_user_text(field::REST, most);
}

/// Begins a record of a return, with room for `rest` bytes. Goes to the label that it returns if
/// there is none.
fn begin_return(code: &mut Code<'_>, rest: i32) -> gpubench_bpf::Label {
    let full = code.reserve(HEAD + rest);
    code.head(Kind::Returned);
    fill_from_call(code);
    code.asm.load(Double, R3, R10, kept_argument(0));
    code.read_user(field::OUT, 8);
    full
}

/// Returns where on the stack an argument of the call is.
fn kept_argument(number: usize) -> i16 {
    stack::CALL_VALUE + call::ARGUMENTS + 8 * number as i16
}

/// `R8` = the entry of the process. A process that no call listed has no call that returns.
fn listed_process(code: &mut Code<'_>) {
    let (maps, end) = (code.maps, code.end);
    code.look_up(&maps.processes, stack::PROCESS);
    code.asm.jump_if(R0, Condition::Equal, 0, end).set(R8, R0);
}

fn count_captures(code: &mut Code<'_>, returned: Returned) {
    let change = match returned {
        Returned::CaptureBegins => 1,
        Returned::CaptureEnds => -1,
        _ => return,
    };
    let failed = code.asm.label();
    if change == 1 {
        code.asm.load(Double, R1, R10, stack::BEGAN);
        code.asm.jump_if(R1, Condition::NotEqual, 0, failed);
    } else {
        // Also an end with an error ends the capture; an end without a begin ends nothing.
        code.asm.load(Double, R1, R8, process::CAPTURES);
        code.asm.jump_if(R1, Condition::Equal, 0, failed);
    }
    code.asm.set(R1, change).atomic_add(R8, process::CAPTURES, R1);
    code.asm.place(failed);
}

/// From now on, handles of kernels may stand for others: a module is gone, or the program asks for
/// a kernel, and a library that it loaded anew may give an old handle.
fn begin_epoch(code: &mut Code<'_>, returned: Returned) {
    if matches!(returned, Returned::HandlesEnd | Returned::Text(_)) {
        code.asm.call(Helper::MonotonicNanoseconds);
        code.asm.store(Double, R8, process::EPOCH, R0);
    }
}

/// Fills the record with begin, duration, result and arguments of the call.
fn fill_from_call(code: &mut Code<'_>) {
    code.asm.load(Double, R1, R9, field::AT);
    code.asm.load(Double, R2, R10, stack::CALL_VALUE + call::AT);
    code.asm.calculate(Operation::Subtract, R1, R2);
    code.asm.store(Double, R9, field::DURATION, R1);
    code.asm.store(Double, R9, field::AT, R2);
    code.asm.store(Word, R9, field::FUNCTION, R7);
    code.asm.load(Double, R1, R10, stack::BEGAN);
    code.asm.store(Double, R9, field::RESULT, R1);
    for number in 0..6 {
        code.asm
            .load(Double, R1, R10, stack::CALL_VALUE + call::ARGUMENTS + 8 * number);
        code.asm.store(Double, R9, field::ARGUMENTS + 8 * number, R1);
    }
}

/// Records a call that failed and whose begin alone is recorded. `register` has the result.
fn record_failure(code: &mut Code<'_>, register: i16) {
    let end = code.end;
    count_result(code, register);
    jump_if_fine(code, end);
    let full = code.reserve(HEAD);
    code.head(Kind::Failed);
    code.asm.store(Word, R9, field::FUNCTION, R7);
    code.asm.load(Double, R1, R10, stack::BEGAN);
    code.asm.store(Double, R9, field::RESULT, R1);
    if code.recording.launches == Launches::Counted {
        tell_launch(code);
    }
    code.submit_or_drop(full);
}

/// Notes in the record which kernel the thread launched last on this processor.
fn tell_launch(code: &mut Code<'_>) {
    let maps = code.maps;
    let unknown = code.asm.label();
    code.asm.store(Word, R10, stack::READ, 0);
    code.look_up(&maps.latest, stack::READ);
    code.asm.jump_if(R0, Condition::Equal, 0, unknown);
    code.asm.load(Double, R1, R0, latest::TASK);
    code.asm.load(Double, R2, R10, stack::TASK);
    code.asm.jump_if(R1, Condition::NotEqual, R2, unknown);
    code.asm.load(Double, R1, R0, latest::HANDLE);
    code.asm.store(Double, R9, field::ARGUMENTS, R1);
    code.asm.place(unknown);
}
