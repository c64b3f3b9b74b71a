//! The guardian: it locks a clock, waits until the broker is gone or done, and unlocks.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::order::{Answer, ClockOrder};
use gpubench_device::Backend;
use gpubench_device::clocks::{ClockControl, ClockError, LockError, lock};
use gpubench_diagnostic::{Expected as _, create_regular};
use gpubench_sandbox::{RoleError, drop_privileges_to_clean_up, take_standard_output};

/// How often the guardian tries to remove the lock, and the pause between attempts.
const ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// How long the guardian of an earlier run may take to end.
const PREDECESSOR: Duration = Duration::from_secs(5);

/// Why the process could not become a guardian. Nothing was locked.
#[derive(Debug, thiserror::Error)]
pub enum GuardianError {
    /// Its rights could not be given up.
    #[error(transparent)]
    Role(#[from] RoleError),
    /// Its signals or its standard output are not available.
    #[error("cannot prepare signals and standard output")]
    Io(#[from] io::Error),
}

/// Locks a clock in this process, and unlocks it when standard input closes. Prints an answer after
/// each.
///
/// # Errors
/// If the process cannot be prepared. A clock that cannot be locked is an answer.
pub fn guard(order: &ClockOrder) -> Result<(), GuardianError> {
    ignore_signals()?;
    drop_privileges_to_clean_up()?;
    let mut answers = take_standard_output()?;
    let held = match hold(order) {
        Ok((held, megahertz)) => {
            say(&mut answers, &Answer::Locked { megahertz });
            held
        }
        Err(refused) => {
            say(&mut answers, &refused);
            return Ok(());
        }
    };
    wait_for_end();
    say(&mut answers, &held.release());
    Ok(())
}

/// A locked clock. Dropping it unlocks the clock too, if the guardian fails in between.
struct Held {
    clocks: Box<dyn ClockControl>,
    is_locked: bool,
    /// Released after the clock.
    _lock_file: File,
}

impl Held {
    fn release(mut self) -> Answer {
        match self.unlock() {
            Ok(()) => Answer::Unlocked,
            Err(error) => Answer::StillLocked { why: error.to_string() },
        }
    }

    fn unlock(&mut self) -> Result<(), ClockError> {
        if !std::mem::take(&mut self.is_locked) {
            return Ok(());
        }
        for _ in 1..ATTEMPTS {
            if self.clocks.unlock().is_ok() {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        self.clocks.unlock()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Nobody listens any more.
        let _ = self.unlock();
    }
}

/// Locks the clock. Returns it with its MHz, or the answer that says why not.
fn hold(order: &ClockOrder) -> Result<(Held, u32), Answer> {
    let refused = |error: LockError| Answer::Refused {
        what: error.to_string(),
        hint: error.hint().unwrap_or_default(),
    };
    let named = Backend::parse(&order.device).ok().flatten();
    let open = named.and_then(|(backend, _)| backend.clocks);
    let open = open.ok_or_else(|| refused(LockError::NotSupported))?;
    let lock_file = lock_within(&order.lock_file, PREDECESSOR)?;
    let mut clocks = open(&order.identity).map_err(|reason| Answer::Refused {
        what: format!("the clocks of this GPU cannot be reached: {reason}"),
        hint:
            "NVML comes with the GPU's driver, as `libnvidia-ml.so.1`; leave out `--lock-clocks` to measure without it"
                .to_owned(),
    })?;
    let megahertz = lock(order.setting, &mut *clocks).map_err(refused)?;
    let held = Held {
        clocks,
        is_locked: true,
        _lock_file: lock_file,
    };
    Ok((held, megahertz))
}

/// Locks the file of the device's guardian.
fn lock_within(path: &Path, patience: Duration) -> Result<File, Answer> {
    let failed = |error: io::Error| Answer::Refused {
        what: format!("cannot lock `{}`: {error}", path.display()),
        hint: "the file keeps two runs from locking the same clocks; make its folder writable".to_owned(),
    };
    let file = create_regular(path, 0o600).map_err(failed)?;
    let deadline = Instant::now() + patience;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
            Err(std::fs::TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(Answer::Refused {
                    what: "another run has locked the clocks of this GPU".to_owned(),
                    hint: "wait for that run, or leave out `--lock-clocks`".to_owned(),
                });
            }
            Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(PAUSE.min(patience)),
        }
    }
}

/// Ignores the signals that end a run. The broker decides when it is over.
fn ignore_signals() -> io::Result<()> {
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        // The flag replaces the default action, which ends the process.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// Waits until the broker closes standard input, or ends.
fn wait_for_end() {
    let mut ignored = [0; 64];
    let mut input = io::stdin().lock();
    loop {
        match input.read(&mut ignored) {
            Ok(0) => return,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
            _ => {}
        }
    }
}

/// Prints an answer. A broker that is gone does not read it.
fn say(answers: &mut File, answer: &Answer) {
    if let Ok(text) = serde_json::to_string(answer) {
        let _ = writeln!(answers, "{text}");
    }
}
