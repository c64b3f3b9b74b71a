//! What an agent says: its frames, and that it lives.

use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::frame::{Frame, MARK};
use super::message::{FromAgent, frame_of};
use gpubench_measure::clients::Interrupt;

/// The agent's side of the connection.
pub(super) struct Speaker {
    output: Mutex<File>,
    interrupt: Interrupt,
}

impl Speaker {
    /// Speaks to a file. If nobody listens, the agent ends.
    pub(super) fn of(output: File, interrupt: &Interrupt) -> Speaker {
        Speaker {
            output: Mutex::new(output),
            interrupt: interrupt.clone(),
        }
    }

    /// Says the first words.
    pub(super) fn begin(&self) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if output.write_all(MARK).is_err() {
            self.interrupt.cancel();
        }
        drop(output);
        self.say(&FromAgent::Hello {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            host: host(),
            process: std::process::id(),
        });
    }

    /// Says something.
    pub(super) fn say(&self, message: &FromAgent) {
        let frame = frame_of(message);
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let said = frame.and_then(|frame: Frame| frame.write(&mut *output));
        if said.is_err() {
            self.interrupt.cancel();
        }
    }

    /// Says from now on that the agent lives.
    pub(super) fn keep_alive(self: &Arc<Speaker>, pace: Duration) {
        let speaker = Arc::clone(self);
        std::thread::spawn(move || {
            while !speaker.interrupt.is_set() {
                std::thread::sleep(pace);
                speaker.say(&FromAgent::Heartbeat);
            }
        });
    }
}

/// Returns the name of this machine.
pub(super) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
