//! A program that waits to be started until it is observed.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::thread::JoinHandle;

/// A process that exists, but does not run its program yet.
///
/// If this is dropped, or this process ends, the child ends without running the program.
#[derive(Debug)]
pub struct HeldChild {
    pid: u32,
    gate: PipeWriter,
    /// Starting a program returns when the program runs.
    starting: JoinHandle<io::Result<Child>>,
}

/// Why a program does not start.
#[derive(Debug, thiserror::Error)]
#[error("`{program}` cannot be started")]
pub struct HoldError {
    program: String,
    source: io::Error,
}

impl HeldChild {
    /// Starts a process that will run `command`.
    ///
    /// # Errors
    ///
    /// If there is no room for a process. Whether the program exists turns out at the release.
    pub fn start(mut command: Command) -> Result<HeldChild, HoldError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |source| HoldError {
            program: program.clone(),
            source,
        };
        let (gate_end, gate) = io::pipe().map_err(failed)?;
        let (mut report, report_end) = io::pipe().map_err(failed)?;
        let gate_descriptor = gate.as_raw_fd();
        let starting = std::thread::spawn(move || {
            let (gate_end, report_end) = (gate_end, report_end);
            let (wait_at, tell) = (gate_end.as_raw_fd(), report_end.as_raw_fd());
            // SAFETY: the function makes only system calls, which is allowed after a fork.
            unsafe { command.pre_exec(move || tell_and_wait(tell, wait_at, gate_descriptor)) };
            let child = command.spawn();
            drop::<(PipeReader, PipeWriter)>((gate_end, report_end));
            child
        });
        let mut pid = [0; 4];
        match report.read_exact(&mut pid) {
            Ok(()) => Ok(HeldChild {
                pid: u32::from_ne_bytes(pid),
                gate,
                starting,
            }),
            Err(_) => {
                Err(failed(ended(starting).err().unwrap_or_else(|| {
                    io::Error::other("it ended before it told its process id")
                })))
            }
        }
    }

    /// Returns the process id, which the program will have.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Lets the program run.
    ///
    /// # Errors
    ///
    /// If there is no such program, or it cannot be run.
    pub fn release(mut self) -> io::Result<Child> {
        // A child that a signal has ended reads nothing. Its status tells.
        let _ = self.gate.write_all(&[1]);
        ended(self.starting)
    }
}

fn ended(starting: JoinHandle<io::Result<Child>>) -> io::Result<Child> {
    starting
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
}

/// Resets the signals that the parent catches, so that they end this process as they would end the
/// program.
fn end_at_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: all zeros is an action, which is the default one, and both outlive the calls.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut action);
            if action.sa_sigaction != libc::SIG_IGN {
                libc::sigaction(signal, &std::mem::zeroed(), std::ptr::null_mut());
            }
        }
    }
}

/// Writes the own process id, then waits for a byte. Runs between fork and exec.
fn tell_and_wait(tell: i32, wait_at: i32, gate: i32) -> io::Result<()> {
    let mut byte = 0_u8;
    // SAFETY: the descriptors are open, and the memory is as long as told.
    unsafe {
        let pid = libc::getpid().to_ne_bytes();
        // The child must not keep its own gate open: its parent's end tells it to give up.
        libc::close(gate);
        end_at_signals();
        if libc::write(tell, pid.as_ptr().cast(), pid.len()) != 4 {
            return Err(io::Error::last_os_error());
        }
        loop {
            match libc::read(wait_at, (&raw mut byte).cast(), 1) {
                1 => return Ok(()),
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => return Err(io::Error::from_raw_os_error(libc::ECANCELED)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    fn state(pid: u32) -> Option<std::path::PathBuf> {
        std::fs::read_link(format!("/proc/{pid}/exe")).ok()
    }

    #[test]
    fn the_program_runs_only_after_the_release_and_keeps_its_process_id() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$"]).stdout(std::process::Stdio::piped());
        let held = HeldChild::start(command).expect("a process");
        let pid = held.pid();
        assert_eq!(
            state(pid),
            state(std::process::id()),
            "it is still a copy of this process"
        );
        let output = held.release().expect("it runs").wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), pid.to_string());
    }

    #[test]
    fn a_program_that_does_not_exist_is_told_at_the_release() {
        let held = HeldChild::start(Command::new("/nowhere/at/all")).expect("a process");
        let error = held.release().expect_err("there is no such program");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_signal_that_the_parent_catches_ends_a_held_child() {
        extern "C" fn caught(_signal: i32) {}
        // SAFETY: the handler does nothing, so it may run at any time.
        unsafe { libc::signal(libc::SIGUSR2, caught as *const () as libc::sighandler_t) };
        let held = HeldChild::start(Command::new("true")).expect("a process");
        // SAFETY: the child is not waited for yet, so the process id is its own.
        unsafe { libc::kill(held.pid().cast_signed(), libc::SIGUSR2) };
        let status = held.release().expect("a child").wait().expect("it ends");
        assert_eq!(status.signal(), Some(libc::SIGUSR2));
    }

    #[test]
    fn a_dropped_child_never_runs_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace");
        let mut command = Command::new("touch");
        command.arg(&trace);
        let HeldChild { gate, starting, .. } = HeldChild::start(command).expect("a process");
        drop(gate);
        let error = ended(starting).expect_err("it gave up");
        assert_eq!(error.raw_os_error(), Some(libc::ECANCELED));
        assert!(!trace.exists());
    }
}
