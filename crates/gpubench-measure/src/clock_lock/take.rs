//! The broker's side of a locked clock.

use std::io::{self, BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::order::{Answer, ClockOrder};
use crate::clients::{Interrupt, PROGRAM, Registered, remove_run_variables};
use gpubench_diagnostic::{ExitCode, Expected};
use gpubench_sandbox::{Rights, confine, this_program};

/// The hidden verb of the guardian.
const VERB: &str = "__clocks";

/// How long the guardian may take to lock: the driver may have to wake the GPU.
const LOCKING: Duration = Duration::from_secs(30);

/// How long it may take to unlock.
const UNLOCKING: Duration = Duration::from_secs(10);

/// Longest wait before the flag of Ctrl-C is read again.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Why no clock was locked.
#[derive(Debug, thiserror::Error)]
pub enum ClockLockError {
    /// The device or its driver refuses.
    #[error("{what}")]
    Refused {
        /// What prevents it.
        what: String,
        /// What the user can do.
        hint: String,
    },
    /// The guardian did not start.
    #[error("cannot start the process that unlocks the clocks at the end")]
    Spawn(#[source] io::Error),
    /// The guardian ended or did not answer.
    #[error("the process that locks clocks {0}")]
    Silent(&'static str),
    /// The user ended the run.
    #[error("interrupted")]
    Interrupted,
}

impl Expected for ClockLockError {
    fn exit_code(&self) -> ExitCode {
        match self {
            ClockLockError::Interrupted => ExitCode::Interrupted,
            _ => ExitCode::SetupMissing,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            ClockLockError::Refused { hint, .. } => Some(hint.clone()),
            ClockLockError::Spawn(_) | ClockLockError::Silent(_) => {
                Some("leave out `--lock-clocks`, and look at the GPU with `cargo gpubench doctor`".to_owned())
            }
            ClockLockError::Interrupted => None,
        }
    }
}

/// The clocks of a device may still be locked after the run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the clocks of this GPU may still be locked: {why} (hint: `nvidia-smi -i {identity} -rgc` unlocks them)")]
pub struct StillLocked {
    why: String,
    identity: String,
}

/// A locked clock. Dropping it unlocks the clock.
#[derive(Debug)]
pub struct ClockLock {
    guardian: Guardian,
    megahertz: u32,
}

impl ClockLock {
    /// Locks a clock until the value is dropped, or this process ends.
    ///
    /// # Errors
    /// If the clock cannot be locked. Then it is as before.
    pub fn take(order: &ClockOrder, interrupt: &Interrupt) -> Result<ClockLock, ClockLockError> {
        let mut guardian = Guardian::start(order).map_err(ClockLockError::Spawn)?;
        let deadline = Instant::now() + LOCKING;
        loop {
            if interrupt.is_set() {
                return Err(ClockLockError::Interrupted);
            }
            match guardian.answers.recv_timeout(POLL_INTERVAL) {
                Ok(Answer::Locked { megahertz }) => return Ok(ClockLock { guardian, megahertz }),
                Ok(Answer::Refused { what, hint }) => {
                    guardian.dismiss();
                    return Err(ClockLockError::Refused { what, hint });
                }
                Ok(Answer::Unlocked | Answer::StillLocked { .. }) => {
                    return Err(ClockLockError::Silent("answered out of turn"));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(ClockLockError::Silent("ended too soon")),
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                    return Err(ClockLockError::Silent("did not answer"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Returns the locked clock in MHz.
    pub fn megahertz(&self) -> u32 {
        self.megahertz
    }

    /// Unlocks the clock.
    ///
    /// # Errors
    /// If it may still be locked.
    pub fn release(mut self) -> Result<(), StillLocked> {
        self.guardian.finish()
    }
}

/// The guardian's process. Dropping it makes the guardian unlock and end.
#[derive(Debug)]
struct Guardian {
    process: Child,
    /// Closing it is the order to unlock.
    order: Option<ChildStdin>,
    answers: Receiver<Answer>,
    /// Without it, the process would be killed as one that user code has started.
    registered: Option<Registered>,
    identity: String,
}

impl Guardian {
    fn start(order: &ClockOrder) -> io::Result<Guardian> {
        let mut command = Command::new(this_program());
        command
            .arg0(PROGRAM)
            .args([VERB, &order.device, &order.identity, &order.setting.to_string()])
            .arg(&order.lock_file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        remove_run_variables(&mut command);
        let mut process = confine(&mut command, Rights::LockClocks).spawn()?;
        let stdout = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let (answer, answers) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            // Other text is not an answer; the broker then finds that there is none.
            lines
                .filter_map(|line| serde_json::from_str(&line).ok())
                .try_for_each(|said: Answer| answer.send(said))
        });
        Ok(Guardian {
            registered: Some(Registered::new(process.id())),
            order: process.stdin.take(),
            process,
            answers,
            identity: order.identity.clone(),
        })
    }

    /// Waits for the end of a guardian that has locked nothing.
    fn dismiss(&mut self) {
        self.order = None;
        let _ = self.process.wait();
    }

    /// Makes the guardian unlock, once, and waits for its end.
    fn finish(&mut self) -> Result<(), StillLocked> {
        let Some(order) = self.order.take() else {
            return Ok(());
        };
        drop(order);
        let still_locked = |why: &str| StillLocked {
            why: why.to_owned(),
            identity: self.identity.clone(),
        };
        let answered = match self.answers.recv_timeout(UNLOCKING) {
            Ok(Answer::StillLocked { why }) => Err(still_locked(&why)),
            Ok(_) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err(still_locked("the process that unlocks them was killed")),
            Err(RecvTimeoutError::Timeout) => {
                let unanswered = still_locked("the driver does not answer");
                // It goes on trying. It must not be waited for, nor killed.
                std::mem::forget(self.registered.take());
                return Err(unanswered);
            }
        };
        // It has nothing left to do.
        let _ = self.process.wait();
        answered
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        // An error on the way out of another one.
        if let Err(still_locked) = self.finish() {
            gpubench_diagnostic::print_warning(&still_locked);
        }
    }
}
