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

/// The time after which a run counts as hung. It includes the build of its crate.
const RUN: Duration = Duration::from_secs(300);
/// The time within which all processes of a run must end after it.
const END: Duration = Duration::from_secs(15);

/// The variable that limits the duration of a call, and what patient runs set it to.
const TIMEOUT: &str = "GPUBENCH_TIMEOUT";
const PATIENCE: &str = "2min";

/// Polls until `condition` returns a value.
///
/// # Panics
/// If it returns none within `deadline`. `what` names the condition.
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

/// A run that has not started.
#[derive(Debug)]
pub struct Run {
    command: Command,
    mark: String,
}

impl Run {
    /// Returns a run of the tool on a fixture. No environment variable affects its output or
    /// measurement.
    pub fn on(fixture: &Fixture) -> Run {
        Run::through(Command::new(tool()), fixture)
    }

    /// Same as [`on`](Run::on), after a shell command such as `ulimit -f 8`.
    pub fn after(shell: &str, fixture: &Fixture) -> Run {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{shell}\nexec \"$0\" \"$@\""), tool().as_str()]);
        Run::through(command, fixture)
    }

    /// Returns a run of a subcommand, such as `history`, on a fixture.
    pub fn on_verb(verb: &str, fixture: &Fixture) -> Run {
        let mut command = Command::new(tool());
        command.args(["gpubench", verb]);
        Run::in_environment(command, fixture)
    }

    /// Returns a run of the tool in a folder that belongs to no workspace.
    pub fn outside_of_workspaces(folder: &Utf8Path) -> Run {
        let mut command = Command::new(tool());
        let mark = new_mark();
        command
            .arg("gpubench")
            .current_dir(folder)
            .env(MARK, &mark)
            .env(RUNTIME_FOLDER, new_runtime_folder())
            .stdin(Stdio::null());
        Run { command, mark }
    }

    /// Returns a run of a shell command in a folder that belongs to no workspace. `"$0"` is the
    /// tool.
    pub fn of_shell(line: &str, folder: &Utf8Path) -> Run {
        let mut command = Command::new("sh");
        let mark = new_mark();
        command
            .args(["-c", line, tool().as_str()])
            .current_dir(folder)
            .env(MARK, &mark)
            .env(RUNTIME_FOLDER, new_runtime_folder())
            .stdin(Stdio::null());
        Run { command, mark }
    }

    /// Returns a run that writes an archive of a fixture.
    pub fn archiving(fixture: &Fixture, archive: &Utf8Path) -> Run {
        let mut command = Command::new(tool());
        command.args(["gpubench", "archive", "--archive-file", archive.as_str(), "--offline"]);
        Run::in_environment(command, fixture)
    }

    /// Returns a run of an archive. `folder` is its working directory and temporary directory, and
    /// `programs` is its `PATH`. No other environment variable is set.
    pub fn from_archive(archive: &Utf8Path, folder: &Utf8Path, programs: &Utf8Path) -> Run {
        let mut command = Command::new(tool());
        let mark = new_mark();
        command
            .args(["gpubench", "--archive-file", archive.as_str()])
            .env_clear()
            .env("PATH", programs)
            .env("TMPDIR", folder)
            .env(MARK, &mark)
            .env(RUNTIME_FOLDER, new_runtime_folder())
            .current_dir(folder)
            .stdin(Stdio::null());
        Run { command, mark }
    }

    fn through(mut command: Command, fixture: &Fixture) -> Run {
        command.args(["gpubench", "--offline"]);
        let mut run = Run::in_environment(command, fixture);
        // Tests share the target directory: what another one measured is no output of this one.
        run.command.env("GPUBENCH_NO_LAST_RUN", "true");
        run
    }

    /// Compares the run with the last one, as runs of people do. Needs a target directory of its
    /// own.
    #[must_use]
    pub fn comparing_with_last_run(mut self, target_directory: &Utf8Path) -> Run {
        self.command
            .env_remove("GPUBENCH_NO_LAST_RUN")
            .env("CARGO_TARGET_DIR", target_directory);
        self
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
            .env(RUNTIME_FOLDER, new_runtime_folder())
            .stdin(Stdio::null());
        Run { command, mark }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Run {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Run {
        self.command.env(name, value);
        self
    }

    /// Makes the measurement short and patient, for tests that check other things than times.
    #[must_use]
    pub fn briefly(self) -> Run {
        self.patiently()
            .args(["--min-samples", "4", "--max-samples", "4", "--max-time", "1min"])
            .args(["--flush-bytes", "256KiB", "--threads", "2"])
            .env("GPUBENCH_WORKERS", "2")
    }

    /// Gives every call two minutes. A busy machine stops one for more than ten seconds.
    #[must_use]
    pub fn patiently(self) -> Run {
        self.env(TIMEOUT, PATIENCE)
    }

    /// Gives up on a call, or a CPU function, after `limit` in the cases that `filter` matches, and
    /// is patient with all others.
    ///
    /// # Panics
    /// If the file with the limits cannot be written.
    #[must_use]
    pub fn giving_up(mut self, filter: &str, limit: &str) -> Run {
        let file = Fixture::target_directory()
            .join("runtime")
            .join(format!("{}.toml", self.mark));
        let limits = format!(
            "[profile.default]\ntimeout = \"{PATIENCE}\"\nreference-timeout = \"15s\"\n\n\
             [[profile.default.overrides]]\nfilter = \"{filter}\"\n\
             timeout = \"{limit}\"\nreference-timeout = \"{limit}\"\n"
        );
        std::fs::write(&file, limits).expect("a file can be written");
        self.command.env_remove(TIMEOUT);
        self.args(["--config-file", file.as_str()])
    }

    /// Prints records to standard output.
    #[must_use]
    pub fn json(self) -> Run {
        self.args(["--message-format", "json"])
    }

    /// Runs the tool on a terminal of its own, on which nothing is typed. Standard output has
    /// everything that it shows.
    #[must_use]
    pub fn on_terminal(self) -> Run {
        let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"));
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let line: Vec<String> = words.map(quoted).collect();
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--command", &line.join(" "), "/dev/null"]);
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = self.command.get_current_dir() {
            command.current_dir(folder);
        }
        command.stdin(Stdio::null());
        Run {
            command,
            mark: self.mark,
        }
    }

    /// Starts the run.
    ///
    /// # Panics
    /// If the tool cannot be started.
    pub fn start(mut self) -> Running {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the tool starts");
        let stdout = child.stdout.take().expect("it is piped");
        let stderr = child.stderr.take().expect("it is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                // The receiver is gone if the test has failed.
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

    /// Runs to the end with `stdout` as standard output. The result does not contain that output.
    ///
    /// # Panics
    /// Same as [`finish`](Run::finish).
    pub fn finish_onto(mut self, stdout: OwnedFd) -> Finished {
        self.command.stdout(stdout).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the tool starts");
        // The command holds our copy of standard output.
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
    /// If the run does not end, or leaves processes running.
    pub fn finish(self) -> Finished {
        self.start().finish()
    }
}

fn new_mark() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// The variable that names the folder in which runs on one machine find each other. Tests run in
/// parallel, so each run has its own folder.
const RUNTIME_FOLDER: &str = "XDG_RUNTIME_DIR";

fn new_runtime_folder() -> Utf8PathBuf {
    let folder = Fixture::target_directory().join("runtime").join(new_mark());
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn read(mut stream: impl Read) -> String {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).expect("the stream can be read");
    String::from_utf8_lossy(&text).into_owned()
}

/// Kills all processes of a run when a test fails.
#[derive(Debug)]
struct Guard {
    child: Child,
    mark: String,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The run may have ended before the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
        for process in processes_of(&self.mark) {
            let _ = kill_process(process.pid, Signal::KILL);
        }
    }
}

/// A run in progress.
#[derive(Debug)]
pub struct Running {
    guard: Guard,
    lines: Receiver<String>,
    stdout: String,
    stderr: JoinHandle<String>,
}

impl Running {
    /// Returns the processes of the run.
    pub fn processes(&self) -> Vec<Process> {
        processes_of(&self.guard.mark)
    }

    /// Waits for a process of a role and returns the first.
    ///
    /// # Panics
    /// If none starts in time.
    pub fn wait_for_role(&self, role: Role) -> Process {
        wait_until(&format!("a {role:?}"), RUN, || {
            self.processes().into_iter().find(|process| process.role == role)
        })
    }

    /// Reads records until one matches.
    ///
    /// # Panics
    /// If none matches in time.
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

    /// Returns how many results have come so far.
    pub fn results_so_far(&mut self) -> usize {
        for line in self.lines.try_iter() {
            self.stdout += &line;
            self.stdout.push('\n');
        }
        let is_result = |line: &&str| line.contains(r#""reason":"benchmark-complete""#);
        self.stdout.lines().filter(is_result).count()
    }

    /// Sends a signal to the tool.
    ///
    /// # Panics
    /// If the tool has ended.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.guard.child), signal).expect("the tool runs");
    }

    /// Waits for the end of the run.
    ///
    /// # Panics
    /// If the run does not end, or leaves processes running.
    pub fn finish(mut self) -> Finished {
        let status = wait_until("the end of the run", RUN, || {
            self.guard.child.try_wait().expect("it is ours")
        });
        let leftovers = || processes_of(&self.guard.mark);
        let began = Instant::now();
        while !leftovers().is_empty() {
            assert!(
                began.elapsed() < END,
                "the run left processes running: {:#?}",
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

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Exited with a code.
    Code(i32),
    /// Killed by a signal.
    Signal(i32),
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Ending {
        status
            .code()
            .map_or_else(|| Ending::Signal(status.signal().unwrap_or(0)), Ending::Code)
    }
}

/// A run that has ended and left no processes running.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How the tool ended.
    pub ending: Ending,
    /// The text on standard output.
    pub stdout: String,
    /// The text on standard error.
    pub stderr: String,
}

impl Finished {
    /// Checks the exit code.
    ///
    /// # Panics
    /// If it differs. The message has the last lines of both outputs.
    #[track_caller]
    #[must_use]
    pub fn expect_code(self, code: i32) -> Finished {
        let Finished { ending, stdout, stderr } = &self;
        let last = |text: &str| {
            text.lines()
                .rev()
                .take(20)
                .map(|line| format!("{line:.2000}\n"))
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect::<String>()
        };
        assert_eq!(
            *ending,
            Ending::Code(code),
            "standard output ends with:\n{}standard error ends with:\n{}",
            last(stdout),
            last(stderr)
        );
        self
    }

    /// Returns standard output as records.
    ///
    /// # Panics
    /// If a line is not JSON.
    pub fn records(&self) -> Records {
        Records::parse(&self.stdout)
    }

    /// Returns the lines on standard error that begin with `error`.
    pub fn errors(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.starts_with("error")).collect()
    }
}
