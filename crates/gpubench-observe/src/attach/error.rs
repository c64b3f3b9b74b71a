//! Why nothing can be observed.

use std::io;

use gpubench_bpf::{BpfError, HoldError, Missing};
use gpubench_diagnostic::{ExitCode, Expected};

/// Why nothing can be observed.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The machine does not allow it.
    #[error("cannot observe CUDA calls on this machine: {}", .0.what)]
    NotAllowed(Missing),
    /// The observer is in a container whose `/proc` shows other process ids than its own.
    #[error("`/proc` shows other process ids than this process has")]
    OwnProcessIds,
    /// The kernel refuses.
    #[error(transparent)]
    Kernel(#[from] BpfError),
    /// There is no room for a process.
    #[error(transparent)]
    Hold(#[from] HoldError),
    /// The program does not run.
    #[error("`{program}` cannot be started")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// There is no such process.
    #[error("there is no process `{0}`")]
    NoProcess(u32),
}

impl Expected for ObserveError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        match self {
            ObserveError::NotAllowed(missing) => Some(missing.remedy.clone()),
            ObserveError::OwnProcessIds => {
                Some(
                "mount `/proc` in the container, or start it with the host's process ids, as `docker run --pid=host` does"
                    .to_owned(),
            )
            }
            ObserveError::Kernel(error) => error.hint(),
            ObserveError::NoProcess(_) => Some("`nvidia-smi` lists the processes on GPUs".to_owned()),
            ObserveError::Hold(_) | ObserveError::Start { .. } => None,
        }
    }
}
