//! Ctrl-C, being asked to end, and waits that end with both.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use gpubench_protocol::wire::{Channel, ChannelError, poll_readable};

/// How long a wait may go without looking at the flag.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// Set once the user wants the run to end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
}

impl Interrupt {
    /// Catches SIGINT, SIGTERM, SIGHUP and SIGQUIT from now on. A second one ends the process at
    /// once, as if it were not caught.
    ///
    /// # Errors
    /// When the operating system refuses to install a handler.
    pub fn catch() -> std::io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&interrupt.flag))?;
            signal_hook::flag::register(signal, Arc::clone(&interrupt.flag))?;
        }
        Ok(interrupt)
    }

    /// The flag itself, for waits that look at it on their own.
    pub fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Whether the user wants the run to end.
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// What the broker heard first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelEvent {
    /// Something can be received from the channel at this position, or its peer is gone.
    Channel(usize),
    /// Nothing until the deadline.
    Deadline,
    /// The user wants the run to end.
    Interrupted,
}

/// Waits until one of the channels has something to say, a deadline passes, or the user interrupts.
///
/// # Errors
/// When the operating system refuses to wait.
pub fn listen(channels: &[&Channel], deadline: Instant, interrupt: &Interrupt) -> Result<ChannelEvent, ChannelError> {
    loop {
        if interrupt.is_set() {
            return Ok(ChannelEvent::Interrupted);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        // Sliced, because a signal may arrive just before the wait.
        if let Some(position) = poll_readable(channels, left.min(LOOK_AROUND))? {
            return Ok(ChannelEvent::Channel(position));
        }
        if left.is_zero() {
            return Ok(ChannelEvent::Deadline);
        }
    }
}

/// A moment `within` from now.
pub fn deadline(within: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(within)
        .unwrap_or_else(|| now + Duration::from_secs(365 * 24 * 3600))
}
