//! Why nothing is observed.

use std::io;

use gpubench_diagnostic::{ExitCode, Expected, Failure};
use gpubench_observe::ObserveError;
use thiserror::Error;

/// Why an observation cannot begin.
#[derive(Debug, Error)]
pub(super) enum ProbeError {
    /// There is no such process.
    #[error("there is no process {pid}")]
    NoProcess {
        /// The pid.
        pid: u32,
    },
    /// The command does not start.
    #[error("`{program}` cannot be started")]
    NoProgram {
        /// Its first word.
        program: String,
        /// The reason.
        source: io::Error,
    },
    /// Two options that write to standard output.
    #[error("`{one}` and `{other}` both write to standard output")]
    StandardOutputTaken {
        /// The first option.
        one: &'static str,
        /// The second option.
        other: &'static str,
    },
    /// An option has too many values.
    #[error("`{option}` takes at most {most} values")]
    TooManyValues {
        /// The option.
        option: &'static str,
        /// How many it takes.
        most: usize,
    },
    /// All processes are wanted, with rights of the executable.
    #[error("the capabilities of this executable do not cover the processes of other users")]
    OtherUsers,
    /// A process is another user's.
    #[error("process `{pid}` is of another user, whom the capabilities of this executable do not cover")]
    OfAnotherUser {
        /// The process.
        pid: u32,
    },
    /// Metrics are wanted where calls cannot be observed.
    #[error("there are no metrics without the calls that processes make")]
    Metrics {
        /// Why calls cannot be observed.
        source: ObserveError,
    },
}

impl ProbeError {
    /// Returns why a program or process cannot be observed. What the user named wrongly is a
    /// mistake in the command line.
    pub(super) fn from_observe(error: ObserveError) -> Failure {
        match error {
            ObserveError::Start { program, source } => ProbeError::NoProgram { program, source }.into(),
            ObserveError::NoProcess(pid) => ProbeError::NoProcess { pid }.into(),
            error => error.into(),
        }
    }
}

impl Expected for ProbeError {
    fn exit_code(&self) -> ExitCode {
        match self {
            ProbeError::NoProcess { .. }
            | ProbeError::NoProgram { .. }
            | ProbeError::StandardOutputTaken { .. }
            | ProbeError::TooManyValues { .. } => ExitCode::Usage,
            ProbeError::OtherUsers | ProbeError::OfAnotherUser { .. } | ProbeError::Metrics { .. } => {
                ExitCode::SetupMissing
            }
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            ProbeError::NoProcess { .. } => {
                Some("`nvidia-smi` lists the processes that use a GPU; `--system` observes all".to_owned())
            }
            ProbeError::NoProgram { program, source } => hint_for(program, source),
            ProbeError::StandardOutputTaken { .. } => Some("name a file instead of `-` for one of them".to_owned()),
            ProbeError::TooManyValues { .. } => Some("`--system` observes all processes".to_owned()),
            ProbeError::OtherUsers | ProbeError::OfAnotherUser { .. } => Some("run it as root".to_owned()),
            ProbeError::Metrics { source } => source.hint(),
        }
    }
}

/// Returns what helps with a program that does not start.
fn hint_for(program: &str, source: &io::Error) -> Option<String> {
    let is_path = program.contains('/');
    let runs_with_sudo = std::env::var_os("SUDO_USER").is_some();
    match rustix::io::Errno::from_io_error(source)? {
        rustix::io::Errno::NOENT if program.contains(' ') && !is_path => {
            Some("write the program and its arguments as separate words, without quotes around all of them".to_owned())
        }
        rustix::io::Errno::NOENT if !is_path && std::path::Path::new(program).is_file() => {
            Some(format!("a program in this folder is named by its path: `./{program}`"))
        }
        rustix::io::Errno::NOENT if !is_path && runs_with_sudo => Some(format!(
            "`sudo` has a `PATH` of its own: name the program by its path, as in `\"$(which {program})\"`"
        )),
        rustix::io::Errno::NOENT if is_path && std::path::Path::new(program).exists() => {
            Some("the interpreter in its first line, or its loader, does not exist".to_owned())
        }
        rustix::io::Errno::NOENT => {
            Some("check the spelling: what follows `--` is a program with its arguments".to_owned())
        }
        rustix::io::Errno::ACCESS => Some(format!("is it executable? `chmod +x {program}`")),
        rustix::io::Errno::NOEXEC => Some(format!(
            "name the interpreter of a script, as in `-- python {program}` or `-- sh {program}`"
        )),
        _ => None,
    }
}
