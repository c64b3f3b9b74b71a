//! System calls of the observed processes.

use std::borrow::Cow;

use Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, R10};
use Width::{Double, Word};
use gpubench_bpf::{
    Assembler, AttachType, BpfError, Condition, Helper, Link, Map, MapKind, Operation, Program, ProgramKind, Register,
    Ring, Width,
};
use syscalls::Sysno;

use crate::cuda::{Pids, end_if_of_another};
use crate::{ObserveError, Observer, Timestamp, Users, system};

/// A system call that a process made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemCall {
    /// When it began.
    pub at: Timestamp,
    /// The process that made it.
    pub process: u32,
    /// The number of the call, on this machine's processor.
    pub number: u32,
}

impl SystemCall {
    /// Returns its name, or its number where the number has no name.
    pub fn name(&self) -> Cow<'static, str> {
        match Sysno::new(self.number as usize) {
            Some(call) => call.name().into(),
            None => format!("system call {}", self.number).into(),
        }
    }
}

/// System calls that are not recorded. Probes cause the first two. Programs that wait without
/// sleeping make the third, so often that they would fill the ring within 30 ms.
const LEFT_OUT: [&str; 3] = ["uprobe", "uretprobe", "sched_yield"];

/// Records the system calls of the processes that an [`Observer`] follows, as long as both exist.
///
/// A short program runs at each system call of the machine meanwhile, also of other processes.
#[derive(Debug)]
pub struct SystemCalls {
    ring: Ring,
    lost: Map,
    #[expect(dead_code, reason = "the kernel records while it exists")]
    link: Link,
}

/// Bytes of the ring: room for 32 768 calls between two polls.
const RING_BYTES: u32 = 1 << 20;

/// Offsets in a record.
mod field {
    pub(super) const AT: i16 = 0;
    pub(super) const PROCESS: i16 = 8;
    pub(super) const NUMBER: i16 = 16;
    pub(super) const BYTES: i32 = 24;
}

/// `BPF_RB_NO_WAKEUP`
const WAKE_NOBODY: i32 = 1;

impl SystemCalls {
    /// Begins to record.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn new(observer: &Observer, users: Users) -> Result<SystemCalls, ObserveError> {
        let pids = system::pids().ok_or(ObserveError::OwnProcessIds)?;
        let ring = Ring::create(RING_BYTES)?;
        let lost = Map::create(MapKind::Array, 4, 8, 1, "gpubench_lost")?;
        let code = program(observer.processes(), (pids, users), &ring, &lost);
        let program = Program::load(ProgramKind::RawTracepoint, AttachType::Plain, "system_call", code)?;
        let link = Link::raw_tracepoint(&program, c"sys_enter")?;
        Ok(SystemCalls { ring, lost, link })
    }

    /// Gives the calls since the last poll to `sink`, but not `sched_yield` and not those that
    /// probes themselves cause. The calls of one thread are in order.
    pub fn poll(&mut self, sink: &mut dyn FnMut(SystemCall)) {
        self.ring.drain(&mut |record| sink(SystemCall::read(record)));
    }

    /// Returns how many calls were lost until now, because nobody polled in time.
    ///
    /// # Errors
    ///
    /// If the kernel does not tell.
    pub fn lost(&self) -> Result<u64, BpfError> {
        let count = self.lost.lookup(&0_u32.to_ne_bytes())?.unwrap_or_default();
        Ok(number(&count, 0))
    }
}

impl SystemCall {
    fn read(record: &[u8]) -> SystemCall {
        SystemCall {
            at: Timestamp(number(record, field::AT)),
            process: number(record, field::PROCESS) as u32,
            number: number(record, field::NUMBER) as u32,
        }
    }
}

/// Reads the 8 bytes at `at`, zero where there are fewer.
fn number(bytes: &[u8], at: i16) -> u64 {
    let bytes = bytes.get(at as usize..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// The program that runs at the entry of each system call.
fn program(processes: &Map, (pids, users): (Pids, Users), ring: &Ring, lost: &Map) -> Assembler {
    const PROCESS: i16 = -4;
    const ZERO: i16 = -8;
    const TASK: i16 = -16;
    let mut asm = Assembler::new();
    let (end, full) = (asm.label(), asm.label());
    asm.set(R6, R1);
    end_if_of_another(&mut asm, users, end);
    match pids {
        Pids::OfTheKernel => {
            asm.call(Helper::CurrentPidTgid);
        }
        Pids::OfNamespace { device, inode } => {
            asm.set_wide(R1, device).set_wide(R2, inode);
            asm.address(R3, R10, TASK).set(R4, 8);
            asm.call(Helper::PidTgidInNamespace);
            asm.jump_if(R0, Condition::NotEqual, 0, end);
            asm.load(Double, R0, R10, TASK);
        }
    }
    asm.calculate(Operation::ShiftRight, R0, 32)
        .set(R7, R0)
        .store(Word, R10, PROCESS, R0);
    asm.address(R2, R10, PROCESS)
        .set_map(R1, processes)
        .call(Helper::MapLookup);
    asm.jump_if(R0, Condition::Equal, 0, end);
    // The second word of the context is the number.
    asm.load(Double, R9, R6, 8);
    for left_out in LEFT_OUT.iter().filter_map(|name| name.parse::<Sysno>().ok()) {
        asm.jump_if(R9, Condition::Equal, left_out.id(), end);
    }
    asm.set_map(R1, ring.map()).set(R2, field::BYTES).set(R3, 0);
    asm.call(Helper::RingReserve).jump_if(R0, Condition::Equal, 0, full);
    asm.set(R8, R0)
        .call(Helper::MonotonicNanoseconds)
        .store(Double, R8, field::AT, R0)
        .store(Double, R8, field::PROCESS, R7)
        .store(Double, R8, field::NUMBER, R9);
    asm.set(R1, R8).set(R2, WAKE_NOBODY).call(Helper::RingSubmit);
    asm.jump(end).place(full);
    asm.store(Word, R10, ZERO, 0);
    asm.address(R2, R10, ZERO).set_map(R1, lost).call(Helper::MapLookup);
    asm.jump_if(R0, Condition::Equal, 0, end);
    asm.set(R1, 1).atomic_add(R0, 0, R1);
    asm.place(end).set(R0, 0).exit();
    asm
}
