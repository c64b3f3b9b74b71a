//! Signals that end an observation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::process::{Pid, Signal, getpgrp, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use gpubench_diagnostic::{Failure, InternalError};

/// The first signal that asked for the end. A second one ends the process at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals {
    came: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
}

impl Signals {
    /// Catches the signals from now on.
    ///
    /// # Errors
    /// The operating system refuses.
    pub(super) fn catch() -> Result<Self, Failure> {
        let signals = Self::default();
        let caught = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().try_for_each(|signal| {
            signal_hook::flag::register_conditional_default(signal, signals.came.clone())?;
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, signals.number.clone(), number)?;
            signal_hook::flag::register(signal, signals.came.clone()).map(drop)
        });
        caught.map_err(InternalError::because("cannot handle signals"))?;
        Ok(signals)
    }

    /// Acts as a signal does.
    #[cfg(test)]
    pub(super) fn interrupt(&self) {
        self.came.store(true, Ordering::Relaxed);
    }

    /// Whether the observation is to end.
    pub(super) fn came(&self) -> bool {
        self.came.load(Ordering::Relaxed)
    }

    /// Passes the signal on to the command, unless the terminal has already sent it to both.
    pub(super) fn pass_on(&self, child: u32) {
        let number = i32::try_from(self.number.load(Ordering::Relaxed)).unwrap_or_default();
        let is_of_a_key = matches!(number, SIGINT | SIGQUIT);
        if is_of_a_key && is_in_the_foreground() {
            return;
        }
        let child = i32::try_from(child).ok().and_then(Pid::from_raw);
        if let (Some(child), Some(signal)) = (child, Signal::from_named_raw(number)) {
            // It may have ended by itself.
            let _ = kill_process(child, signal);
        }
    }
}

/// Whether keys on the terminal send signals to this process, and so to its children.
fn is_in_the_foreground() -> bool {
    let terminal = std::fs::File::open("/dev/tty");
    terminal.is_ok_and(|terminal| rustix::termios::tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp()))
}
