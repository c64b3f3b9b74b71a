//! A process closed as its row of the table says, before it loads code of others.

use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::calls::Calls;
use crate::role::ConfinedRole;
use crate::{Confinement, calls, descriptors, files, limits};

/// A sandbox that is being closed. What cannot be closed does not stop the process: it is reported, and lowers the grade of the result.
#[derive(Debug)]
#[must_use = "it is closed by `close`"]
pub struct Sandbox {
    calls: Calls,
    gaps: Vec<String>,
}

impl Sandbox {
    /// Closes every descriptor but standard input, output and error and those in `kept`, gives every capability up, limits memory and
    /// files, and keeps all files but those in `private` and a driver's devices from being changed. To be called while the process has one thread, so that those
    /// that follow have none either, and before a device opens descriptors of its own.
    pub fn begin(role: ConfinedRole, kept: &[BorrowedFd<'_>], private: Option<&Path>) -> Sandbox {
        let mut sandbox = Sandbox {
            calls: role.rules().calls,
            gaps: Vec::new(),
        };
        sandbox.note(
            "inherited descriptors cannot be closed",
            descriptors::close_all_but(kept),
        );
        sandbox.note("capabilities cannot be given up", give_up_capabilities());
        sandbox.note(
            "memory and files cannot be limited",
            limits::use_no_more_than_there_is(),
        );
        if let Err(error) = files::close(role.rules().files, private) {
            sandbox.gaps.push(gpubench_diagnostic::chain(&error));
        }
        sandbox
    }

    /// None at all, for the reason given.
    pub fn left_open(reason: &str) -> Sandbox {
        Sandbox {
            calls: Calls::All,
            gaps: vec![reason.to_owned()],
        }
    }

    /// Filters the system calls of every thread there is, then looks whether the memory of the processes in `guarded` is closed to this one.
    pub fn close(mut self, guarded: impl IntoIterator<Item = Pid>) -> Confinement {
        if let Err(error) = calls::refuse_others(self.calls) {
            self.gaps.push(gpubench_diagnostic::chain(&error));
        }
        for process in guarded {
            if memory_can_be_opened(process) {
                let process = process.as_raw_nonzero();
                self.gaps.push(format!("the memory of process {process} can be opened"));
            }
        }
        match self.gaps.is_empty() {
            true => Confinement::Closed,
            false => Confinement::Open(self.gaps.join("; ")),
        }
    }

    fn note(&mut self, what: &str, outcome: Result<(), Errno>) {
        self.gaps.extend(outcome.err().map(|error| format!("{what}: {error}")));
    }
}

/// Root without capabilities cannot open the memory of a process that is not dumpable, nor load a module.
fn give_up_capabilities() -> rustix::io::Result<()> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none)
}

fn memory_can_be_opened(process: Pid) -> bool {
    fs_err::File::open(format!("/proc/{}/mem", process.as_raw_nonzero())).is_ok()
}
