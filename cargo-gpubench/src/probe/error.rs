//! Why nothing is observed.

use std::io;

use gpubench_diagnostic::{ExitCode, Expected};
use thiserror::Error;

/// Why an observation cannot begin.
#[derive(Debug, Error)]
pub(super) enum ProbeError {
    /// There is no such process.
    #[error("there is no process {pid}")]
    NoProcess {
        /// The pid.
        pid: u32,
        /// The reason.
        source: io::Error,
    },
}

impl Expected for ProbeError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        Some("`nvidia-smi` lists the processes that use a GPU; `--system` observes all".to_owned())
    }
}
