//! Programs attached to functions and tracepoints.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::perf::UprobeEvent;
use crate::syscall::{Attribute, Command, bpf, bpf_descriptor};
use crate::{BpfError, Program};

/// When a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the instruction.
    Entry,
    /// When the function that was entered there returns. The instruction must come before the
    /// function moves its stack pointer.
    Return,
}

/// An instruction of a file, and the number that the program finds there as its cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbePoint {
    /// Where the instruction is in the file, in bytes from its beginning.
    pub offset: u64,
    /// The cookie.
    pub cookie: u64,
}

/// Whose calls run into a probe. Each pays for the trap, whether its calls are recorded or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// All processes that map the file, at any time.
    AllProcesses,
    /// The process with this pid, with all its threads, also after it runs another program. Its
    /// children pay if it forks, but the program does not run for them.
    ///
    /// The kernel knows the process by its first thread. What the process maps after that thread
    /// has ended, or after [another thread](Link::has_lost_its_process) has run another program,
    /// has no probes.
    Process(u32),
}

impl Within {
    /// Returns the one process with this pid if the kernel can tell it from others, else all.
    ///
    /// Before Linux 6.12, the kernel takes one thread for the process, or none once its first
    /// thread has ended, and calls of the others are missed.
    pub fn process(pid: u32) -> Within {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        if can_tell_processes(&release) {
            Within::Process(pid)
        } else {
            Within::AllProcesses
        }
    }
}

/// Whether a kernel of this release has probes of one process with all its threads.
fn can_tell_processes(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let version = (numbers.next(), numbers.next());
    matches!(version, (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= (6, 12))
}

/// A program that runs. It stops when this is dropped, or when the process ends.
#[derive(Debug)]
#[expect(dead_code, reason = "the descriptors hold the attachment")]
pub struct Link {
    attachment: OwnedFd,
    event: Option<UprobeEvent>,
}

const BPF_PERF_EVENT: u32 = 41;
const RETURN: u32 = 1;

impl Link {
    /// Attaches a program to many instructions of a file at once, now and where it is mapped later.
    /// The file is found by its inode, whatever its path is in other processes.
    ///
    /// # Errors
    ///
    /// If the kernel refuses, or is older than 6.6.
    pub fn uprobe_multi(
        program: &Program,
        file: &Path,
        points: &[ProbePoint],
        moment: Moment,
        within: Within,
    ) -> Result<Link, BpfError> {
        let path = c_path(file)?;
        let offsets: Vec<u64> = points.iter().map(|point| point.offset).collect();
        let cookies: Vec<u64> = points.iter().map(|point| point.cookie).collect();
        let flags = match moment {
            Moment::Entry => 0,
            Moment::Return => RETURN,
        };
        let pid = match within {
            Within::AllProcesses => 0,
            Within::Process(pid) => pid,
        };
        let mut attribute = Attribute::new()
            .word(0, program.as_raw_fd().cast_unsigned())
            .word(8, program.attach_type() as u32)
            .pointer(16, path.as_ptr())
            .pointer(24, offsets.as_ptr())
            .pointer(40, cookies.as_ptr())
            .word(48, points.len() as u32)
            .word(52, flags)
            .word(56, pid);
        // SAFETY: path, offsets and cookies outlive the call, and there are as many as told.
        let attachment = unsafe { bpf_descriptor(Command::LinkCreate, &mut attribute) };
        attachment
            .map(|attachment| Link {
                attachment,
                event: None,
            })
            .map_err(|source| BpfError::Refused {
                what: "probe functions of a file",
                source,
            })
    }

    /// Whether the kernel has lost the process of [`Within::Process`]: it has ended, or another
    /// thread than its first one has run another program.
    pub fn has_lost_its_process(&self) -> bool {
        // `struct bpf_link_info`, whose last word for these links is the pid.
        const WORDS: usize = 16;
        let mut info = [0_u32; WORDS];
        let mut attribute = Attribute::new()
            .word(0, self.attachment.as_raw_fd().cast_unsigned())
            .word(4, size_of_val(&info) as u32)
            .pointer(8, info.as_mut_ptr());
        // SAFETY: the information outlives the call, and is as long as told.
        let asked = unsafe { bpf(Command::ObjectInfo, &mut attribute) };
        asked.is_ok() && info[WORDS - 1] == 0
    }

    /// Attaches a program to one instruction in all processes, on kernels older than 6.6. It takes
    /// 100 ms to detach.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn uprobe(program: &Program, file: &Path, point: ProbePoint, moment: Moment) -> Result<Link, BpfError> {
        let event = UprobeEvent::open(&c_path(file)?, point.offset, moment)?;
        let mut attribute = Attribute::new()
            .word(0, program.as_raw_fd().cast_unsigned())
            .word(4, event.as_raw_fd().cast_unsigned())
            .word(8, BPF_PERF_EVENT)
            .double(16, point.cookie);
        // SAFETY: this attribute has no addresses.
        let attachment = unsafe { bpf_descriptor(Command::LinkCreate, &mut attribute) };
        let attachment = attachment.map_err(|source| BpfError::Refused {
            what: "probe a function of a file",
            source,
        })?;
        event.enable()?;
        Ok(Link {
            attachment,
            event: Some(event),
        })
    }

    /// Attaches a program to a tracepoint.
    ///
    /// # Errors
    ///
    /// If the kernel refuses, or has no such tracepoint.
    pub fn raw_tracepoint(program: &Program, name: &CStr) -> Result<Link, BpfError> {
        let mut attribute = Attribute::new()
            .pointer(0, name.as_ptr())
            .word(8, program.as_raw_fd().cast_unsigned());
        // SAFETY: the name outlives the call.
        let attachment = unsafe { bpf_descriptor(Command::RawTracepointOpen, &mut attribute) };
        attachment
            .map(|attachment| Link {
                attachment,
                event: None,
            })
            .map_err(|source| BpfError::Refused {
                what: "watch a tracepoint",
                source,
            })
    }
}

fn c_path(file: &Path) -> Result<CString, BpfError> {
    CString::new(file.as_os_str().as_bytes()).map_err(|error| BpfError::Unreadable {
        path: file.to_owned(),
        source: error.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_its_threads_from_linux_6_12_on() {
        for release in ["6.12.0", "6.12-rc1", "6.18.44-fc", "7.0"] {
            assert!(can_tell_processes(release), "{release}");
        }
        for release in [
            "",
            "6",
            "6.11.9-generic",
            "5.14.0-503.el9",
            "x6.12",
            "6.x.12",
            "99999999999999.1",
        ] {
            assert!(!can_tell_processes(release), "{release}");
        }
    }
}
