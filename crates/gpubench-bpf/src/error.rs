//! Why the kernel does not let a process be observed.

use std::io;
use std::path::PathBuf;

use gpubench_diagnostic::{ExitCode, Expected};

/// What could not be done.
#[derive(Debug, thiserror::Error)]
pub enum BpfError {
    /// A system call failed.
    #[error("the kernel refuses to {what}")]
    Refused {
        /// What was asked, as a verb with its object.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The verifier rejects a program: a defect of the program, or a kernel that lacks something.
    #[error("the kernel rejects the program `{program}`: {log}")]
    Rejected {
        /// The program's name.
        program: String,
        /// The end of the verifier's log.
        log: String,
        /// The error number.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("`{}` cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not an ELF file of this machine, a damaged one, or no driver.
    #[error("`{}` is not a library of this machine", path.display())]
    NotElf {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The kernel does not describe a type.
    #[error("this kernel does not describe `{0}`")]
    UnknownType(String),
}

impl BpfError {
    pub(crate) fn last(what: &'static str) -> BpfError {
        BpfError::Refused {
            what,
            source: io::Error::last_os_error(),
        }
    }

    /// Whether this process lacks rights, so that the same will fail again.
    pub fn is_denied(&self) -> bool {
        match self {
            BpfError::Refused { source, .. } | BpfError::Rejected { source, .. } => {
                matches!(source.raw_os_error(), Some(libc::EPERM | libc::EACCES))
            }
            BpfError::Unreadable { source, .. } => source.kind() == io::ErrorKind::PermissionDenied,
            BpfError::NotElf { .. } | BpfError::UnknownType(_) => false,
        }
    }
}

impl Expected for BpfError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        match self {
            _ if self.is_denied() => Some(crate::capabilities::how_to_get_rights()),
            BpfError::UnknownType(_) => Some("use a kernel built with `CONFIG_DEBUG_INFO_BTF=y`".to_owned()),
            BpfError::Rejected { .. } => Some("report it, with the version of the kernel".to_owned()),
            _ => None,
        }
    }
}
