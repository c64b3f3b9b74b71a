//! Pieces that the programs are made of.

use Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};
use Width::{Double, Word};
use gpubench_bpf::{Assembler, Condition, Helper, Label, Map, Operation, Register, Registers, Width};

use super::kernel::Offsets;
use super::loaded::{PROBE_SHIFT, Probe};
use crate::Users;
use crate::cuda::layout::{HEAD, Kind, field, program};
use crate::cuda::map::{Maps, PROCESSES_LOST, Pids, Recording, Scope, call, counter, process};

/// Where programs keep things on their stack, from its end.
pub(super) mod stack {
    /// Process and thread, the key of `calls`.
    pub(in crate::cuda::programs) const TASK: i16 = -8;
    /// The process, the key of `processes`.
    pub(in crate::cuda::programs) const PROCESS: i16 = -16;
    /// The number of a function, the key of `counters`.
    pub(in crate::cuda::programs) const FUNCTION: i16 = -24;
    /// Anything that the kernel or the process is asked for.
    pub(in crate::cuda::programs) const READ: i16 = -48;
    /// When a process began, or ended.
    pub(in crate::cuda::programs) const BEGAN: i16 = -56;
    /// The program's context, while `R6` is used for something else.
    pub(in crate::cuda::programs) const CONTEXT: i16 = -64;
    /// An entry of `calls`.
    pub(in crate::cuda::programs) const CALL_VALUE: i16 = -136;
    /// Which probe it is.
    pub(in crate::cuda::programs) const PROBE: i16 = -144;
    /// An entry of `processes`.
    pub(in crate::cuda::programs) const PROCESS_VALUE: i16 = -176;
    /// A key of `launches`.
    pub(in crate::cuda::programs) const LAUNCH: i16 = -200;
}

/// `BPF_NOEXIST`
pub(super) const ONLY_IF_ABSENT: i32 = 1;
/// `BPF_RB_NO_WAKEUP`: waking the reader at each record costs the caller three times as much.
const WAKE_NOBODY: i32 = 1;

/// A program in the making. It keeps its context in `R6`, the number of the function in `R7`, the
/// entry of the process in `R8`, and a record or the entry of a call in `R9`.
pub(super) struct Code<'a> {
    pub(super) asm: Assembler,
    pub(super) maps: &'a Maps,
    pub(super) kernel: &'a Offsets,
    pub(super) recording: Recording,
    /// Where the program ends.
    pub(super) end: Label,
}

impl<'a> Code<'a> {
    /// Begins a program.
    pub(super) fn begin(maps: &'a Maps, kernel: &'a Offsets, recording: Recording) -> Code<'a> {
        let mut asm = Assembler::new();
        let end = asm.label();
        asm.set(R6, R1).store(Double, R10, stack::CONTEXT, R1);
        Code {
            asm,
            maps,
            kernel,
            recording,
            end,
        }
    }

    /// Ends it.
    pub(super) fn finish(mut self) -> Assembler {
        self.asm.place(self.end).set(R0, 0).exit();
        self.asm
    }

    /// `R0` = the map's entry with the key at `key` on the stack, or 0.
    pub(super) fn look_up(&mut self, map: &Map, key: i16) {
        self.asm.address(R2, R10, key).set_map(R1, map).call(Helper::MapLookup);
    }

    /// Keeps process and thread on the stack. Ends if the process ids of the namespace lack it.
    pub(super) fn who(&mut self) {
        match self.recording.pids {
            Pids::OfTheKernel => {
                self.asm.call(Helper::CurrentPidTgid);
                self.asm.store(Double, R10, stack::TASK, R0);
            }
            Pids::OfNamespace { device, inode } => {
                let end = self.end;
                self.asm.set_wide(R1, device).set_wide(R2, inode);
                self.asm.address(R3, R10, stack::TASK).set(R4, 8);
                self.asm.call(Helper::PidTgidInNamespace);
                self.asm.jump_if(R0, Condition::NotEqual, 0, end);
                self.asm.load(Double, R0, R10, stack::TASK);
            }
        }
        self.asm.calculate(Operation::ShiftRight, R0, 32);
        self.asm.store(Word, R10, stack::PROCESS, R0);
    }

    /// `R8` = the entry of the process. Ends if it is not observed.
    pub(super) fn observed_process(&mut self) {
        let known = self.asm.label();
        end_if_of_another(&mut self.asm, self.recording.users, self.end);
        let maps = self.maps;
        self.look_up(&maps.processes, stack::PROCESS);
        self.asm.jump_if(R0, Condition::NotEqual, 0, known);
        match self.recording.scope {
            Scope::Listed | Scope::Alone => {
                let end = self.end;
                self.asm.jump(end);
            }
            Scope::Everything => self.introduce(),
        }
        self.asm.place(known).set(R8, R0);
    }

    /// Lists the process and records that it was seen. `R0` = its entry.
    fn introduce(&mut self) {
        let (maps, end) = (self.maps, self.end);
        let (listed, full) = (self.asm.label(), self.asm.label());
        self.now_into_process_value();
        self.asm.address(R3, R10, stack::PROCESS_VALUE).set(R4, ONLY_IF_ABSENT);
        self.asm.address(R2, R10, stack::PROCESS).set_map(R1, &maps.processes);
        self.asm.call(Helper::MapUpdate).store(Double, R10, stack::READ, R0);
        self.look_up(&maps.processes, stack::PROCESS);
        self.asm.jump_if(R0, Condition::Equal, 0, full).set(R8, R0);
        // Another thread of the process was faster.
        self.asm.load(Double, R1, R10, stack::READ);
        self.asm.jump_if(R1, Condition::NotEqual, 0, listed);
        let lost = self.reserve(program::SIZE);
        self.head(Kind::Introduced);
        self.file_name();
        self.describe_program();
        self.submit();
        self.asm.jump(listed);
        self.asm.place(lost);
        self.process_lost();
        self.asm.jump(listed).place(full);
        self.process_lost();
        self.asm.jump(end);
        // What was in the registers before.
        self.asm.place(listed).load(Double, R6, R10, stack::CONTEXT);
        self.which_function();
        self.asm.set(R0, R8);
    }

    /// Makes an entry of a process that begins now.
    pub(super) fn now_into_process_value(&mut self) {
        let value = stack::PROCESS_VALUE;
        self.asm.call(Helper::MonotonicNanoseconds);
        self.asm.store(Double, R10, value + process::STARTED, R0);
        self.asm.store(Double, R10, value + process::EPOCH, R0);
        self.asm.store(Double, R10, value + process::CAPTURES, 0);
        self.asm.store(Double, R10, value + process::CALLS, 0);
    }

    /// `R7` = the number of the probed function. Keeps the probe on the stack.
    pub(super) fn which_function(&mut self) {
        self.asm.set(R1, R6).call(Helper::AttachCookie).set(R7, R0);
        self.asm.calculate(Operation::ShiftRight, R0, PROBE_SHIFT);
        self.asm.store(Double, R10, stack::PROBE, R0);
        self.asm.calculate(Operation::ShiftLeft, R7, 64 - PROBE_SHIFT);
        self.asm.calculate(Operation::ShiftRight, R7, 64 - PROBE_SHIFT);
    }

    /// Goes to the label that it returns if this is another probe.
    pub(super) fn unless(&mut self, probe: Probe) -> Label {
        let other = self.asm.label();
        self.asm.load(Double, R1, R10, stack::PROBE);
        self.asm.jump_if(R1, Condition::NotEqual, probe as i32, other);
        other
    }

    /// Ends if the thread is in a call already: this one is the driver's own.
    pub(super) fn unless_nested(&mut self) {
        let (maps, end) = (self.maps, self.end);
        let fresh = self.asm.label();
        self.asm.load(Double, R1, R8, process::CALLS);
        self.asm.jump_if(R1, Condition::Equal, 0, fresh);
        self.look_up(&maps.calls, stack::TASK);
        self.asm.jump_if(R0, Condition::Equal, 0, fresh);
        self.asm.load(Double, R1, R0, call::STACK);
        self.asm.load(Double, R2, R6, Registers::HERE.stack);
        self.asm.jump_if(R2, Condition::Less, R1, end);
        self.asm.place(fresh);
    }

    /// Adds to the number of threads of the process that are in a call.
    pub(super) fn add_to_calls(&mut self, change: i32) {
        self.asm.set(R1, change).atomic_add(R8, process::CALLS, R1);
    }

    /// Adds 1 to a counter of the function.
    pub(super) fn count(&mut self, counter: i16) {
        self.asm.store(Word, R10, stack::FUNCTION, R7);
        self.add_to_counter(counter);
    }

    /// Counts a begin or an end of a process that is not recorded.
    pub(super) fn process_lost(&mut self) {
        self.asm.store(Word, R10, stack::FUNCTION, PROCESSES_LOST.cast_signed());
        self.add_to_counter(counter::DROPPED);
    }

    fn add_to_counter(&mut self, counter: i16) {
        let maps = self.maps;
        let missing = self.asm.label();
        self.look_up(&maps.counters, stack::FUNCTION);
        self.asm.jump_if(R0, Condition::Equal, 0, missing);
        self.asm.set(R1, 1).atomic_add(R0, counter, R1);
        self.asm.place(missing);
    }

    /// `R9` = room for a record. Goes to the label that it returns if there is none.
    pub(super) fn reserve(&mut self, bytes: i32) -> Label {
        let full = self.asm.label();
        let maps = self.maps;
        self.asm.set_map(R1, maps.ring.map()).set(R2, bytes).set(R3, 0);
        self.asm.call(Helper::RingReserve);
        self.asm.jump_if(R0, Condition::Equal, 0, full).set(R9, R0);
        full
    }

    /// Fills the head of a record with process, thread, time and zeros.
    pub(super) fn head(&mut self, kind: Kind) {
        self.asm
            .call(Helper::MonotonicNanoseconds)
            .store(Double, R9, field::AT, R0);
        self.asm
            .load(Double, R1, R10, stack::TASK)
            .store(Double, R9, field::TASK, R1);
        self.asm.load(Double, R1, R8, process::STARTED);
        self.asm.store(Double, R9, field::STARTED, R1);
        self.asm.store(Word, R9, field::FUNCTION, 0);
        self.asm.store(Word, R9, field::KIND, kind as i32);
        // The ring's memory has what was there before.
        for at in (field::RESULT..HEAD as i16).step_by(8) {
            self.asm.store(Double, R9, at, 0);
        }
    }

    /// Copies the six arguments that registers hold into the record.
    pub(super) fn arguments(&mut self) {
        for (number, register) in (0_i16..).zip(Registers::HERE.arguments) {
            self.asm.load(Double, R1, R6, register);
            self.asm.store(Double, R9, field::ARGUMENTS + 8 * number, R1);
        }
    }

    /// Hands the record to the reader.
    pub(super) fn submit(&mut self) {
        self.asm.set(R1, R9).set(R2, WAKE_NOBODY).call(Helper::RingSubmit);
    }

    /// Gives the record up.
    pub(super) fn discard(&mut self) {
        self.asm.set(R1, R9).set(R2, WAKE_NOBODY).call(Helper::RingDiscard);
    }

    /// Hands the record to the reader and ends; counts the call as dropped where there was no room.
    pub(super) fn submit_or_drop(&mut self, full: Label) {
        let end = self.end;
        self.submit();
        self.asm.jump(end).place(full);
        self.count(counter::DROPPED);
    }

    /// Copies memory of the process at the address in `R3` into the record, zeros if it has none.
    pub(super) fn read_user(&mut self, to: i16, bytes: i32) {
        self.asm.address(R1, R9, to).set(R2, bytes).call(Helper::ReadUser);
    }

    /// Copies text of the process at the address in `R3` into the record.
    pub(super) fn read_user_text(&mut self, to: i16, most: i32) {
        self.asm.address(R1, R9, to).set(R2, most).call(Helper::ReadUserText);
    }

    /// `to` = the 8 bytes of the kernel at `base + offset`.
    pub(super) fn follow(&mut self, to: Register, base: Register, offset: i32) {
        self.asm.set(R3, base).calculate(Operation::Add, R3, offset);
        self.asm
            .address(R1, R10, stack::READ)
            .set(R2, 8)
            .call(Helper::ReadKernel);
        self.asm.load(Double, to, R10, stack::READ);
    }

    /// Puts the name of the program's file into the record. Uses `R7`.
    fn file_name(&mut self) {
        let kernel = self.kernel;
        self.asm.call(Helper::CurrentTask).set(R7, R0);
        for offset in [
            kernel.task_memory,
            kernel.memory_file,
            kernel.file_entry,
            kernel.entry_name,
        ] {
            self.follow(R7, R7, offset);
        }
        self.asm.set(R3, R7);
        self.kernel_text(program::PATH);
    }

    /// Copies text of the kernel at the address in `R3` into the record.
    pub(super) fn kernel_text(&mut self, to: i16) {
        self.asm.address(R1, R9, to).set(R2, program::PATH_BYTES);
        self.asm.call(Helper::ReadKernelText);
    }

    /// Puts the user and the arguments of the program into the record. Uses `R6` and `R7`.
    pub(super) fn describe_program(&mut self) {
        let kernel = self.kernel;
        let short = self.asm.label();
        // The user is in the lower half.
        self.asm.call(Helper::CurrentUidGid).store(Word, R9, field::RESULT, R0);
        self.asm.call(Helper::CurrentTask);
        self.follow(R7, R0, kernel.task_memory);
        self.follow(R6, R7, kernel.memory_arguments);
        self.follow(R2, R7, kernel.memory_arguments_end);
        self.asm.calculate(Operation::Subtract, R2, R6);
        self.asm.store(Double, R9, program::LENGTH, R2);
        self.asm
            .jump_if(R2, Condition::LessOrEqual, program::ARGUMENT_BYTES, short);
        self.asm.set(R2, program::ARGUMENT_BYTES);
        self.asm.place(short);
        self.asm.address(R1, R9, program::ARGUMENTS).set(R3, R6);
        self.asm.call(Helper::ReadUser);
    }
}

/// Jumps to `end` if the process is another user's than those whose calls are recorded. Uses `R0`
/// and `R1`.
pub(crate) fn end_if_of_another(asm: &mut Assembler, users: Users, end: Label) {
    if let Users::One(user) = users {
        asm.call(Helper::CurrentUidGid);
        // The user is in the lower half.
        asm.calculate(Operation::ShiftLeft, R0, 32)
            .calculate(Operation::ShiftRight, R0, 32);
        asm.set_wide(R1, u64::from(user));
        asm.jump_if(R0, Condition::NotEqual, R1, end);
    }
}
