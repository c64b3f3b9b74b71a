//! The table of roles and their rights.

use crate::calls::Calls;
use crate::files::{Files, Reads};

/// Longest file of a process with user code, in bytes. Its private folder is on a disk that others
/// use.
const LONGEST_FILE: u64 = 4 << 30;

/// A process of the tool that runs user code or reads user sources.
///
/// The referee, the control worker, workers that replay a plan on a GPU and NVRTC's process run
/// only the tool's code. They call [`drop_privileges`](crate::drop_privileges) and need no row. The
/// guardian of locked clocks outlives the broker: it calls
/// [`drop_privileges_to_clean_up`](crate::drop_privileges_to_clean_up). A probe only leads a
/// session, because the driver may start a privileged program to load its kernel module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfinedRole {
    /// A compiler. It reads a user's source and runs no user code.
    Compiler,
    /// The author: the user's benchmark functions, generators and references on the host.
    Author,
    /// A worker of the CPU device. The user's kernels are native code in it.
    NativeKernels,
    /// A worker with the user's host code, and possibly a driver.
    HostCode,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) files: Files,
    pub(crate) calls: Calls,
    /// Longest file that it can write, in bytes.
    pub(crate) longest_file: u64,
    /// Private memory of a process: the machine's, divided by this.
    pub(crate) share_of_memory: u64,
}

impl ConfinedRole {
    /// All rows.
    #[cfg(test)]
    pub(crate) const ALL: [ConfinedRole; 4] = [
        ConfinedRole::Compiler,
        ConfinedRole::Author,
        ConfinedRole::NativeKernels,
        ConfinedRole::HostCode,
    ];

    /// Returns the rights of the role. No role can open a terminal or a disk.
    pub(crate) const fn rules(self) -> Rules {
        match self {
            ConfinedRole::Compiler => Rules {
                files: Files {
                    reads: Reads::Toolkits,
                    has_driver: false,
                },
                calls: Calls::All,
                // The broker reads the compiler's output whole.
                longest_file: 256 << 20,
                share_of_memory: 2,
            },
            ConfinedRole::Author | ConfinedRole::NativeKernels => Rules {
                files: Files {
                    reads: Reads::Anything,
                    has_driver: false,
                },
                calls: Calls::OfThreads,
                longest_file: LONGEST_FILE,
                share_of_memory: 1,
            },
            ConfinedRole::HostCode => Rules {
                files: Files {
                    reads: Reads::Anything,
                    has_driver: true,
                },
                calls: Calls::OfProcesses,
                longest_file: LONGEST_FILE,
                share_of_memory: 1,
            },
        }
    }
}
