//! What can go wrong while a kernel runs, and where.

use std::fmt;

/// A kernel's fault: the launch ended there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} in block ({}, {}, {}){}", block[0], block[1], block[2], of_thread(thread))]
pub struct KernelFault {
    /// What happened.
    pub kind: FaultKind,
    /// The block, by x, y and z.
    pub block: [u32; 3],
    /// The thread, by x, y and z, where one thread is to blame and could be found out.
    pub thread: Option<[u32; 3]>,
}

impl KernelFault {
    /// One that is no single thread's.
    pub(super) fn of_block(block: [u32; 3], kind: FaultKind) -> KernelFault {
        KernelFault {
            kind,
            block,
            thread: None,
        }
    }
}

/// Kinds of faults. Lines are of the kernel source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// Memory was accessed that is not the kernel's.
    #[error("invalid {access}{}", of_address(access, address))]
    Access {
        /// The address.
        address: usize,
        /// Read or write.
        access: Access,
    },
    /// Dynamic shared memory was accessed that the launch does not ask for. A write that only shows
    /// when its block has ended names no thread.
    #[error("invalid {access} {}", of_dynamic_shared(*offset, *asked))]
    DynamicShared {
        /// Read or write.
        access: Access,
        /// Where, in bytes from the memory's start; negative in front of it.
        offset: i64,
        /// What the launch asks for, in bytes.
        asked: u32,
    },
    /// A static `__shared__` variable was run over. It only shows when its block has ended, so it
    /// names no thread.
    #[error("invalid write {}", of_static_shared(*offset, name, *bytes))]
    StaticShared {
        /// The variable.
        name: &'static str,
        /// Where, in bytes from its start; negative in front of it.
        offset: i64,
        /// Its size.
        bytes: usize,
    },
    /// An integer was divided by zero, or the smallest by -1.
    #[error("integer division by zero")]
    DivisionByZero,
    /// A thread used more stack than it has.
    #[error("stack overflow")]
    StackOverflow,
    /// The processor met an instruction it does not know: a path the compiler took for unreachable.
    #[error("illegal instruction")]
    IllegalInstruction,
    /// A block barrier that some threads of the block never reach because they returned.
    #[error("barrier at line {line} reached by {arrived} of {of} threads")]
    BarrierDivergence {
        /// Line of the barrier.
        line: u32,
        /// Threads that wait at it.
        arrived: u32,
        /// Threads of the block.
        of: u32,
    },
    /// Threads of a block wait at different barriers.
    #[error(
        "{} threads wait at the barrier at line {} and {} at the one at line {}, of {of} threads",
        arrived[0], lines[0], arrived[1], lines[1]
    )]
    BarrierMismatch {
        /// Lines of two of the barriers.
        lines: [u32; 2],
        /// Threads that wait at each of the two.
        arrived: [u32; 2],
        /// Threads of the block.
        of: u32,
    },
    /// A warp operation that lanes named by its mask never reach.
    #[error("warp operation at line {line} with mask {mask:#010x} reached by {arrived} of its lanes")]
    WarpDivergence {
        /// Line of the operation.
        line: u32,
        /// Its mask.
        mask: u32,
        /// Lanes that wait at it.
        arrived: u32,
    },
    /// The kernel called `__trap()`.
    #[error("trap at line {line}")]
    Trap {
        /// Line of the call.
        line: u32,
    },
    /// An `assert` failed.
    #[error("assertion failed at line {line}")]
    Assert {
        /// Line of the assertion.
        line: u32,
    },
    /// The launch itself is impossible: a zero extent, more than 1024 threads or 227 KiB of dynamic
    /// shared memory, or another number of arguments than the kernel has.
    #[error("impossible launch")]
    InvalidLaunch,
    /// The system has no memory or mappings left for the stacks of the block's threads.
    #[error("no memory left for the stacks of the threads")]
    OutOfStacks,
    /// The system has no memory or mappings left for the dynamic shared memory of a block.
    #[error("no memory left for dynamic shared memory")]
    OutOfDynamicShared,
}

/// How memory was accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// The processor does not say.
    Unknown,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Unknown => "access",
        })
    }
}

fn of_thread(thread: &Option<[u32; 3]>) -> String {
    thread.map_or_else(String::new, |[x, y, z]| format!(", thread ({x}, {y}, {z})"))
}

fn of_address(access: &Access, address: &usize) -> String {
    match access {
        Access::Unknown => {
            ", at an address that the processor does not tell: misaligned, or of a pointer that something has overwritten".to_owned()
        }
        Access::Read | Access::Write => format!(" at address {address:#x}"),
    }
}

fn of_dynamic_shared(offset: i64, asked: u32) -> String {
    match (offset, asked) {
        (_, 0) => "of dynamic shared memory, of which the launch asks for none (hint: `.shared(bytes)` of its grid)"
            .to_owned(),
        (..0, _) => format!(
            "{} bytes before the start of dynamic shared memory",
            offset.unsigned_abs()
        ),
        _ => format!(
            "of byte {offset} of dynamic shared memory, of which the launch asks for {asked} bytes (hint: `.shared(bytes)` of its grid)"
        ),
    }
}

fn of_static_shared(offset: i64, name: &str, bytes: usize) -> String {
    match offset {
        ..0 => format!(
            "{} bytes before the start of the shared array `{name}`",
            offset.unsigned_abs()
        ),
        _ => format!("of byte {offset} of the shared array `{name}`, which has {bytes} bytes"),
    }
}
