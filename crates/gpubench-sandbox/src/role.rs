//! The table of roles: what each process may do.

use crate::calls::Calls;
use crate::files::{Changes, Files};

/// The longest file that a process with code of others may write: its private folder is on a disk
/// that others need.
const LONGEST_FILE: u64 = 4 << 30;

/// A process that the tool starts and that code or sources of others get into.
///
/// The referee, the control worker, a worker that replays a plan on a GPU and NVRTC's process run the
/// tool's code alone: they give up what [`give_up`](crate::give_up) says, and need no row. A probe
/// only leads a session, since the driver may start a privileged program to load its kernel module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfinedRole {
    /// A compiler: it reads a source of the user's, and runs nothing of it.
    Compiler,
    /// The user's benchmark functions, generators and references, on the host.
    Author,
    /// A worker of the CPU device: the user's kernels are native code in it.
    NativeKernels,
    /// A worker with the user's host code, and perhaps a driver.
    HostCode,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) files: Files,
    pub(crate) calls: Calls,
    /// Bytes of the longest file that it may write.
    pub(crate) longest_file: u64,
}

impl ConfinedRole {
    /// Every row.
    #[cfg(test)]
    pub(crate) const ALL: [ConfinedRole; 4] = [
        ConfinedRole::Compiler,
        ConfinedRole::Author,
        ConfinedRole::NativeKernels,
        ConfinedRole::HostCode,
    ];

    /// What the role may do. Nobody opens a terminal or a disk.
    pub(crate) const fn rules(self) -> Rules {
        match self {
            ConfinedRole::Compiler => Rules {
                files: Files {
                    changes: Changes::Anything,
                    has_driver: false,
                },
                calls: Calls::All,
                // The broker reads it whole.
                longest_file: 256 << 20,
            },
            ConfinedRole::Author | ConfinedRole::NativeKernels => Rules {
                files: Files {
                    changes: Changes::Nothing,
                    has_driver: false,
                },
                calls: Calls::OfThreads,
                longest_file: LONGEST_FILE,
            },
            ConfinedRole::HostCode => Rules {
                files: Files {
                    changes: Changes::InPrivateFolder,
                    has_driver: true,
                },
                calls: Calls::OfProcesses,
                longest_file: LONGEST_FILE,
            },
        }
    }
}
