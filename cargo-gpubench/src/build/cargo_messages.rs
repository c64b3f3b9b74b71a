//! Listening to a cargo that builds, and ending it when the run is interrupted.

use std::io::{self, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use cargo_metadata::{Artifact, BuildScript, Message};
use gpubench_diagnostic::print_to_stderr;
use rustix::process::{Pid, Signal, kill_process_group};

/// How often a silent build looks for an interruption.
const ATTENTION: Duration = Duration::from_millis(50);

/// How long a build may be silent before a person is told of it.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long cargo may take to end itself.
const GRACE: Duration = Duration::from_secs(5);

/// What cargo says it made.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    pub(super) artifacts: Vec<Artifact>,
    pub(super) build_scripts: Vec<BuildScript>,
}

impl Outputs {
    fn take_in(&mut self, message: Message) {
        match message {
            Message::CompilerArtifact(artifact) => self.artifacts.push(artifact),
            Message::BuildScriptExecuted(script) => self.build_scripts.push(script),
            _ => {}
        }
    }
}

/// Cargo while it builds.
///
/// It leads a process group of its own, so that an interruption ends its compilers and build
/// scripts as well, whether the signal came from a terminal or was sent to this process alone.
pub(super) struct BuildingCargo {
    child: Child,
    messages: Receiver<io::Result<Message>>,
}

impl BuildingCargo {
    /// Starts a command that prints cargo's messages.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).process_group(0).spawn()?;
        let (sender, messages) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || forward_messages(stdout, &sender));
        }
        Ok(Self { child, messages })
    }

    /// Waits for its end. If cargo is silent about the target named by `silent`, and the build
    /// takes long, a message says that cargo is at work.
    ///
    /// # Errors
    ///
    /// Its messages cannot be read, or it cannot be waited for.
    pub(super) fn listen(
        mut self,
        interrupted: &AtomicBool,
        mut silent: Option<&str>,
    ) -> io::Result<(Outputs, ExitStatus)> {
        let (mut outputs, began) = (Outputs::default(), Instant::now());
        loop {
            match self.messages.recv_timeout(ATTENTION) {
                Ok(message) => outputs.take_in(message?),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if interrupted.load(Ordering::Relaxed) => {
                    self.end();
                    break;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(what) = silent.take_if(|_| began.elapsed() > PATIENCE) {
                        print_to_stderr(&format_args!("    Building {what} (`--quiet` hides what cargo says)\n"));
                    }
                }
            }
        }
        Ok((outputs, self.child.wait()?))
    }

    /// Asks the group to end, and ends what is left of it when cargo is gone or does not go.
    ///
    /// Cargo is waited for only afterwards: until then nobody else can get its group's number.
    fn end(&self) {
        self.signal(Signal::INT);
        while let Ok(Ok(_)) = self.messages.recv_timeout(GRACE) {}
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // An error means that nobody is left in the group, which is what is wanted.
            let _ = kill_process_group(group, signal);
        }
    }
}

fn forward_messages(stdout: ChildStdout, receiver: &mpsc::Sender<io::Result<Message>>) {
    for message in Message::parse_stream(BufReader::new(stdout)) {
        if receiver.send(message).is_err() {
            break;
        }
    }
}
