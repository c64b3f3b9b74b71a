//! What can go wrong while a kernel runs, and where.

use std::fmt;

/// A kernel's fault: the launch ended there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} in block ({}, {}, {}){}", block[0], block[1], block[2], OfThread(*thread))]
pub struct KernelFault {
    /// What happened.
    pub kind: FaultKind,
    /// The block, by x, y and z.
    pub block: [u32; 3],
    /// The thread, by x, y and z, where one thread is to blame and could be found out.
    pub thread: Option<[u32; 3]>,
}

/// Kinds of faults. Lines are of the kernel source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Memory was accessed that is not the kernel's.
    Access {
        /// The address.
        address: usize,
        /// Read or write.
        access: Access,
    },
    /// Dynamic shared memory was accessed that the launch does not ask for. A write that only shows when its block has ended names no thread.
    DynamicShared {
        /// Read or write.
        access: Access,
        /// Where, in bytes from the memory's start; negative in front of it.
        offset: i64,
        /// What the launch asks for, in bytes.
        asked: u32,
    },
    /// An integer was divided by zero, or the smallest by -1.
    DivisionByZero,
    /// A thread used more stack than it has.
    StackOverflow,
    /// The processor met an instruction it does not know: a path the compiler took for unreachable.
    IllegalInstruction,
    /// A block barrier that some threads of the block never reach because they returned.
    BarrierDivergence {
        /// Line of the barrier.
        line: u32,
        /// Threads that wait at it.
        arrived: u32,
        /// Threads of the block.
        of: u32,
    },
    /// Threads of a block wait at different barriers.
    BarrierMismatch {
        /// Lines of two of the barriers.
        lines: [u32; 2],
        /// Threads that wait at each of the two.
        arrived: [u32; 2],
        /// Threads of the block.
        of: u32,
    },
    /// A warp operation that lanes named by its mask never reach.
    WarpDivergence {
        /// Line of the operation.
        line: u32,
        /// Its mask.
        mask: u32,
        /// Lanes that wait at it.
        arrived: u32,
    },
    /// The kernel called `__trap()`.
    Trap {
        /// Line of the call.
        line: u32,
    },
    /// An `assert` failed.
    Assert {
        /// Line of the assertion.
        line: u32,
    },
    /// The launch itself is impossible: a zero extent, more than 1024 threads or 227 KiB of dynamic shared memory, or
    /// another number of arguments than the kernel has.
    InvalidLaunch,
    /// The system has no memory or mappings left for the stacks of the block's threads.
    OutOfStacks,
    /// The system has no memory or mappings left for the dynamic shared memory of a block.
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

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            FaultKind::Access {
                address: _,
                access: Access::Unknown,
            } => f.write_str("invalid access, at an address that the processor does not tell: misaligned, or of a pointer that something has overwritten"),
            FaultKind::Access { address, access } => write!(f, "invalid {access} at address {address:#x}"),
            FaultKind::DynamicShared { access, asked: 0, .. } => write!(
                f,
                "invalid {access} of dynamic shared memory, of which the launch asks for none (hint: `.shared(bytes)` of its grid)"
            ),
            FaultKind::DynamicShared { access, offset, .. } if offset < 0 => write!(
                f,
                "invalid {access} {} bytes before the start of dynamic shared memory",
                offset.unsigned_abs()
            ),
            FaultKind::DynamicShared { access, offset, asked } => write!(
                f,
                "invalid {access} of byte {offset} of dynamic shared memory, of which the launch asks for {asked} bytes (hint: `.shared(bytes)` of its grid)"
            ),
            FaultKind::DivisionByZero => f.write_str("integer division by zero"),
            FaultKind::StackOverflow => f.write_str("stack overflow"),
            FaultKind::IllegalInstruction => f.write_str("illegal instruction"),
            FaultKind::BarrierDivergence { line, arrived, of } => {
                write!(f, "barrier at line {line} reached by {arrived} of {of} threads")
            }
            FaultKind::BarrierMismatch { lines, arrived, of } => write!(
                f,
                "{} threads wait at the barrier at line {} and {} at the one at line {}, of {of} threads",
                arrived[0], lines[0], arrived[1], lines[1]
            ),
            FaultKind::WarpDivergence { line, mask, arrived } => {
                write!(
                    f,
                    "warp operation at line {line} with mask {mask:#010x} reached by {arrived} of its lanes"
                )
            }
            FaultKind::Trap { line } => write!(f, "trap at line {line}"),
            FaultKind::Assert { line } => write!(f, "assertion failed at line {line}"),
            FaultKind::InvalidLaunch => f.write_str("impossible launch"),
            FaultKind::OutOfStacks => f.write_str("no memory left for the stacks of the threads"),
            FaultKind::OutOfDynamicShared => f.write_str("no memory left for dynamic shared memory"),
        }
    }
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

struct OfThread(Option<[u32; 3]>);

impl fmt::Display for OfThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some([x, y, z]) => write!(f, ", thread ({x}, {y}, {z})"),
            None => Ok(()),
        }
    }
}
