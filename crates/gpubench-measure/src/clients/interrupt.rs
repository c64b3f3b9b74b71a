//! Ctrl-C and other signals that end the run, and waits that they interrupt.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use gpubench_protocol::wire::{Channel, ChannelError, poll_readable};

/// Longest wait before the flag is read again.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A flag that is set when the user ends the run.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
    /// The flag of the run, for an interrupt of a part of it.
    parent: Option<Arc<AtomicBool>>,
}

impl Interrupt {
    /// Catches SIGINT, SIGTERM, SIGHUP and SIGQUIT from now on. A second signal ends the process at
    /// once.
    ///
    /// # Errors
    /// If the operating system refuses to install a handler.
    pub fn catch() -> std::io::Result<Interrupt> {
        Interrupt::catch_all(&[SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    }

    /// Catches the same signals but SIGINT, which is left to a program that shares the terminal and
    /// does nothing here.
    ///
    /// # Errors
    /// If the operating system refuses to install a handler.
    pub fn catch_but_ctrl_c() -> std::io::Result<Interrupt> {
        signal_hook::flag::register(SIGINT, Arc::default())?;
        Interrupt::catch_all(&[SIGTERM, SIGHUP, SIGQUIT])
    }

    fn catch_all(signals: &[i32]) -> std::io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        for signal in signals.iter().copied() {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&interrupt.flag))?;
            signal_hook::flag::register(signal, Arc::clone(&interrupt.flag))?;
        }
        Ok(interrupt)
    }

    /// Returns the interrupt of a part of the run, which can be cancelled alone.
    #[must_use]
    pub fn child(&self) -> Interrupt {
        Interrupt {
            flag: Arc::default(),
            parent: Some(Arc::clone(self.parent.as_ref().unwrap_or(&self.flag))),
        }
    }

    /// Cancels the run, or this part of it.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Returns the flag, for waits that read it themselves.
    pub fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Whether the run, or this part of it, is to end.
    pub fn is_set(&self) -> bool {
        let mut flags = [Some(&self.flag), self.parent.as_ref()].into_iter().flatten();
        flags.any(|flag| flag.load(Ordering::Relaxed))
    }

    /// Sleeps until `length` has passed or the user ends the run.
    pub fn sleep(&self, length: Duration) {
        let end = deadline(length);
        while !self.is_set() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(POLL_INTERVAL));
        }
    }
}

/// The first event of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelEvent {
    /// The channel at this position has data, or its peer has closed it.
    Channel(usize),
    /// The deadline passed.
    Deadline,
    /// The user ended the run.
    Interrupted,
}

/// Waits until a channel has data, the deadline passes or the user ends the run.
///
/// # Errors
/// If the operating system refuses to wait.
pub fn listen(channels: &[&Channel], deadline: Instant, interrupt: &Interrupt) -> Result<ChannelEvent, ChannelError> {
    loop {
        if interrupt.is_set() {
            return Ok(ChannelEvent::Interrupted);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        // The wait is split, because a signal may arrive just before it.
        if let Some(position) = poll_readable(channels, left.min(POLL_INTERVAL))? {
            return Ok(ChannelEvent::Channel(position));
        }
        if left.is_zero() {
            return Ok(ChannelEvent::Deadline);
        }
    }
}

/// Returns the time `within` from now.
pub fn deadline(within: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(within)
        .unwrap_or_else(|| now + Duration::from_secs(365 * 24 * 3600))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_alone_and_with_its_run() {
        let run = Interrupt::default();
        let [one, other] = [run.child(), run.child()];
        one.cancel();
        assert_eq!([&run, &one, &other].map(Interrupt::is_set), [false, true, false]);
        run.cancel();
        assert!(other.is_set());
        assert!(run.child().child().is_set(), "a child of a child, too");
    }

    #[test]
    fn the_end_of_the_run_ends_a_sleep() {
        let run = Interrupt::default();
        let sleeper = run.child();
        let asleep = std::thread::spawn(move || sleeper.sleep(Duration::MAX));
        run.cancel();
        asleep.join().expect("it wakes up");
    }
}
