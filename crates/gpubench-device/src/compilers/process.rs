//! Runs a compiler in a separate session, with captured output and a time limit. The user can
//! interrupt it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gpubench_sandbox::confine_compiler;

use super::readable::Readable;

/// The interval between two polls of a running compiler.
const POLL: Duration = Duration::from_millis(2);

/// The most bytes that are read from the standard output or a file of a process.
pub(super) const LONGEST_OUTPUT: u64 = 256 << 20;

/// The most bytes of messages. They end up in records.
const LONGEST_MESSAGES: u64 = 1 << 20;

/// The outcome of a process that ended.
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

/// Why a process has no outcome.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfinished {
    /// It took too long, and was killed with all its children.
    #[error("it did not finish in time")]
    TimedOut,
    /// The user interrupted it, and it was killed with all its children.
    #[error("interrupted")]
    Interrupted,
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// When to kill a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience<'a> {
    pub(super) limit: Duration,
    pub(super) interrupt: &'a AtomicBool,
}

/// Runs a compiler to identify it, with `folder` for its output. The limit is a minute: a library
/// is large, and the disk may be slow.
pub(super) fn describe(
    command: &mut Command,
    input: Stdio,
    folder: &Path,
    readable: &Readable,
) -> Result<Finished, Unfinished> {
    let patience = Patience {
        limit: Duration::from_secs(60),
        interrupt: &AtomicBool::new(false),
    };
    run(command, input, folder, readable, patience)
}

/// Runs a command, which writes files only in `scratch`. Its output goes to files there, so that a
/// surviving child cannot keep a pipe open. They are read through the descriptors that made them:
/// the command may put something else in their place.
pub(super) fn run(
    command: &mut Command,
    input: Stdio,
    scratch: &Path,
    readable: &Readable,
    patience: Patience<'_>,
) -> Result<Finished, Unfinished> {
    let [mut out, mut err] = [output(&scratch.join("stdout"))?, output(&scratch.join("stderr"))?];
    command.stdin(input).stdout(out.try_clone()?).stderr(err.try_clone()?);
    command
        .env("LC_ALL", "C")
        .env("TMPDIR", scratch)
        // Its cache is in the home folder.
        .env("CCACHE_DISABLE", "1");
    let mut group = Group(confine_compiler(command, scratch, readable.paths())?.spawn()?);
    let begun = Instant::now();
    let status = loop {
        match group.0.try_wait()? {
            Some(status) => break status,
            None if patience.interrupt.load(Ordering::Relaxed) => return Err(Unfinished::Interrupted),
            None if begun.elapsed() > patience.limit => return Err(Unfinished::TimedOut),
            None => std::thread::sleep(POLL),
        }
    };
    Ok(Finished {
        status,
        stdout: beginning_of(&mut out, LONGEST_OUTPUT)?,
        stderr: String::from_utf8_lossy(&beginning_of(&mut err, LONGEST_MESSAGES)?).into_owned(),
    })
}

/// Makes a file for the output of a command, in place of what an earlier command left there.
fn output(path: &Path) -> io::Result<File> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = fs_err::OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).open(path)?;
    Ok(file.into_file())
}

fn beginning_of(file: &mut File, longest: u64) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(longest).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A process whose group is killed on drop. If it has ended by itself, its children are assumed to
/// have ended, too.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        if let Some(id) = rustix::process::Pid::from_raw(self.0.id() as i32) {
            // The group may have ended meanwhile.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupting_a_process_also_ends_its_children() {
        let folder = tempfile::tempdir().expect("a directory");
        let interrupt = AtomicBool::new(true);
        let patience = Patience {
            limit: Duration::from_secs(600),
            interrupt: &interrupt,
        };
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & sleep 600"]);
        let outcome = run(
            &mut command,
            Stdio::null(),
            folder.path(),
            &Readable::default(),
            patience,
        );
        assert!(matches!(outcome, Err(Unfinished::Interrupted)));
    }

    #[test]
    fn a_process_that_takes_too_long_is_killed() {
        let folder = tempfile::tempdir().expect("a directory");
        let interrupt = AtomicBool::new(false);
        let patience = Patience {
            limit: Duration::ZERO,
            interrupt: &interrupt,
        };
        let mut command = Command::new("sleep");
        let outcome = run(
            command.arg("600"),
            Stdio::null(),
            folder.path(),
            &Readable::default(),
            patience,
        );
        assert!(matches!(outcome, Err(Unfinished::TimedOut)));
    }
}
