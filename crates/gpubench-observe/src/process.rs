//! Processes, told apart even when the system uses a pid again.

use std::path::PathBuf;

use crate::{Owner, Timestamp};

/// A process from its fork or exec to its next exec or its exit.
///
/// Memory of the GPU and handles of the driver do not survive an exec, so the program after it is
/// another process here. A new process with an old pid is another one, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId {
    /// The pid in the namespace of the observer: the thread group, never a thread.
    pub pid: u32,
    /// When the process began, as the source knows it. It tells processes with the same pid apart.
    pub started: Timestamp,
}

/// What is known of a process at its first event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStart {
    /// How it began.
    pub origin: Origin,
    /// Its executable, as the process sees it, unless it ended before anyone could look.
    pub executable: Option<PathBuf>,
    /// Its arguments, with the name of the program first. Empty if it ended before anyone could
    /// look.
    pub command: Vec<String>,
    /// Whose it is.
    pub owner: Owner,
}

/// How a process began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It ran already when the observation began: earlier allocations are unknown.
    Before,
    /// It was forked.
    Fork {
        /// The process that forked it.
        parent: ProcessId,
    },
    /// It is the program after an exec.
    Exec {
        /// The program before the exec, which ended with it, if it was observed.
        before: Option<ProcessId>,
    },
}
