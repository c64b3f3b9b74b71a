//! What perf records of processes say.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// Something that a process did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When, in nanoseconds of `CLOCK_MONOTONIC`.
    pub at: u64,
    /// Which process: its pid.
    pub pid: u32,
    /// What.
    pub what: Lifecycle,
}

/// What a process did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// It mapped a file or memory, or made a mapping executable.
    Mapped {
        /// Where the mapping begins.
        address: u64,
        /// Its length, in bytes.
        bytes: u64,
        /// The device of the file as the kernel has it: major number, minor number.
        device: (u32, u32),
        /// The inode of the file, 0 for memory without one.
        inode: u64,
        /// `PROT_READ`, `PROT_WRITE`, `PROT_EXEC` of `mmap(2)`.
        protection: u32,
        /// The file, or a name such as `//anon`.
        name: PathBuf,
    },
    /// It was forked.
    Forked {
        /// The pid of the process that forked it.
        parent: u32,
    },
    /// It runs another program.
    Exec {
        /// The first 15 bytes of the program's name.
        command: String,
    },
    /// Its last thread ended.
    Exited,
    /// The kernel lost records of some process.
    Lost {
        /// How many.
        records: u64,
    },
}

const LOST: u32 = 2;
const COMMAND: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const MAPPED: u32 = 10;
/// A command that changed with an exec.
const IS_EXEC: u16 = 1 << 13;

impl Record {
    /// Reads a record with its header. Returns `None` for one about a thread alone.
    pub(super) fn read(bytes: &[u8]) -> Option<Record> {
        let kind = word(bytes, 0)?;
        let flags = (word(bytes, 4)? & 0xffff) as u16;
        let at = double(bytes, bytes.len().checked_sub(8)?)?;
        let (pid, second) = (word(bytes, 8)?, word(bytes, 12)?);
        let what = match kind {
            LOST => Lifecycle::Lost {
                records: double(bytes, 16)?,
            },
            FORK if pid != second => Lifecycle::Forked { parent: second },
            // A process ends when its first thread does, which the kernel keeps until then.
            EXIT if word(bytes, 16)? == pid => Lifecycle::Exited,
            COMMAND if flags & IS_EXEC != 0 => Lifecycle::Exec {
                command: String::from_utf8_lossy(text(bytes, 16)).into_owned(),
            },
            MAPPED => Lifecycle::Mapped {
                address: double(bytes, 16)?,
                bytes: double(bytes, 24)?,
                device: (word(bytes, 40)?, word(bytes, 44)?),
                inode: double(bytes, 48)?,
                protection: word(bytes, 64)?,
                name: PathBuf::from(OsStr::from_bytes(text(bytes, 72))),
            },
            _ => return None,
        };
        Some(Record { at, pid, what })
    }
}

fn text(bytes: &[u8], at: usize) -> &[u8] {
    let rest = bytes.get(at..).unwrap_or_default();
    &rest[..rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len())]
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn double(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
