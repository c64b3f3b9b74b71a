//! The sandbox round a worker that runs the user's host code: closed before the user's library is loaded.
//!
//! It protects what the other roles hold and load, their memory, their files and their lives, against the host code of a benchmark. It is no container: reading files, the network and new
//! processes stay open to it.

use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::{Confinement, calls, descriptors, files};

/// A sandbox that is being closed. What cannot be closed does not stop the worker: it is reported, and lowers the grade of the result.
#[derive(Debug, Default)]
pub struct HostedSandbox {
    gaps: Vec<String>,
}

impl HostedSandbox {
    /// Closes every descriptor but standard input, output and error and those in `kept`, gives every capability up, and
    /// keeps all files but those in `private` and a driver's devices from being changed. To be called while the process has one thread, so that those
    /// that follow have none either, and before the device opens descriptors of its own.
    pub fn begin(kept: &[BorrowedFd<'_>], private: &Path) -> HostedSandbox {
        let mut sandbox = HostedSandbox::default();
        if let Err(error) = descriptors::close_all_but(kept) {
            sandbox.gap("inherited descriptors cannot be closed", error);
        }
        if let Err(error) = give_up_capabilities() {
            sandbox.gap("capabilities cannot be given up", error);
        }
        if let Err(error) = files::keep_all_but(Some(private)) {
            sandbox.gaps.push(gpubench_diagnostic::chain(&error));
        }
        sandbox
    }

    /// Filters the system calls of every thread there is, then looks whether the memory of the processes in `guarded` is closed to this one.
    pub fn close(mut self, guarded: impl IntoIterator<Item = Pid>) -> Confinement {
        if let Err(error) = calls::refuse_reaching_out() {
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

    fn gap(&mut self, what: &str, error: Errno) {
        self.gaps.push(format!("{what}: {error}"));
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
