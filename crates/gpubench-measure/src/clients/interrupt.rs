//! Ctrl-C, and being asked to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// How long a wait may go without looking at the flag.
pub(super) const LOOK_AROUND: Duration = Duration::from_millis(100);

/// Set once the user wants the run to end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
}

impl Interrupt {
    /// Catches SIGINT, SIGTERM and SIGHUP from now on. A second one ends the process at once, as if it were not caught.
    ///
    /// # Errors
    /// When the operating system refuses to install a handler.
    pub fn catch() -> std::io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
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
