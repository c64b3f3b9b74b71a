//! A role's process, started: its variables, its library path and where its output goes.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::log::Log;
use super::role::{Output, RoleName};
use gpubench_protocol::wire::Channel;
use gpubench_sandbox::{in_own_session, this_program};

/// What a role is called in lists of processes.
const PROGRAM: &str = "cargo-gpubench";

/// Says how many hardware queues the driver makes for a context.
const HARDWARE_QUEUES: &str = "CUDA_DEVICE_MAX_CONNECTIONS";

/// As many as the driver makes where nobody says. It is the referee's number that a kernel's time depends on: with one queue there, as training frameworks have their users set it for all processes, a kernel of
/// 3.4 us in a worker took 0.1 us longer on an H200.
const QUEUES_OF_REFEREE: &str = "8";

/// A plan is queued on one stream, and queues are most of what a context's creation and its end take: a case of 20 workers takes 4.05 s with three and 8.33 s with eight. With fewer still, the
/// windows' own parts spread too much for a bound (`docs/measurements/queues.sh`).
const QUEUES_OF_PLAN: &str = "3";

/// A process that was started.
pub(super) struct Spawned {
    pub(super) process: std::process::Child,
    /// The connection to its standard input.
    pub(super) channel: Channel,
    /// What it prints.
    pub(super) log: Log,
}

/// Starts this same program in a role.
pub(super) fn spawn(
    role: RoleName,
    output: Output,
    library_path: &[PathBuf],
    private: Option<&Path>,
) -> std::io::Result<Spawned> {
    let (ours, theirs) = Channel::pair().map_err(std::io::Error::other)?;
    let (log, sink) = Log::open(role, output)?;
    let mut command = command_for(role, library_path, private)?;
    command
        .stdin(Stdio::from(theirs.into_socket()))
        .stdout(Stdio::from(sink.try_clone()?))
        .stderr(Stdio::from(sink));
    Ok(Spawned {
        process: command.spawn()?,
        channel: ours.limited(role.limits()),
        log,
    })
}

/// The program in a role, with the variables that it needs and without its connections.
fn command_for(role: RoleName, library_path: &[PathBuf], private: Option<&Path>) -> std::io::Result<Command> {
    let mut command = Command::new(this_program());
    command
        .arg0(PROGRAM)
        .arg(role.verb())
        // A kernel that is loaded when it is first launched is never loaded behind a stream that waits for *go*.
        .env("CUDA_MODULE_LOADING", "EAGER");
    in_own_session(&mut command);
    remove_run_variables(&mut command);
    if !library_path.is_empty() {
        command.env("LD_LIBRARY_PATH", prepend_library_path(library_path)?);
    }
    match (role, private) {
        (_, Some(private)) => {
            command.env("TMPDIR", private).env("CUDA_CACHE_PATH", private);
        }
        (RoleName::Worker, None) => limit_queues(&mut command, std::env::var_os(HARDWARE_QUEUES)),
        (RoleName::Referee, None) => {
            command.env(HARDWARE_QUEUES, QUEUES_OF_REFEREE);
        }
        (_, None) => {}
    }
    Ok(command)
}

/// Host code may have as many streams as it likes, and is not limited; nor is who has said how many there shall be.
fn limit_queues(command: &mut Command, said: Option<OsString>) {
    if said.is_none() {
        command.env(HARDWARE_QUEUES, QUEUES_OF_PLAN);
    }
}

/// The command's own variables say how the run is made, its seed among them.
fn remove_run_variables(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GPUBENCH_") {
            command.env_remove(name);
        }
    }
}

fn prepend_library_path(paths: &[PathBuf]) -> std::io::Result<std::ffi::OsString> {
    // An empty entry would mean the current directory.
    let inherited = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let all = paths
        .iter()
        .cloned()
        .chain(std::env::split_paths(&inherited).filter(|path| !path.as_os_str().is_empty()));
    std::env::join_paths(all).map_err(std::io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues(command: &Command) -> Option<&str> {
        let mut set = command.get_envs();
        let (_, number) = set.find(|(name, _)| *name == HARDWARE_QUEUES)?;
        number?.to_str()
    }

    #[test]
    fn host_code_has_as_many_queues_as_anywhere_else() {
        let command = command_for(RoleName::Worker, &[], Some(Path::new("/its/own"))).unwrap();
        assert_eq!(queues(&command), None);
        let command = command_for(RoleName::Author, &[], None).unwrap();
        assert_eq!(queues(&command), None);
    }

    #[test]
    fn the_referee_has_as_many_queues_whatever_was_set_for_all_processes() {
        let command = command_for(RoleName::Referee, &[], None).unwrap();
        assert_eq!(queues(&command), Some("8"));
    }

    #[test]
    fn a_plan_has_four_queues_unless_somebody_has_said_how_many() {
        let mut command = Command::new("worker");
        limit_queues(&mut command, Some("8".into()));
        assert_eq!(queues(&command), None);
        limit_queues(&mut command, None);
        assert_eq!(queues(&command), Some("3"));
    }
}
