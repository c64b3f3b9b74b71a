//! What an agent hears: the frames of the head.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::agent_error::AgentError;
use super::frame::Frame;
use super::message::{ToAgent, message_of};
use gpubench_diagnostic::{ExitCode, Failure, Interrupted, chain, print_warning};
use gpubench_measure::clients::Interrupt;

/// How long an agent has to end after its head.
const END_WITHIN: Duration = Duration::from_secs(20);

/// How long it waits for a frame before it looks whether it must end.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Frames that wait for the agent.
const WAITING_FRAMES: usize = 4;

/// Receives the frames of the head.
pub(super) struct Listener {
    frames: Receiver<Frame>,
    interrupt: Interrupt,
}

impl Listener {
    /// Reads frames from now on. The end of the head interrupts this process.
    pub(super) fn of(mut input: File, interrupt: &Interrupt) -> Listener {
        let (sender, frames) = sync_channel(WAITING_FRAMES);
        let ends = interrupt.clone();
        std::thread::spawn(move || {
            loop {
                match Frame::read(&mut input) {
                    Ok(Some(frame)) => {
                        if sender.send(frame).is_err() {
                            break;
                        }
                    }
                    Ok(None) => break,
                    Err(error) => {
                        print_warning(&format_args!("the run's connection is broken: {}", chain(&error)));
                        break;
                    }
                }
            }
            ends.cancel();
            drop(sender);
            // The processes of a case end with this one.
            std::thread::sleep(END_WITHIN);
            std::process::exit(i32::from(ExitCode::Interrupted.number()));
        });
        Listener {
            frames,
            interrupt: interrupt.clone(),
        }
    }

    /// Waits for the next frame.
    fn next(&self) -> Result<Frame, Interrupted> {
        loop {
            if self.interrupt.is_set() {
                return Err(Interrupted);
            }
            match self.frames.recv_timeout(BETWEEN_LOOKS) {
                Ok(frame) => return Ok(frame),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Interrupted),
            }
        }
    }

    /// Waits for the next piece of a file.
    ///
    /// # Errors
    /// The head has ended, or sends something else.
    pub(super) fn piece(&self) -> io::Result<Vec<u8>> {
        match self.next() {
            Ok(Frame::Piece(piece)) => Ok(piece),
            Ok(Frame::Message(_)) => Err(io::Error::other("a message came instead of a piece of a file")),
            Err(Interrupted) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// The head has ended, or says what is no message.
    pub(super) fn message(&self) -> Result<ToAgent, Failure> {
        let frame = self.next()?;
        message_of(&frame).map_err(|error| AgentError::Protocol(chain(&error)).into())
    }
}
