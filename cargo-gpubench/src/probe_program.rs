//! The program `gpubench-probe`, which observes processes. It is installed by itself, and only it
//! uses rights.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpubench_contract::ProbeAbilities;
use gpubench_diagnostic::{ExitCode, Expected};
use gpubench_sandbox::{Rights, execute_with_rights, spawn_with_rights};
use thiserror::Error;

/// The name of its file.
const NAME: &str = "gpubench-probe";

/// The program `gpubench-probe`.
#[derive(Clone, Debug)]
pub struct ProbeProgram(PathBuf);

/// Why there is nothing that observes processes.
#[derive(Debug, Error)]
pub enum ProbeProgramError {
    /// It is not installed.
    #[error("`{NAME}`, the program that observes processes, is not installed")]
    Missing,
    /// It cannot be run.
    #[error("cannot run `{}`", program.display())]
    Broken {
        /// The program.
        program: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It says something else than it should.
    #[error("`{}` is of another version", program.display())]
    OtherVersion {
        /// The program.
        program: PathBuf,
    },
}

impl Expected for ProbeProgramError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        let version = env!("CARGO_PKG_VERSION");
        match self {
            Self::Missing => Some(format!(
                "`cargo install --locked {NAME}` puts it next to `cargo-gpubench`; it is found there or in the `PATH`"
            )),
            Self::OtherVersion { .. } => Some(format!(
                "`cargo install --locked {NAME}@{version}` installs the one of this version"
            )),
            Self::Broken { .. } => None,
        }
    }
}

impl ProbeProgram {
    /// Finds it next to the running program, or else in an absolute folder of `PATH`.
    ///
    /// # Errors
    /// It is nowhere.
    pub fn find() -> Result<ProbeProgram, ProbeProgramError> {
        let own = std::env::current_exe().ok();
        let own_folder = own.as_deref().and_then(Path::parent).map(Path::to_owned);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        let files = own_folder.into_iter().chain(folders).map(|folder| folder.join(NAME));
        let mut found = files.filter(|file| is_executable(file));
        found.next().map(ProbeProgram).ok_or(ProbeProgramError::Missing)
    }

    /// Executes it in place of this process. Returns only if that fails, with the reason.
    pub fn execute(self, arguments: &[OsString]) -> ProbeProgramError {
        let source = execute_with_rights(Command::new(&self.0).args(arguments), Rights::Observe);
        ProbeProgramError::Broken {
            program: self.0,
            source,
        }
    }

    /// Asks it what this machine lets be observed.
    ///
    /// # Errors
    /// It does not run, or does not answer as the one of this version does.
    pub fn abilities(&self) -> Result<ProbeAbilities, ProbeProgramError> {
        let mut command = Command::new(&self.0);
        command
            .arg("--abilities")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let asked = spawn_with_rights(&mut command, Rights::Observe).and_then(std::process::Child::wait_with_output);
        let answer = asked.map_err(|source| self.broken(source))?;
        let abilities: Option<ProbeAbilities> = serde_json::from_slice(&answer.stdout).ok();
        let of_this_version = |abilities: &ProbeAbilities| abilities.tool_version == env!("CARGO_PKG_VERSION");
        abilities.filter(of_this_version).ok_or_else(|| self.of_other_version())
    }

    /// Returns the command that serves an audit.
    pub(crate) fn auditor(&self) -> Command {
        let mut command = Command::new(&self.0);
        command.arg("--audit");
        command
    }

    pub(crate) fn broken(&self, source: io::Error) -> ProbeProgramError {
        ProbeProgramError::Broken {
            program: self.0.clone(),
            source,
        }
    }

    pub(crate) fn of_other_version(&self) -> ProbeProgramError {
        ProbeProgramError::OtherVersion {
            program: self.0.clone(),
        }
    }
}

fn is_executable(file: &Path) -> bool {
    let execute = 0o111;
    file.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & execute != 0)
}
