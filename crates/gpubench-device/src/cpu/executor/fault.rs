//! Kernel faults and their places.

use std::fmt;

use super::code_place::CodePlace;
use super::stack::STACK_BYTES;

/// A kernel fault, which ends the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} in block ({}, {}, {}){}", block[0], block[1], block[2], of_thread(thread))]
pub struct KernelFault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The block, by x, y and z.
    pub block: [u32; 3],
    /// The thread, by x, y and z, if one thread caused the fault and is known.
    pub thread: Option<[u32; 3]>,
    /// The place in the kernel's code, if the processor found the fault.
    pub code: Option<CodePlace>,
}

impl KernelFault {
    /// Returns a fault without a thread and a place in the code.
    pub(super) fn of_block(block: [u32; 3], kind: FaultKind) -> KernelFault {
        KernelFault {
            kind,
            block,
            thread: None,
            code: None,
        }
    }
}

/// The kinds of faults. Lines refer to the kernel source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// An access to memory outside of the kernel's buffers.
    #[error("invalid {access}{}", of_address(access, address))]
    Access {
        /// The address.
        address: usize,
        /// The kind of access.
        access: Access,
    },
    /// An access to dynamic shared memory that the launch does not have. A write that is found only
    /// after its block has ended has no thread.
    #[error("invalid {access} {}", of_dynamic_shared(*offset, *requested))]
    DynamicShared {
        /// The kind of access.
        access: Access,
        /// The offset from the memory's start in bytes; negative before it.
        offset: i64,
        /// The dynamic shared memory of the launch, in bytes.
        requested: u32,
    },
    /// A write outside of a static `__shared__` variable. It is found only after its block has
    /// ended, so it has no thread.
    #[error("invalid write {}", of_static_shared(*offset, name, *bytes))]
    StaticShared {
        /// The variable.
        name: &'static str,
        /// The offset from the variable's start in bytes; negative before it.
        offset: i64,
        /// The size of the variable in bytes.
        bytes: usize,
    },
    /// A division of an integer by zero, or of the smallest integer by -1.
    #[error("integer division by zero")]
    DivisionByZero,
    /// A thread used more stack than it has.
    #[error("stack overflow (hint: a thread has {} KiB for local variables: large local arrays and endless recursion need more)", STACK_BYTES >> 10)]
    StackOverflow,
    /// An instruction that the processor does not support: a path that the compiler considered
    /// unreachable.
    #[error("illegal instruction")]
    IllegalInstruction,
    /// A block barrier that some threads never reach because they returned.
    #[error("barrier at line {line} reached by {arrived} of {of} threads")]
    BarrierDivergence {
        /// Line of the barrier.
        line: u32,
        /// Threads that wait at the barrier.
        arrived: u32,
        /// Threads of the block.
        of: u32,
    },
    /// Threads of a block wait at different barriers.
    #[error(
        "{} of {of} threads wait at the barrier at line {}, and {} at the barrier at line {}",
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
    /// A warp operation that some lanes of its mask never reach.
    #[error("warp operation at line {line} with mask {mask:#010x} reached by only {arrived} of the mask's lanes")]
    WarpDivergence {
        /// Line of the operation.
        line: u32,
        /// Mask of the operation.
        mask: u32,
        /// Lanes that wait at the operation.
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
    /// An invalid launch: a zero extent, more than 1024 threads, more than 227 KiB of dynamic
    /// shared memory, or the wrong number of arguments.
    #[error("invalid launch configuration")]
    InvalidLaunch,
    /// The system has no memory or mappings left for the stacks of the block's threads.
    #[error("no memory left for the stacks of the threads")]
    OutOfStacks,
    /// The system has no memory or mappings left for the dynamic shared memory of a block.
    #[error("no memory left for dynamic shared memory")]
    OutOfDynamicShared,
}

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// Unknown: the processor does not report it.
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
        Access::Unknown => " at an unknown address: the pointer is misaligned or was overwritten".to_owned(),
        Access::Read | Access::Write => format!(" at address {address:#x}"),
    }
}

fn of_dynamic_shared(offset: i64, requested: u32) -> String {
    match (offset, requested) {
        (_, 0) => {
            "of dynamic shared memory, but the launch has none (hint: set `.shared(bytes)` on its grid)".to_owned()
        }
        (..0, _) => format!(
            "{} bytes before the start of dynamic shared memory",
            offset.unsigned_abs()
        ),
        _ => format!(
            "of byte {offset} of dynamic shared memory, but the launch has {requested} bytes (hint: set `.shared(bytes)` on its grid)"
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
