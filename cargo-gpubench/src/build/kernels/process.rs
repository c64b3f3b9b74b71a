//! Running a compiler: its own process group, output captured, a limit of time.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often a running compiler is looked at.
const POLL: Duration = Duration::from_millis(2);

/// What a process left.
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// How a process ended.
pub(super) enum Outcome {
    Finished(Finished),
    /// It was killed with everything it had started.
    TimedOut,
}

/// Runs a command; its output goes through files in `scratch`, so that a process it leaves behind cannot keep a pipe open.
pub(super) fn run(command: &mut Command, scratch: &Path, limit: Duration) -> io::Result<Outcome> {
    let (out, err) = (scratch.join("stdout"), scratch.join("stderr"));
    command
        .stdin(Stdio::null())
        .stdout(fs_err::File::create(&out)?.into_file())
        .stderr(fs_err::File::create(&err)?.into_file());
    let mut group = Group(command.env("LC_ALL", "C").process_group(0).spawn()?);
    let begun = Instant::now();
    let status = loop {
        match group.0.try_wait()? {
            Some(status) => break status,
            None if begun.elapsed() > limit => return Ok(Outcome::TimedOut),
            None => std::thread::sleep(POLL),
        }
    };
    let text = |path| fs_err::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Outcome::Finished(Finished {
        status,
        stdout: text(out)?,
        stderr: text(err)?,
    }))
}

/// A process and its descendants, ended when it goes out of scope.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        if let Some(id) = rustix::process::Pid::from_raw(self.0.id() as i32) {
            // The group may have ended by itself meanwhile.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
        let _ = self.0.wait();
    }
}
