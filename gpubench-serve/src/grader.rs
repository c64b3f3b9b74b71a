//! A process that grades one task, and its end.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use gpubench_diagnostic::{ExitCode, printable};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Child;
use tokio::sync::watch;
use tokio::time::{interval, sleep, timeout};

use crate::error::ServeError;
use crate::launch;
use crate::verdict;

/// The file of the tool.
const NAME: &str = "cargo-gpubench";

/// How long the tool may clean up when it is asked to end.
const GRACE: Duration = Duration::from_secs(5);

const SECOND: Duration = Duration::from_secs(1);

/// How often the size of its traces is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Most bytes that it may print.
const MOST_PRINTED: usize = 16 << 20;

/// How much of what it printed last is kept as the reason of a failure.
const KEPT: usize = 4096;

/// `cargo gpubench`, as every task runs it.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    path: PathBuf,
    time_limit: Duration,
    arguments: Vec<OsString>,
}

/// The files of a task, by absolute paths.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    pub(crate) definition: &'a Path,
    pub(crate) workloads: PathBuf,
    pub(crate) solution: PathBuf,
    pub(crate) traces: PathBuf,
}

/// How the process ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// By itself, with a verdict. The text is what it printed last.
    Judged(String),
    /// Without one. The text says why.
    Failed(String),
    /// It could not be started.
    Unstarted(String),
    /// The server ends.
    Stopped,
}

impl Tool {
    /// Finds the tool: the given one, or the one next to this program.
    ///
    /// # Errors
    /// There is none that can be executed.
    pub(crate) fn find(
        given: Option<&Path>,
        time_limit: Duration,
        arguments: Vec<OsString>,
    ) -> Result<Tool, ServeError> {
        let next_to_this = || std::env::current_exe().map_or_else(|_| NAME.into(), |own| own.with_file_name(NAME));
        let path = given.map_or_else(next_to_this, Path::to_owned);
        let is_program = |path: &Path| {
            path.metadata()
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        match path.canonicalize() {
            Ok(path) if is_program(&path) => Ok(Tool {
                path,
                time_limit,
                arguments,
            }),
            _ => Err(ServeError::NoTool { path }),
        }
    }

    /// Grades a task on a device. Relative paths of options begin where the server started.
    pub(crate) async fn grade(&self, files: &Files<'_>, device: &str, stopped: &mut watch::Receiver<()>) -> Ending {
        let mut command = launch::command(&self.path);
        command.args(["gpubench", "grade", "--device", device]);
        for (option, file) in [
            ("--definition", files.definition),
            ("--workloads", &files.workloads),
            ("--solution", &files.solution),
            ("--export-trace", &files.traces),
        ] {
            command.arg(option).arg(file);
        }
        command.args(&self.arguments).process_group(0).kill_on_drop(true);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        match command.spawn() {
            Ok(child) => self.watch(child, &files.traces, stopped).await,
            Err(error) => Ending::Unstarted(format!("the tool cannot be started: {error}")),
        }
    }

    async fn watch(&self, mut child: Child, traces: &Path, stopped: &mut watch::Receiver<()>) -> Ending {
        let Some(stderr) = child.stderr.take() else {
            return Ending::Failed("no standard error".to_owned());
        };
        let mut printed = Printed::default();
        let mut reading = Box::pin(printed.read(stderr));
        let mut looks = interval(LOOK);
        let limit = sleep(self.time_limit);
        tokio::pin!(limit);
        let mut reads = true;
        let failed = loop {
            tokio::select! {
                status = child.wait() => {
                    // A process that it started may live and hold the pipe.
                    if reads {
                        let _ = timeout(SECOND, &mut reading).await;
                    }
                    drop(reading);
                    return match status {
                        // Whoever ends the server may send the tool the signal first.
                        Ok(status) if is_interrupted(status) && timeout(SECOND, stopped.changed()).await.is_ok() => {
                            Ending::Stopped
                        }
                        Ok(status) => ended(status, printed),
                        Err(error) => Ending::Failed(error.to_string()),
                    };
                }
                within = &mut reading, if reads => {
                    reads = false;
                    if within == Amount::TooMuch {
                        break Some(format!("the tool printed more than {} MiB", MOST_PRINTED >> 20));
                    }
                }
                () = &mut limit => {
                    break Some(format!("the task took longer than {}", humantime::format_duration(self.time_limit)));
                }
                _ = stopped.changed() => break None,
                _ = looks.tick() => {
                    let length = std::fs::symlink_metadata(traces).map_or(0, |found| found.len());
                    if length > verdict::MOST_BYTES {
                        break Some(format!("the tool wrote more than {} MiB of traces", verdict::MOST_BYTES >> 20));
                    }
                }
            }
        };
        drop(reading);
        let status = end(&mut child).await;
        match (failed, status) {
            (Some(why), _) => Ending::Failed(why),
            // It was over before it was asked to end.
            (None, Some(status)) if is_judged(status) => Ending::Judged(String::new()),
            (None, _) => Ending::Stopped,
        }
    }
}

/// Ends the tool: it may clean up first.
async fn end(child: &mut Child) -> Option<ExitStatus> {
    let pid = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw)?;
    // It may have ended by itself.
    let _ = kill_process(pid, Signal::TERM);
    if let Ok(status) = timeout(GRACE, child.wait()).await {
        return status.ok();
    }
    let _ = kill_process_group(pid, Signal::KILL);
    child.wait().await.ok()
}

/// Whether the tool came to a verdict: all passed, or something failed, or does not compile.
fn is_judged(status: ExitStatus) -> bool {
    let codes = [ExitCode::Success, ExitCode::BenchmarkFailed, ExitCode::BuildFailed];
    status
        .code()
        .is_some_and(|code| codes.iter().any(|judged| i32::from(judged.number()) == code))
}

fn is_interrupted(status: ExitStatus) -> bool {
    let code = status
        .code()
        .is_some_and(|code| code == i32::from(ExitCode::Interrupted.number()));
    code || [Signal::TERM, Signal::INT]
        .iter()
        .any(|signal| status.signal() == Some(signal.as_raw()))
}

fn ended(status: ExitStatus, printed: Printed) -> Ending {
    let last = printed.text();
    if is_judged(status) {
        return Ending::Judged(last);
    }
    Ending::Failed(match last.trim() {
        "" => format!("the tool ended with {status}"),
        last => format!("the tool ended with {status}:\n{last}"),
    })
}

/// What the tool printed last.
#[derive(Debug, Default)]
struct Printed {
    last: VecDeque<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    Fits,
    TooMuch,
}

impl Printed {
    /// Reads to the end, or to the limit.
    async fn read(&mut self, mut from: impl AsyncRead + Unpin) -> Amount {
        let mut buffer = [0; 4096];
        let mut total = 0;
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            total += count;
            if total > MOST_PRINTED {
                return Amount::TooMuch;
            }
            self.last.extend(&buffer[..count]);
            let surplus = self.last.len().saturating_sub(KEPT);
            self.last.drain(..surplus);
        }
        Amount::Fits
    }

    fn text(mut self) -> String {
        printable(&String::from_utf8_lossy(self.last.make_contiguous()))
    }
}
