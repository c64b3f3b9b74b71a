//! Starts the process of a role, with its variables, library path and output.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::log::Log;
use super::role::{Output, RoleName};
use super::strays::Registered;
use gpubench_device::Launcher;
use gpubench_protocol::wire::Channel;
use gpubench_sandbox::{Rights, confine, confine_on_terminal, this_program};

/// The name of roles in lists of processes.
pub(crate) const PROGRAM: &str = "cargo-gpubench";

/// The variable for the driver's number of hardware queues per context.
const HARDWARE_QUEUES: &str = "CUDA_DEVICE_MAX_CONNECTIONS";

/// The driver's default. The referee's number affects a kernel's time: with one queue, which
/// training frameworks often set for all processes, a kernel of 3.4 µs in a worker took 0.1 µs
/// longer on an H200.
const QUEUES_OF_REFEREE: &str = "8";

/// With more queues, waiting streams hold the device for a time slice of 2 ms before a window, and
/// the referee's clock misses a second stream's work after the end of a call
/// (`measurements/2026-11-23-queues.md`). A plan uses one stream, and a context with one queue
/// takes half the time to create of one with eight.
const QUEUES_OF_WORKER: &str = "1";

/// A started process.
pub(super) struct Spawned {
    pub(super) process: std::process::Child,
    /// Its place in the list of roles.
    pub(super) registered: Registered,
    /// The connection to its standard input.
    pub(super) channel: Channel,
    /// Its output.
    pub(super) log: Log,
}

/// The session of a role's process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Session {
    /// Its own, without a terminal.
    #[default]
    Own,
    /// The one of the broker, with its terminal, for a debugger.
    OfBroker,
}

/// What a role's process has besides its connection and its output.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoleEnvironment<'a> {
    /// Folders that come before the system's in the search for shared libraries.
    pub library_path: &'a [PathBuf],
    /// The folder for temporary files and the driver's cache, if the role has its own.
    pub private: Option<&'a Path>,
    /// The program that runs the process, if it does not run by itself.
    pub launcher: Option<&'a Launcher>,
    /// The rights that the process needs at most.
    pub rights: Rights,
    /// Its session.
    pub session: Session,
}

/// Starts this program in a role.
pub(super) fn spawn(role: RoleName, output: Output, environment: RoleEnvironment<'_>) -> std::io::Result<Spawned> {
    let (ours, theirs) = Channel::pair().map_err(std::io::Error::other)?;
    let (log, sink) = Log::open(role, output)?;
    let mut command = command_for(role, environment)?;
    command
        .stdin(Stdio::from(theirs.into_socket()))
        .stdout(Stdio::from(sink.try_clone()?))
        .stderr(Stdio::from(sink));
    let (process, registered) = Registered::start(&mut command)?;
    Ok(Spawned {
        process,
        registered,
        channel: ours.limited(role.limits()),
        log,
    })
}

/// Returns the command for a role with its variables, without its connections.
fn command_for(role: RoleName, environment: RoleEnvironment<'_>) -> std::io::Result<Command> {
    let RoleEnvironment {
        library_path,
        private,
        launcher,
        rights,
        session,
    } = environment;
    let mut command = match launcher {
        None => {
            let mut command = Command::new(this_program());
            command.arg0(PROGRAM);
            command
        }
        // To the launcher, `/proc/self/exe` is its own program.
        Some(launcher) => {
            let mut command = Command::new(&launcher.program);
            command.args(&launcher.arguments).arg(std::env::current_exe()?);
            // Functions that the dynamic linker finds at their first call would count there.
            command.env("LD_BIND_NOW", "1");
            command
        }
    };
    command
        .arg(role.verb())
        // Kernels that load at their first launch could load while their stream waits for *go*.
        .env("CUDA_MODULE_LOADING", "EAGER");
    match session {
        Session::Own => confine(&mut command, rights),
        Session::OfBroker => confine_on_terminal(&mut command, rights),
    };
    remove_run_variables(&mut command);
    if !library_path.is_empty() {
        command.env("LD_LIBRARY_PATH", prepend_library_path(library_path)?);
    }
    if let Some(private) = private {
        command.env("TMPDIR", private).env("CUDA_CACHE_PATH", private);
    }
    set_queues(&mut command, role, std::env::var_os(HARDWARE_QUEUES));
    Ok(command)
}

/// Sets the number of queues. A number that the user has set is kept for workers: code with several
/// streams may need more.
fn set_queues(command: &mut Command, role: RoleName, set_by_user: Option<OsString>) {
    match role {
        RoleName::Referee => command.env(HARDWARE_QUEUES, QUEUES_OF_REFEREE),
        RoleName::Worker if set_by_user.is_none() => command.env(HARDWARE_QUEUES, QUEUES_OF_WORKER),
        _ => command,
    };
}

/// Removes the command's own variables. They have the settings of the run, including its seed.
pub(crate) fn remove_run_variables(command: &mut Command) {
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
    fn the_referee_always_has_the_same_number_of_queues() {
        let command = command_for(RoleName::Referee, RoleEnvironment::default()).unwrap();
        assert_eq!(queues(&command), Some("8"));
        let command = command_for(RoleName::Author, RoleEnvironment::default()).unwrap();
        assert_eq!(queues(&command), None);
    }

    #[test]
    fn a_worker_has_one_queue_unless_the_user_sets_the_number() {
        let mut command = Command::new("worker");
        set_queues(&mut command, RoleName::Worker, Some("8".into()));
        assert_eq!(queues(&command), None);
        set_queues(&mut command, RoleName::Worker, None);
        assert_eq!(queues(&command), Some("1"));
    }

    #[test]
    fn host_code_has_private_folders() {
        let command = command_for(
            RoleName::Worker,
            RoleEnvironment {
                private: Some(Path::new("/its/own")),
                ..RoleEnvironment::default()
            },
        )
        .unwrap();
        let of = |wanted: &str| {
            command
                .get_envs()
                .find(|(name, _)| *name == wanted)
                .and_then(|(_, value)| value)
        };
        for name in ["TMPDIR", "CUDA_CACHE_PATH"] {
            assert_eq!(of(name), Some("/its/own".as_ref()));
        }
    }
}
