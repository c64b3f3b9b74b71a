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

/// Words of an encoded fault.
pub const FAULT_WORDS: usize = 12;

impl KernelFault {
    /// The fault as plain integers, for a message between processes.
    pub fn encode(&self) -> [u64; FAULT_WORDS] {
        let (kind, detail) = self.kind.encode();
        let thread = self.thread.map(|index| index.map(u64::from));
        let block = self.block.map(u64::from);
        let [tx, ty, tz] = thread.unwrap_or_default();
        let [a, b, c, d] = detail;
        [
            kind,
            a,
            b,
            c,
            d,
            block[0],
            block[1],
            block[2],
            u64::from(thread.is_some()),
            tx,
            ty,
            tz,
        ]
    }

    /// The inverse of [`encode`](Self::encode); nothing for words that encode no fault.
    pub fn decode(words: &[u64; FAULT_WORDS]) -> Option<KernelFault> {
        let narrow = |at: usize| u32::try_from(words[at]).ok();
        let kind = FaultKind::decode(words[0], [words[1], words[2], words[3], words[4]])?;
        let block = [narrow(5)?, narrow(6)?, narrow(7)?];
        let thread = match words[8] {
            0 => None,
            1 => Some([narrow(9)?, narrow(10)?, narrow(11)?]),
            _ => return None,
        };
        Some(KernelFault { kind, block, thread })
    }
}

impl FaultKind {
    fn encode(self) -> (u64, [u64; 4]) {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        match self {
            FaultKind::Access { address, access } => (1, [address as u64, access as u64, 0, 0]),
            FaultKind::DivisionByZero => (2, [0; 4]),
            FaultKind::StackOverflow => (3, [0; 4]),
            FaultKind::IllegalInstruction => (4, [0; 4]),
            FaultKind::BarrierDivergence { line, arrived, of } => (5, [line.into(), arrived.into(), of.into(), 0]),
            FaultKind::BarrierMismatch { lines, arrived, of } => (
                6,
                [pair(lines[0], lines[1]), pair(arrived[0], arrived[1]), of.into(), 0],
            ),
            FaultKind::WarpDivergence { line, mask, arrived } => (7, [line.into(), mask.into(), arrived.into(), 0]),
            FaultKind::Trap { line } => (8, [line.into(), 0, 0, 0]),
            FaultKind::Assert { line } => (9, [line.into(), 0, 0, 0]),
            FaultKind::InvalidLaunch => (10, [0; 4]),
            FaultKind::OutOfStacks => (11, [0; 4]),
        }
    }

    fn decode(kind: u64, [a, b, c, _]: [u64; 4]) -> Option<FaultKind> {
        let narrow = |word: u64| u32::try_from(word).ok();
        let pair = |word: u64| [(word >> 32) as u32, word as u32];
        Some(match kind {
            1 => {
                let access = match b {
                    0 => Access::Read,
                    1 => Access::Write,
                    2 => Access::Unknown,
                    _ => return None,
                };
                FaultKind::Access {
                    address: usize::try_from(a).ok()?,
                    access,
                }
            }
            2 => FaultKind::DivisionByZero,
            3 => FaultKind::StackOverflow,
            4 => FaultKind::IllegalInstruction,
            5 => FaultKind::BarrierDivergence {
                line: narrow(a)?,
                arrived: narrow(b)?,
                of: narrow(c)?,
            },
            6 => FaultKind::BarrierMismatch {
                lines: pair(a),
                arrived: pair(b),
                of: narrow(c)?,
            },
            7 => FaultKind::WarpDivergence {
                line: narrow(a)?,
                mask: narrow(b)?,
                arrived: narrow(c)?,
            },
            8 => FaultKind::Trap { line: narrow(a)? },
            9 => FaultKind::Assert { line: narrow(a)? },
            10 => FaultKind::InvalidLaunch,
            11 => FaultKind::OutOfStacks,
            _ => return None,
        })
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            FaultKind::Access {
                address,
                access: Access::Read,
            } => write!(f, "invalid read at address {address:#x}"),
            FaultKind::Access {
                address,
                access: Access::Write,
            } => write!(f, "invalid write at address {address:#x}"),
            FaultKind::Access {
                address: _,
                access: Access::Unknown,
            } => f.write_str("invalid access, at an address that the processor does not tell"),
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
        }
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
