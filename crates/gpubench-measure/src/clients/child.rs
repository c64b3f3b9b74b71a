//! A process of another role.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::RoleFailure;
use super::interrupt::{ChannelEvent, Interrupt, deadline, listen};
use super::log::Log;
use super::role::{End, Output, RoleName};
use super::spawn::spawn;
use super::strays::{Registered, end_strays};
use gpubench_protocol::wire::{Channel, ChannelError, Frame, Patience, Problem, from_referee, from_worker};

/// A frame is sent whole; one whose rest does not follow comes from a peer that is stopped or
/// hostile.
const REST_OF_FRAME: Duration = Duration::from_secs(10);

/// The kind of a frame in which referee and worker say that an order failed.
const FAILED: u32 = from_worker::FAILED;
const _: () = assert!(FAILED == from_referee::FAILED);
const OUT_OF_MEMORY: u32 = from_worker::OUT_OF_MEMORY;
const _: () = assert!(OUT_OF_MEMORY == from_referee::OUT_OF_MEMORY);

/// A spawned role. Dropping it kills the process and waits for its end.
#[derive(Debug)]
pub struct Child {
    role: RoleName,
    process: std::process::Child,
    channel: Channel,
    log: Log,
    registered: Registered,
    /// How it ended, once it is reaped: its number may be another's from then on.
    ended: Option<End>,
}

impl Child {
    /// Starts this same program in a role, connected by its standard input. `library_path` is
    /// searched for shared libraries before the system's; `private` is its folder for temporary
    /// files and for the driver's cache, where it has one of its own.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub fn spawn(
        role: RoleName,
        output: Output,
        library_path: &[PathBuf],
        private: Option<&Path>,
    ) -> Result<Child, RoleFailure> {
        let spawned = spawn(role, output, library_path, private);
        let spawned = spawned.map_err(|source| RoleFailure::Spawn { role, source })?;
        Ok(Child {
            role,
            registered: Registered::new(spawned.process.id()),
            process: spawned.process,
            channel: spawned.channel,
            log: spawned.log,
            ended: None,
        })
    }

    /// The connection.
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Number of the process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends a frame. A process that does not take it in time is killed.
    ///
    /// # Errors
    /// When the process is gone or silent, or the frame is larger than any may be.
    pub fn send(
        &mut self,
        kind: u32,
        parts: &[&[u8]],
        descriptors: &[std::os::fd::BorrowedFd<'_>],
    ) -> Result<(), RoleFailure> {
        self.channel
            .send(kind, parts, descriptors)
            .map_err(|error| self.explain(error, REST_OF_FRAME))
    }

    /// Receives the frame that the process has begun to send, waiting at most `within` for the
    /// rest, or learns that it is gone. One that does not send the rest is killed.
    ///
    /// # Errors
    /// When it is gone or silent, or speaks another protocol.
    pub fn receive_now(&mut self, within: Duration) -> Result<Frame, RoleFailure> {
        let within = within.min(REST_OF_FRAME);
        let received = self.channel.receive(Patience::at_most(within));
        received.map_err(|error| self.explain(error, within))
    }

    /// Receives the next frame, waiting at most `within`; a process that is silent for longer is
    /// killed.
    ///
    /// # Errors
    /// When the process is gone, silent or hostile, or the user interrupts.
    pub fn receive(&mut self, within: Duration, interrupt: &Interrupt) -> Result<Frame, RoleFailure> {
        match listen(&[&self.channel], deadline(within), interrupt)
            .map_err(|error| self.explain(error, REST_OF_FRAME))?
        {
            ChannelEvent::Channel(_) => self.receive_now(within),
            ChannelEvent::Interrupted => Err(RoleFailure::Interrupted),
            ChannelEvent::Deadline => Err(self.explain(ChannelError::TimedOut, within)),
        }
    }

    /// Receives a frame of an expected kind.
    ///
    /// # Errors
    /// As [`Child::receive`], and when the frame is another or says that the order failed.
    pub fn expect(&mut self, kind: u32, within: Duration, interrupt: &Interrupt) -> Result<Frame, RoleFailure> {
        let frame = self.receive(within, interrupt)?;
        self.check_kind(frame, kind)
    }

    /// Takes a frame of the referee or a worker for what it should be, or for the
    /// [`Problem`](gpubench_protocol::wire::Problem) that both report alike.
    ///
    /// # Errors
    /// When it is another.
    pub fn check_kind(&self, frame: Frame, kind: u32) -> Result<Frame, RoleFailure> {
        let role = self.role;
        if frame.kind == kind {
            return Ok(frame);
        }
        let failure: fn(RoleName, String) -> RoleFailure = match (frame.kind, role) {
            (FAILED, _) => |role, text| RoleFailure::Failed { role, text },
            (OUT_OF_MEMORY, _) => |role, text| RoleFailure::OutOfMemory { role, text },
            (from_worker::PLAN_REFUSED, RoleName::Worker) => |_, text| RoleFailure::Plan { text },
            (from_referee::GENERATOR_FAILED, RoleName::Referee) => |_, text| RoleFailure::Generator { text },
            (from_referee::REFERENCE_FAILED, RoleName::Referee) => |_, text| RoleFailure::Reference { text },
            (found, _) => {
                let text = format!("it sent message `{found}` out of turn");
                return Err(RoleFailure::protocol(role, text));
            }
        };
        let problem: Problem = self.record(&frame)?;
        Err(failure(role, problem.text.printable()))
    }

    /// Reads a frame's only record.
    ///
    /// # Errors
    /// When the frame has another length, or a number in it is unknown.
    pub fn record<R: bytemuck::CheckedBitPattern>(&self, frame: &Frame) -> Result<R, RoleFailure> {
        frame
            .record()
            .map_err(|error| RoleFailure::protocol(self.role, gpubench_diagnostic::chain(&error)))
    }

    /// Kills the process and its group; it can still be asked how it ended.
    pub fn kill(&mut self) {
        if self.ended.is_none() {
            self.registered.kill_group();
            // It may have ended already.
            let _ = self.process.kill();
        }
    }

    /// Waits for the end of a process that has closed its connection or was killed.
    pub fn end(&mut self) -> End {
        // A process that closes its connection has a moment to leave by itself.
        let deadline = deadline(Duration::from_millis(500));
        while Instant::now() < deadline && !self.registered.has_ended() {
            std::thread::sleep(Duration::from_micros(200));
        }
        self.reap()
    }

    /// Kills what is left of the process and its group, and only then gives its number back.
    fn reap(&mut self) -> End {
        self.kill();
        let process = &mut self.process;
        *self
            .ended
            .get_or_insert_with(|| process.wait().map_or(End::Killed(0), End::from))
    }

    /// The last of what the process wrote.
    pub fn log_tail(&mut self) -> String {
        self.log.tail()
    }

    fn explain(&mut self, error: ChannelError, within: Duration) -> RoleFailure {
        match error {
            ChannelError::Closed => RoleFailure::Ended {
                role: self.role,
                end: self.end(),
                log: self.log_tail(),
            },
            ChannelError::TimedOut => {
                self.kill();
                RoleFailure::Silent {
                    role: self.role,
                    within,
                }
            }
            ChannelError::TooLarge(_) => RoleFailure::Unsendable {
                role: self.role,
                source: error,
            },
            other => RoleFailure::protocol(self.role, gpubench_diagnostic::chain(&other)),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.reap();
        end_strays();
    }
}

#[cfg(test)]
mod played;

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(50);

    fn is_silent_and_ended<T>(child: &mut Child, answer: Result<T, RoleFailure>) -> bool {
        let killed = (0..2_000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            child.has_ended()
        });
        matches!(answer, Err(RoleFailure::Silent { .. })) && killed
    }

    #[test]
    fn who_is_silent_is_killed_in_the_middle_of_a_frame_too() {
        for begun in [0, 4] {
            let (mut child, worker) = Child::played(RoleName::Worker);
            rustix::io::write(&worker, &[1; 16][..begun]).unwrap();
            let answer = child.receive(SHORT, &Interrupt::default());
            assert!(is_silent_and_ended(&mut child, answer), "{begun} bytes of a header");
        }
    }

    #[test]
    fn an_order_that_is_too_large_is_no_fault_of_who_was_to_have_it() {
        let (mut child, worker) = Child::played(RoleName::Worker);
        let many = vec![std::os::fd::AsFd::as_fd(&worker); gpubench_protocol::wire::MAX_DESCRIPTORS + 1];
        let refused = child.send(1, &[], &many).unwrap_err();
        assert_eq!(
            gpubench_diagnostic::chain(&refused),
            "cannot tell the worker process what to do: the message hands over too many files and buffers"
        );
    }
}
