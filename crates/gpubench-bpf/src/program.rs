//! Programs that the kernel has verified.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::map::object_name;
use crate::signals::SignalsWait;
use crate::syscall::{Attribute, Command, bpf_descriptor};
use crate::{Assembler, BpfError};

/// What a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ProgramKind {
    /// Runs at a uprobe.
    Probe = 2,
    /// Runs at a raw tracepoint.
    RawTracepoint = 17,
}

/// How a program will be attached. The kernel wants to know when it loads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AttachType {
    /// As its kind says.
    Plain = 0,
    /// With `uprobe_multi`, from Linux 6.6 on.
    UprobeMulti = 48,
}

/// A verified program.
#[derive(Debug)]
pub struct Program {
    descriptor: OwnedFd,
    attach: AttachType,
}

/// Some helpers are for programs under the GPL alone. This crate's programs are under its own
/// licence, MIT among them, and under the GPL.
const LICENCE: &std::ffi::CStr = c"Dual MIT/GPL";

const LOG_BYTES: usize = 256 * 1024;

/// The end of a log is where the reason is.
const LOG_SHOWN: usize = 600;

impl Program {
    /// Has the kernel verify a program. The maps that it names must still be open.
    ///
    /// # Errors
    ///
    /// If the process lacks rights, or the verifier rejects the program: then with its log.
    ///
    /// # Panics
    ///
    /// As [`Assembler::finish`].
    pub fn load(kind: ProgramKind, attach: AttachType, name: &str, code: Assembler) -> Result<Program, BpfError> {
        let code = code.finish();
        let _signals = SignalsWait::begin();
        let attribute = Attribute::new()
            .word(0, kind as u32)
            .word(4, code.len() as u32)
            .pointer(8, code.as_ptr())
            .pointer(16, LICENCE.as_ptr())
            .bytes(48, &object_name(name))
            .word(68, attach as u32);
        // SAFETY: code and licence outlive the call, and the code is as long as told.
        let loaded = unsafe { bpf_descriptor(Command::ProgramLoad, &mut attribute.clone()) };
        match loaded {
            Ok(descriptor) => Ok(Program { descriptor, attach }),
            Err(source) if source.raw_os_error() == Some(libc::EPERM) => Err(BpfError::Refused {
                what: "load a BPF program",
                source,
            }),
            Err(source) => Err(BpfError::Rejected {
                program: name.to_owned(),
                log: verifier_log(attribute),
                source,
            }),
        }
    }

    pub(crate) fn attach_type(&self) -> AttachType {
        self.attach
    }
}

impl AsRawFd for Program {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

/// Loads a program once more, with a log, and returns the log's end.
fn verifier_log(attribute: Attribute) -> String {
    let mut log = vec![0_u8; LOG_BYTES];
    let mut attribute = attribute
        .word(24, 1)
        .word(28, log.len() as u32)
        .pointer(32, log.as_mut_ptr());
    // SAFETY: the caller's code and licence are still there, and the log is as long as told.
    let again: io::Result<OwnedFd> = unsafe { bpf_descriptor(Command::ProgramLoad, &mut attribute) };
    drop(again);
    let length = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(&log[length.saturating_sub(LOG_SHOWN)..length]);
    text.trim().replace('\n', "; ")
}
