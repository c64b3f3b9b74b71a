//! A run of the tool.

use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::fixture::Fixture;
use crate::leftovers::{MARK, Process, Role, processes_of};
use crate::records::Records;
use crate::tool::tool;

/// How long a run may take before it counts as hung, the build of its crate included.
const RUN: Duration = Duration::from_secs(300);
/// How long processes may take to disappear behind a run.
const END: Duration = Duration::from_secs(15);

/// Polls until a condition gives a value.
///
/// # Panics
/// When it does not within `deadline`; `what` says what was waited for.
pub fn wait_until<T>(what: &str, deadline: Duration, mut condition: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(began.elapsed() < deadline, "{what}: not within {deadline:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A run that has not begun.
#[derive(Debug)]
pub struct Run {
    command: Command,
    mark: String,
}

impl Run {
    /// The tool on a fixture, with an environment that says nothing about output or measurement.
    pub fn on(fixture: &Fixture) -> Run {
        Run::through(Command::new(tool()), fixture)
    }

    /// As [`on`](Run::on), behind a line for `sh` such as `ulimit -f 8`.
    pub fn after(shell: &str, fixture: &Fixture) -> Run {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{shell}\nexec \"$0\" \"$@\""), tool().as_str()]);
        Run::through(command, fixture)
    }

    /// A verb of the tool, such as `history`, on a fixture.
    pub fn on_verb(verb: &str, fixture: &Fixture) -> Run {
        let mut command = Command::new(tool());
        command.args(["gpubench", verb]);
        Run::in_environment(command, fixture)
    }

    /// The tool in a folder that belongs to no workspace.
    pub fn outside_of_workspaces(folder: &Utf8Path) -> Run {
        let mut command = Command::new(tool());
        let mark = new_mark();
        command
            .arg("gpubench")
            .current_dir(folder)
            .env(MARK, &mark)
            .env(MEETING, meeting_of_its_own())
            .stdin(Stdio::null());
        Run { command, mark }
    }

    /// A line for `sh`, in which `"$0"` is the tool, in a folder that belongs to no workspace.
    pub fn of_shell(line: &str, folder: &Utf8Path) -> Run {
        let mut command = Command::new("sh");
        let mark = new_mark();
        command
            .args(["-c", line, tool().as_str()])
            .current_dir(folder)
            .env(MARK, &mark)
            .env(MEETING, meeting_of_its_own())
            .stdin(Stdio::null());
        Run { command, mark }
    }

    /// The tool making an archive of a fixture.
    pub fn archiving(fixture: &Fixture, archive: &Utf8Path) -> Run {
        let mut command = Command::new(tool());
        command.args(["gpubench", "archive", "--archive-file", archive.as_str(), "--offline"]);
        Run::in_environment(command, fixture)
    }

    /// The tool on an archive, in `folder`, which also takes its temporary files, and with an
    /// environment in which `programs` are all there is.
    pub fn from_archive(archive: &Utf8Path, folder: &Utf8Path, programs: &Utf8Path) -> Run {
        let mut command = Command::new(tool());
        let mark = new_mark();
        command
            .args(["gpubench", "--archive-file", archive.as_str()])
            .env_clear()
            .env("PATH", programs)
            .env("TMPDIR", folder)
            .env(MARK, &mark)
            .env(MEETING, meeting_of_its_own())
            .current_dir(folder)
            .stdin(Stdio::null());
        Run { command, mark }
    }

    fn through(mut command: Command, fixture: &Fixture) -> Run {
        command.args(["gpubench", "--offline"]);
        Run::in_environment(command, fixture)
    }

    fn in_environment(mut command: Command, fixture: &Fixture) -> Run {
        let mark = new_mark();
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            let changes_output = ["GPUBENCH_", "CLICOLOR"].iter().any(|prefix| name.starts_with(prefix));
            if changes_output || ["NO_COLOR", "CARGO_TERM_COLOR", "COLUMNS", "CXX", "RUSTFLAGS"].contains(&&*name) {
                command.env_remove(&*name);
            }
        }
        command
            .current_dir(fixture.directory())
            .env("CARGO_TARGET_DIR", Fixture::target_directory())
            .env(MARK, &mark)
            .env(MEETING, meeting_of_its_own())
            .stdin(Stdio::null());
        Run { command, mark }
    }

    /// More arguments.
    #[must_use]
    pub fn args<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Run {
        self.command.args(arguments);
        self
    }

    /// A variable of the environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Run {
        self.command.env(name, value);
        self
    }

    /// With few and short measurements: what is checked is not how long it takes.
    #[must_use]
    pub fn briefly(self) -> Run {
        self.args(["--min-samples", "4", "--max-samples", "4", "--max-time", "1min"])
            .args(["--flush-bytes", "256KiB", "--threads", "2"])
            .env("GPUBENCH_WORKERS", "2")
    }

    /// With records on standard output.
    #[must_use]
    pub fn json(self) -> Run {
        self.args(["--message-format", "json"])
    }

    /// Begins.
    ///
    /// # Panics
    /// When the tool cannot be started.
    pub fn start(mut self) -> Running {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the tool starts");
        let stdout = child.stdout.take().expect("it is piped");
        let stderr = child.stderr.take().expect("it is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                // Nobody listens any more when a test has failed.
                let _ = sender.send(line.expect("standard output is UTF-8"));
            }
        });
        let stderr = std::thread::spawn(move || read(stderr));
        let guard = Guard { child, mark: self.mark };
        Running {
            guard,
            lines,
            stdout: String::new(),
            stderr,
        }
    }

    /// Runs to the end, with standard output on something else than a pipe; what is printed there
    /// is not in the result.
    ///
    /// # Panics
    /// As [`finish`](Run::finish).
    pub fn finish_onto(mut self, stdout: OwnedFd) -> Finished {
        self.command.stdout(stdout).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the tool starts");
        // It holds our copy of standard output.
        drop(self.command);
        let stderr = child.stderr.take().expect("it is piped");
        let stderr = std::thread::spawn(move || read(stderr));
        let (_, lines) = channel();
        let guard = Guard { child, mark: self.mark };
        Running {
            guard,
            lines,
            stdout: String::new(),
            stderr,
        }
        .finish()
    }

    /// Runs to the end.
    ///
    /// # Panics
    /// When it does not come to an end, or leaves processes or shared memory behind.
    pub fn finish(self) -> Finished {
        self.start().finish()
    }
}

fn new_mark() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Where runs find each other. Tests run at once, and mean to.
const MEETING: &str = "XDG_RUNTIME_DIR";

fn meeting_of_its_own() -> Utf8PathBuf {
    let folder = Fixture::target_directory().join("runtime").join(new_mark());
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn read(mut stream: impl Read) -> String {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).expect("the stream can be read");
    String::from_utf8_lossy(&text).into_owned()
}

/// Ends whatever there is of a run when a test fails.
#[derive(Debug)]
struct Guard {
    child: Child,
    mark: String,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The run may have ended, and the test fails for another reason.
        let _ = self.child.kill();
        let _ = self.child.wait();
        for process in processes_of(&self.mark) {
            let _ = kill_process(process.pid, Signal::KILL);
        }
    }
}

/// A run that has begun.
#[derive(Debug)]
pub struct Running {
    guard: Guard,
    lines: Receiver<String>,
    stdout: String,
    stderr: JoinHandle<String>,
}

impl Running {
    /// The processes of the run.
    pub fn processes(&self) -> Vec<Process> {
        processes_of(&self.guard.mark)
    }

    /// The first process of a role, once there is one.
    ///
    /// # Panics
    /// When there is none for long.
    pub fn wait_for_role(&self, role: Role) -> Process {
        wait_until(&format!("a {role:?}"), RUN, || {
            self.processes().into_iter().find(|process| process.role == role)
        })
    }

    /// Reads on until a record is found.
    ///
    /// # Panics
    /// When it does not come.
    pub fn wait_for_record(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + RUN;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self
                .lines
                .recv_timeout(left)
                .unwrap_or_else(|error| panic!("{what} did not come: {error}"));
            self.stdout += &line;
            self.stdout.push('\n');
            let record = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in the line `{line}`"));
            if is_it(&record) {
                return record;
            }
        }
    }

    /// Sends a signal to the tool itself.
    ///
    /// # Panics
    /// When it has ended.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.guard.child), signal).expect("the tool runs");
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// When it does not come, or processes or shared memory are left behind.
    pub fn finish(mut self) -> Finished {
        let status = wait_until("the end of the run", RUN, || {
            self.guard.child.try_wait().expect("it is ours")
        });
        let leftovers = || processes_of(&self.guard.mark);
        let began = Instant::now();
        while !leftovers().is_empty() {
            assert!(
                began.elapsed() < END,
                "the run left processes behind: {:#?}",
                leftovers()
            );
            std::thread::sleep(Duration::from_millis(2));
        }
        loop {
            match self.lines.recv_timeout(END) {
                Ok(line) => {
                    self.stdout += &line;
                    self.stdout.push('\n');
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("someone still holds standard output"),
            }
        }
        let stderr = self.stderr.join().expect("the reader ends");
        Finished {
            ending: status.into(),
            stdout: self.stdout,
            stderr,
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Ending {
        status
            .code()
            .map_or_else(|| Ending::Signal(status.signal().unwrap_or(0)), Ending::Code)
    }
}

/// A run that has ended and left nothing behind.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How.
    pub ending: Ending,
    /// What it printed.
    pub stdout: String,
    /// What it said.
    pub stderr: String,
}

impl Finished {
    /// The same, after a look at the code it ended with.
    ///
    /// # Panics
    /// When it ended otherwise; with everything it said.
    #[track_caller]
    #[must_use]
    pub fn expect_code(self, code: i32) -> Finished {
        let Finished { ending, stdout, stderr } = &self;
        let last = |text: &str| {
            text.lines()
                .rev()
                .take(20)
                .map(|line| format!("{line:.300}\n"))
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect::<String>()
        };
        assert_eq!(
            *ending,
            Ending::Code(code),
            "it printed last:\n{}and said:\n{}",
            last(stdout),
            last(stderr)
        );
        self
    }

    /// What was printed, as records.
    ///
    /// # Panics
    /// When it is something else.
    pub fn records(&self) -> Records {
        Records::parse(&self.stdout)
    }

    /// The lines on standard error that begin with `error`.
    pub fn errors(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.starts_with("error")).collect()
    }
}
