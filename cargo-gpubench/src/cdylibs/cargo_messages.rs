//! Reads the messages of a cargo build and ends it when the run is interrupted.

use std::io::{self, BufReader, IsTerminal as _};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cargo_metadata::{Artifact, BuildScript, Message};
use gpubench_diagnostic::print_to_stderr;
use rustix::process::{Pid, Signal, kill_process_group};

use super::cargo::pass_on;

/// How often a silent build checks for an interrupt.
const ATTENTION: Duration = Duration::from_millis(50);

/// How long a build may be silent before a message appears.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time limit for cargo to end after a signal.
const GRACE: Duration = Duration::from_secs(5);

/// The outputs that cargo reports.
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

/// A running cargo build.
///
/// It leads a separate process group, so that an interrupt also ends compilers and build scripts,
/// whether the signal came from a terminal or was sent only to this process.
pub(super) struct BuildingCargo {
    child: Child,
    complaints: Option<JoinHandle<Vec<u8>>>,
    messages: Receiver<io::Result<Message>>,
}

impl BuildingCargo {
    /// Starts a command that prints cargo's messages.
    ///
    /// # Errors
    ///
    /// The command cannot be started.
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        // On a terminal cargo shows its progress. Elsewhere the output may be a CI system's log.
        if !io::stderr().is_terminal() {
            command.stderr(Stdio::piped());
        }
        let mut child = command.stdout(Stdio::piped()).process_group(0).spawn()?;
        let complaints = child.stderr.take().map(|stderr| thread::spawn(move || pass_on(stderr)));
        let (sender, messages) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || forward_messages(stdout, &sender));
        }
        Ok(Self {
            child,
            complaints,
            messages,
        })
    }

    /// Waits for the end of the build. Prints a message if cargo is silent about the target
    /// `silent` for long.
    ///
    /// # Errors
    ///
    /// The messages cannot be read, or waiting fails.
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
                        print_to_stderr(&format_args!("    Building {what} (`--quiet` hides cargo's output)\n"));
                    }
                }
            }
        }
        let status = self.child.wait()?;
        if let Some(complaints) = self.complaints {
            // The text was shown.
            let _ = complaints.join();
        }
        Ok((outputs, status))
    }

    /// Asks the process group to end, and kills what is left when cargo has ended or does not end.
    ///
    /// Waits for cargo last: until then no other group can get its number.
    fn end(&self) {
        self.signal(Signal::INT);
        while let Ok(Ok(_)) = self.messages.recv_timeout(GRACE) {}
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // An error means that the group is empty, which is the goal.
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
