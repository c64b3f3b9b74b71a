//! A processor trap in kernel code.

use super::code_place::CodePlace;
use super::fault::{Access, FaultKind};

/// A trap as the signal handler saw it.
#[derive(Clone, Copy)]
pub(super) struct Trap {
    pub(super) signal: libc::c_int,
    pub(super) address: usize,
    pub(super) access: Access,
    pub(super) in_guard: bool,
    pub(super) code: CodePlace,
}

impl Trap {
    pub(super) fn kind(&self) -> FaultKind {
        match self.signal {
            libc::SIGFPE => FaultKind::DivisionByZero,
            libc::SIGILL => FaultKind::IllegalInstruction,
            _ if self.in_guard => FaultKind::StackOverflow,
            _ => FaultKind::Access {
                address: self.address,
                access: self.access,
            },
        }
    }
}
