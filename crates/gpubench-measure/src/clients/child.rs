//! A process of another role.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::log::Log;
use super::strays::{Registered, end_strays};
use super::{Heard, Interrupt, RoleFailure, listen};
use gpubench_protocol::sandbox::this_program;
use gpubench_protocol::wire::{
    Channel, ChannelError, Frame, Limits, MAX_DESCRIPTORS, Patience, from_referee, from_worker,
};

/// What a role is called in lists of processes.
const PROGRAM: &str = "cargo-gpubench";

/// A frame is sent whole; one whose rest does not follow comes from a peer that is stopped or hostile.
const REST_OF_FRAME: Duration = Duration::from_secs(10);

/// The kind of a frame in which referee and worker say that an order failed.
const FAILED: u32 = from_worker::FAILED;
const _: () = assert!(FAILED == from_referee::FAILED);
const OUT_OF_MEMORY: u32 = from_worker::OUT_OF_MEMORY;
const _: () = assert!(OUT_OF_MEMORY == from_referee::OUT_OF_MEMORY);

/// Which role a process plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleName {
    /// Runs user host code.
    Author,
    /// Generates, keeps, checks.
    Referee,
    /// Replays a plan.
    Worker,
}

impl RoleName {
    /// The hidden verb of the command line that enters the role.
    pub fn verb(self) -> &'static str {
        match self {
            RoleName::Author => "__author",
            RoleName::Referee => "__referee",
            RoleName::Worker => "__worker",
        }
    }
}

impl RoleName {
    /// What the broker takes from the role at most: a worker says nothing but small records.
    fn limits(self) -> Limits {
        match self {
            RoleName::Author => Limits {
                payload: 256 << 20,
                descriptors: 0,
            },
            RoleName::Referee => Limits {
                payload: 1 << 20,
                descriptors: MAX_DESCRIPTORS,
            },
            RoleName::Worker => Limits {
                payload: 4096,
                descriptors: 0,
            },
        }
    }
}

impl std::fmt::Display for RoleName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.verb().trim_start_matches('_'))
    }
}

/// What becomes of what user code prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Kept, and shown with a failure.
    #[default]
    Captured,
    /// Passed through to standard error.
    Inherited,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It left with a code.
    Exited(i32),
    /// A signal killed it.
    Killed(i32),
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> End {
        status
            .code()
            .map_or_else(|| End::Killed(status.signal().unwrap_or(0)), End::Exited)
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Exited(code) => write!(f, "exited with code {code}"),
            End::Killed(signal) => match signal_hook::low_level::signal_name(*signal) {
                Some(name) => write!(f, "was killed by {name}"),
                None => write!(f, "was killed by signal {signal}"),
            },
        }
    }
}

/// Says how many hardware queues the driver makes for a context.
const HARDWARE_QUEUES: &str = "CUDA_DEVICE_MAX_CONNECTIONS";

/// As many as the driver makes where nobody says. It is the referee's number that a kernel's time depends on: with one queue there, as training frameworks have their users set it for all processes, a kernel of
/// 3.4 us in a worker took 0.1 us longer on an H200.
const QUEUES_OF_REFEREE: &str = "8";

/// A plan is queued on one stream, and queues are most of what a context's creation and its end take: a case of 20 workers takes 4.05 s with three and 8.33 s with eight. With fewer still, the
/// windows' own parts spread too much for a bound (`docs/measurements/queues.sh`).
const QUEUES_OF_PLAN: &str = "3";

/// A spawned role. Dropping it kills the process and waits for its end.
#[derive(Debug)]
pub struct Child {
    role: RoleName,
    process: std::process::Child,
    channel: Channel,
    log: Option<Log>,
    registered: Registered,
}

impl Child {
    /// Starts this same program in a role, connected by its standard input, in a process group of its own so that Ctrl-C reaches the broker alone.
    /// `library_path` is searched for shared libraries before the system's; `private` is its folder for temporary files and for the driver's cache, where it has one of its own.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub fn spawn(
        role: RoleName,
        output: Output,
        library_path: &[PathBuf],
        private: Option<&Path>,
    ) -> Result<Child, RoleFailure> {
        let fail = |source| RoleFailure::Spawn { role, source };
        let (ours, theirs) = Channel::pair().map_err(|error| fail(std::io::Error::other(error)))?;
        let ours = ours
            .limited(role.limits())
            .map_err(|error| fail(std::io::Error::other(error)))?;
        let (log, sink) = match output {
            Output::Captured => {
                let (log, sink) = Log::open().map_err(fail)?;
                (Some(log), Some(sink))
            }
            Output::Inherited => (None, None),
        };
        let mut command = command_for(role, library_path, private).map_err(fail)?;
        command.stdin(Stdio::from(theirs.into_socket()));
        for stream in [Command::stdout, Command::stderr] as [fn(&mut Command, Stdio) -> &mut Command; 2] {
            // What user code prints must not reach standard output, which is for data.
            let target = match &sink {
                Some(sink) => Stdio::from(sink.try_clone().map_err(fail)?),
                None => Stdio::from(std::io::stderr()),
            };
            stream(&mut command, target);
        }
        let process = command.spawn().map_err(fail)?;
        let registered = Registered::new(process.id());
        Ok(Child {
            role,
            process,
            channel: ours,
            log,
            registered,
        })
    }

    /// The connection.
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Number of the process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn send(
        &mut self,
        kind: u32,
        parts: &[&[u8]],
        descriptors: &[std::os::fd::BorrowedFd<'_>],
    ) -> Result<(), RoleFailure> {
        self.channel
            .send(kind, parts, descriptors)
            .map_err(|error| self.explain(error))
    }

    /// Receives the frame that the process has begun to send, or learns that it is gone.
    ///
    /// # Errors
    /// When it is gone, or speaks another protocol.
    pub fn receive_now(&mut self) -> Result<Frame, RoleFailure> {
        self.channel
            .receive(Patience::at_most(REST_OF_FRAME))
            .map_err(|error| self.explain(error))
    }

    /// Receives the next frame, waiting at most `within`; a process that is silent for longer is killed.
    ///
    /// # Errors
    /// When the process is gone, silent or hostile, or the user interrupts.
    pub fn receive(&mut self, within: Duration, interrupt: &Interrupt) -> Result<Frame, RoleFailure> {
        match listen(&[&self.channel], deadline(within), interrupt).map_err(|error| self.explain(error))? {
            Heard::Channel(_) => self.receive_now(),
            Heard::Interrupted => Err(RoleFailure::Interrupted),
            Heard::Deadline => {
                self.kill();
                Err(RoleFailure::Silent {
                    role: self.role,
                    within,
                })
            }
        }
    }

    /// Receives a frame of an expected kind.
    ///
    /// # Errors
    /// As [`Child::receive`], and when the frame is another or says that the order failed.
    pub fn expect(&mut self, kind: u32, within: Duration, interrupt: &Interrupt) -> Result<Frame, RoleFailure> {
        let frame = self.receive(within, interrupt)?;
        self.check_kind(frame, kind)
    }

    /// Takes a frame of the referee or a worker for what it should be, or for the [`Problem`](gpubench_protocol::wire::Problem) that both report alike.
    ///
    /// # Errors
    /// When it is another.
    pub fn check_kind(&self, frame: Frame, kind: u32) -> Result<Frame, RoleFailure> {
        let role = self.role;
        match frame.kind {
            found if found == kind => Ok(frame),
            FAILED => Err(RoleFailure::Failed {
                role,
                text: self.problem(&frame)?,
            }),
            OUT_OF_MEMORY => Err(RoleFailure::OutOfMemory {
                role,
                text: self.problem(&frame)?,
            }),
            from_worker::PLAN_REFUSED if role == RoleName::Worker => Err(RoleFailure::Plan {
                text: self.problem(&frame)?,
            }),
            from_referee::GENERATOR_FAILED if role == RoleName::Referee => Err(RoleFailure::Generator {
                text: self.problem(&frame)?,
            }),
            from_referee::REFERENCE_FAILED if role == RoleName::Referee => Err(RoleFailure::Reference {
                text: self.problem(&frame)?,
            }),
            found => Err(RoleFailure::Protocol {
                role,
                text: format!("it sent message `{found}` out of turn"),
            }),
        }
    }

    fn problem(&self, frame: &Frame) -> Result<String, RoleFailure> {
        let problem: gpubench_protocol::wire::Problem = self.record(frame)?;
        Ok(problem.text.printable())
    }

    /// Reads a frame's only record.
    ///
    /// # Errors
    /// As [`Frame::record`].
    pub fn record<R: bytemuck::CheckedBitPattern>(&self, frame: &Frame) -> Result<R, RoleFailure> {
        frame.record().map_err(|error| RoleFailure::Protocol {
            role: self.role,
            text: gpubench_diagnostic::chain(&error),
        })
    }

    /// Kills the process and its group; it can still be asked how it ended.
    pub fn kill(&mut self) {
        self.registered.kill_group();
        // It may have ended already.
        let _ = self.process.kill();
    }

    /// Waits for the end of a process that has closed its connection or was killed.
    pub fn end(&mut self) -> End {
        // A process that closes its connection has a moment to leave by itself.
        let deadline = deadline(Duration::from_millis(500));
        while Instant::now() < deadline {
            match self.process.try_wait() {
                Ok(Some(status)) => return status.into(),
                Ok(None) => std::thread::sleep(Duration::from_micros(200)),
                Err(_) => break,
            }
        }
        self.kill();
        self.process.wait().map_or(End::Killed(0), End::from)
    }

    /// The last of what the process wrote.
    pub fn log_tail(&mut self) -> String {
        self.log.as_ref().map_or_else(String::new, Log::tail)
    }

    fn explain(&mut self, error: ChannelError) -> RoleFailure {
        match error {
            ChannelError::Closed => RoleFailure::Ended {
                role: self.role,
                end: self.end(),
                log: self.log_tail(),
            },
            ChannelError::TimedOut => RoleFailure::Silent {
                role: self.role,
                within: REST_OF_FRAME,
            },
            other => RoleFailure::Protocol {
                role: self.role,
                text: gpubench_diagnostic::chain(&other),
            },
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
        // Reaped, so that nothing is left behind.
        let _ = self.process.wait();
        end_strays();
    }
}

/// A moment `within` from now.
pub fn deadline(within: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(within)
        .unwrap_or_else(|| now + Duration::from_secs(365 * 24 * 3600))
}

/// The program in a role, with the variables that it needs and without its connections.
fn command_for(role: RoleName, library_path: &[PathBuf], private: Option<&Path>) -> std::io::Result<Command> {
    let mut command = Command::new(this_program());
    command
        .arg0(PROGRAM)
        .arg(role.verb())
        // A kernel that is loaded when it is first launched is never loaded behind a stream that waits for *go*.
        .env("CUDA_MODULE_LOADING", "EAGER")
        .process_group(0);
    if role == RoleName::Worker {
        remove_run_variables(&mut command);
    }
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
