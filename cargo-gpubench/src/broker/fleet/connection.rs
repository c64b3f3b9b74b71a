//! A running command of `--runner`, and what its agent says.

use std::collections::HashSet;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::frame::{Frame, FrameError, banner};
use super::message::{FromAgent, MessageError, ToAgent, frame_of, message_of};
use gpubench_diagnostic::{print_to_stderr, printable_line};
use gpubench_measure::clients::Interrupt;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

/// Messages of an agent that wait for the head.
const WAITING_MESSAGES: usize = 8;

/// The most lines of an agent that are shown, and the most bytes of a line.
const SHOWN_LINES: usize = 200;
const SHOWN_BYTES: u64 = 2_000;

/// How long a command may take to end after its input has, and after SIGKILL.
const END_WITHIN: Duration = Duration::from_secs(5);

/// How long a command may take to end after SIGTERM. Slurm's `srun` takes two seconds longer than
/// its cluster's `KillWait`, by default 32 s, if its node is gone. If it is killed before, its job
/// keeps the node until the job's time limit.
const CLEANS_UP_WITHIN: Duration = Duration::from_secs(60);

/// How long an agent may leave its input unread, and how often a write looks whether the run is
/// over.
const READS_WITHIN: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// What comes from an agent.
pub(super) enum Heard {
    Message(FromAgent),
    /// Nothing, for the time that was waited.
    Nothing,
    /// No more comes.
    End(Ended),
}

/// Why nothing more comes from an agent.
#[derive(Debug, thiserror::Error)]
pub(super) enum Ended {
    /// Its output has ended.
    #[error("it ended")]
    Closed,
    /// Its output is no agent's.
    #[error("the command started no agent{}", said(.0))]
    NoAgent(String),
    /// Its frames are wrong.
    #[error(transparent)]
    Frames(#[from] FrameError),
    /// A message is wrong.
    #[error(transparent)]
    Message(#[from] MessageError),
}

fn said(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!(": it wrote `{}`", printable_line(text)),
    }
}

/// A running command of `--runner`.
pub(super) struct Connection {
    process: Child,
    /// `None` once it is closed.
    input: Option<PatientInput>,
    heard: Receiver<Result<FromAgent, Ended>>,
}

/// Lines that agents have written to standard error. Each is shown once, whoever writes it.
#[derive(Debug, Default)]
pub(super) struct ShownLines(Mutex<HashSet<String>>);

impl ShownLines {
    /// Shows a line of an agent, unless it has been shown or there were too many.
    pub(super) fn show(&self, name: &str, line: &str) {
        let line = line.trim_end();
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if line.is_empty() || shown.len() > SHOWN_LINES || !shown.insert(line.to_owned()) {
            return;
        }
        let text = match shown.len() {
            number if number > SHOWN_LINES => "further lines of agents are not shown".to_owned(),
            _ => printable_line(&anstream::adapter::strip_str(line).to_string()).to_string(),
        };
        print_to_stderr(&format_args!("{name}: {text}\n"));
    }
}

impl Connection {
    /// Starts a command.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn start(
        words: &[String],
        name: &str,
        shown: &Arc<ShownLines>,
        interrupt: &Interrupt,
    ) -> io::Result<Connection> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for the head, which ends its agents.
            .process_group(0)
            .spawn()?;
        let (input, output, errors) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (sender, heard) = sync_channel(WAITING_MESSAGES);
        let (own_name, own_shown) = (name.to_owned(), Arc::clone(shown));
        if let Some(output) = output {
            std::thread::spawn(move || listen(BufReader::new(output), &own_name, &own_shown, &sender));
        }
        let (own_name, own_shown) = (name.to_owned(), Arc::clone(shown));
        if let Some(errors) = errors {
            std::thread::spawn(move || show_lines(BufReader::new(errors), &own_name, &own_shown));
        }
        let patient = |input| PatientInput::of(input, interrupt);
        Ok(Connection {
            process,
            input: input.map(patient).transpose()?,
            heard,
        })
    }

    /// Waits for what comes next, at most for a time.
    pub(super) fn hear(&self, within: Duration) -> Heard {
        match self.heard.recv_timeout(within) {
            Ok(Ok(message)) => Heard::Message(message),
            Ok(Err(ended)) => Heard::End(ended),
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::End(Ended::Closed),
        }
    }

    /// Tells the agent something.
    ///
    /// # Errors
    /// It does not listen.
    pub(super) fn tell(&mut self, message: &ToAgent) -> io::Result<()> {
        self.send(&frame_of(message)?)
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// The agent does not listen.
    pub(super) fn send(&mut self, frame: &Frame) -> io::Result<()> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        frame.write(input)
    }

    /// Ends the command: its agent ends with its standard input. If that takes too long, signals
    /// follow, at once for [`Hurry::Signalled`].
    pub(super) fn end(mut self, hurry: Hurry) -> Option<ExitStatus> {
        drop(self.input.take());
        // The reader must not wait for this thread.
        drop(self.heard);
        let group = Pid::from_child(&self.process);
        if hurry == Hurry::Patient
            && let Some(status) = wait(&mut self.process, END_WITHIN)
        {
            return Some(status);
        }
        // A stopped command must go on to see the first signal.
        let steps: [(&[Signal], Duration); 2] = [
            (&[Signal::TERM, Signal::CONT], CLEANS_UP_WITHIN),
            (&[Signal::KILL], END_WITHIN),
        ];
        for (signals, within) in steps {
            for signal in signals {
                // The group may have ended.
                let _ = kill_process_group(group, *signal);
            }
            if let Some(status) = wait(&mut self.process, within) {
                return Some(status);
            }
        }
        None
    }
}

/// The standard input of a command, which may not read for a while.
struct PatientInput {
    input: ChildStdin,
    interrupt: Interrupt,
}

impl PatientInput {
    fn of(input: ChildStdin, interrupt: &Interrupt) -> io::Result<PatientInput> {
        rustix::io::ioctl_fionbio(&input, true)?;
        Ok(PatientInput {
            input,
            interrupt: interrupt.clone(),
        })
    }
}

impl Write for PatientInput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let began = Instant::now();
        loop {
            match self.input.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return written,
            }
            if self.interrupt.is_set() || began.elapsed() > READS_WITHIN {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let mut polled = [PollFd::new(&self.input, PollFlags::OUT)];
            poll(&mut polled, Some(&BETWEEN_LOOKS))?;
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hurry {
    /// The agent ends by itself.
    Patient,
    /// A signal tells the command at once.
    Signalled,
}

/// Waits for the end of a process, at most for a time.
fn wait(process: &mut Child, within: Duration) -> Option<ExitStatus> {
    let began = Instant::now();
    loop {
        match process.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if began.elapsed() < within => std::thread::sleep(Duration::from_millis(5)),
            _ => return None,
        }
    }
}

/// Returns how a command ended, for messages.
pub(super) fn ending(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("its command ended with code {code}"),
            (None, Some(signal)) => format!("its command was killed by signal {signal}"),
            (None, None) => "its command ended".to_owned(),
        },
        None => "its command did not end".to_owned(),
    }
}

fn listen(
    mut output: BufReader<impl Read>,
    name: &str,
    shown: &ShownLines,
    sender: &SyncSender<Result<FromAgent, Ended>>,
) {
    let mut text = Vec::new();
    let mark = banner(&mut output, &mut text);
    let text = String::from_utf8_lossy(&text);
    match mark {
        Ok(Some(())) => text.lines().for_each(|line| shown.show(name, line)),
        Ok(None) => {
            let last: String = text.chars().take(300).collect();
            let _ = sender.send(Err(Ended::NoAgent(last)));
            return;
        }
        Err(error) => {
            let _ = sender.send(Err(error.into()));
            return;
        }
    }
    loop {
        let heard = match Frame::read(&mut output) {
            Ok(Some(frame)) => message_of(&frame).map_err(Ended::from),
            Ok(None) => Err(Ended::Closed),
            Err(error) => Err(error.into()),
        };
        let is_last = heard.is_err();
        // Nobody listens to an agent that has been ended.
        if sender.send(heard).is_err() || is_last {
            return;
        }
    }
}

/// Shows what an agent's command writes to standard error. Reads to the end, so that nobody waits.
fn show_lines(mut errors: BufReader<impl Read>, name: &str, shown: &ShownLines) {
    loop {
        let mut line = Vec::new();
        match errors.by_ref().take(SHOWN_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => shown.show(name, &String::from_utf8_lossy(&line)),
        }
    }
}

/// Reads a file in pieces, and sends each.
pub(super) fn pieces_of(mut file: impl Read, mut send: impl FnMut(Vec<u8>) -> io::Result<()>) -> io::Result<()> {
    loop {
        let mut piece = Vec::new();
        let read = (&mut file).take(super::frame::PIECE as u64).read_to_end(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        send(piece)?;
    }
}
