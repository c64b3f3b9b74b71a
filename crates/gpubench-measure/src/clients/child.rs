//! The process of another role.

use std::time::{Duration, Instant};

use super::error::RoleFailure;
use super::interrupt::{ChannelEvent, Interrupt, deadline, listen};
use super::log::Log;
use super::role::{End, Output, RoleName};
use super::spawn::{RoleEnvironment, spawn};
use super::strays::{Registered, end_strays};
use crate::timeline::{self, Track};
use gpubench_device::cgroup::MemoryWatch;
use gpubench_protocol::wire::{Channel, ChannelError, Frame, Patience, Problem, from_referee, from_worker};

/// Time limit for the rest of a frame. Frames are sent whole, so a peer that stops in between is
/// hostile or stopped.
const REST_OF_FRAME: Duration = Duration::from_secs(10);

/// The frame kind of a failed order, equal for referee and worker.
const FAILED: u32 = from_worker::FAILED;
const _: () = assert!(FAILED == from_referee::FAILED);
const OUT_OF_MEMORY: u32 = from_worker::OUT_OF_MEMORY;
const _: () = assert!(OUT_OF_MEMORY == from_referee::OUT_OF_MEMORY);

/// The process of a role. Dropping it kills the process and waits for its end.
#[derive(Debug)]
pub struct Child {
    role: RoleName,
    process: std::process::Child,
    channel: Channel,
    log: Log,
    registered: Registered,
    /// How the process ended, after it has been reaped. From then on another process may have its
    /// id.
    ended: Option<End>,
    memory: MemoryWatch,
}

impl Child {
    /// Starts this program in a role, with the connection as its standard input.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub fn spawn(role: RoleName, output: Output, environment: RoleEnvironment<'_>) -> Result<Child, RoleFailure> {
        let memory = MemoryWatch::begin();
        let spawned = spawn(role, output, environment);
        let spawned = spawned.map_err(|source| RoleFailure::Spawn { role, source })?;
        Ok(Child {
            role,
            registered: spawned.registered,
            process: spawned.process,
            channel: spawned.channel,
            log: spawned.log,
            ended: None,
            memory,
        })
    }

    /// Returns the connection.
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Returns its row in a timeline.
    pub(crate) fn track(&self) -> Track {
        Track::Process(self.role.name(), self.id())
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends a frame. Kills a process that does not take it in time.
    ///
    /// # Errors
    /// If the process has ended or is silent, or if the frame is too large.
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

    /// Receives a frame that the process has begun to send, or its end. Kills a process that does
    /// not send the rest within `within`.
    ///
    /// # Errors
    /// If the process has ended, is silent or breaks the protocol.
    pub fn receive_now(&mut self, within: Duration) -> Result<Frame, RoleFailure> {
        let within = within.min(REST_OF_FRAME);
        let received = self.channel.receive(Patience::at_most(within));
        received.map_err(|error| self.explain(error, within))
    }

    /// Receives the next frame. Kills a process that is silent for longer than `within`.
    ///
    /// # Errors
    /// If the process has ended, is silent or breaks the protocol, or if the user interrupts.
    pub fn receive(&mut self, within: Duration, interrupt: &Interrupt) -> Result<Frame, RoleFailure> {
        match listen(&[&self.channel], deadline(within), interrupt)
            .map_err(|error| self.explain(error, REST_OF_FRAME))?
        {
            ChannelEvent::Channel(_) => self.receive_now(within),
            ChannelEvent::Interrupted => Err(RoleFailure::Interrupted),
            ChannelEvent::Deadline => Err(self.explain(ChannelError::TimedOut, within)),
        }
    }

    /// Receives a frame of kind `kind`.
    ///
    /// # Errors
    /// As [`Child::receive`], and if the frame has another kind or reports a failed order.
    pub fn expect(&mut self, kind: u32, within: Duration, interrupt: &Interrupt) -> Result<Frame, RoleFailure> {
        let frame = self.receive(within, interrupt)?;
        self.check_kind(frame, kind)
    }

    /// Returns the frame if it has the kind `kind`. Otherwise reads the
    /// [`Problem`](gpubench_protocol::wire::Problem) that referee and worker report.
    ///
    /// # Errors
    /// If the frame has another kind.
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

    /// Reads the only record of a frame.
    ///
    /// # Errors
    /// If the frame has another length or an unknown code.
    pub fn record<R: bytemuck::CheckedBitPattern>(&self, frame: &Frame) -> Result<R, RoleFailure> {
        frame
            .record()
            .map_err(|error| RoleFailure::protocol(self.role, gpubench_diagnostic::chain(&error)))
    }

    /// Kills the process and its group. [`Child::end`] still returns how it ended.
    pub fn kill(&mut self) {
        if self.ended.is_none() {
            self.registered.kill_group();
            // It may have ended already.
            let _ = self.process.kill();
        }
    }

    /// Closes the connection and waits until the process has ended by itself. Kills it after
    /// `within`, and if the user interrupts.
    pub fn finish(&mut self, within: Duration, interrupt: &Interrupt) -> End {
        self.channel.close();
        let deadline = deadline(within);
        while Instant::now() < deadline && !interrupt.is_set() && !self.registered.has_ended() {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.reap()
    }

    /// Waits for the end of a process that was killed or has closed its connection.
    pub fn end(&mut self) -> End {
        // A process that has closed its connection gets a moment to exit.
        let deadline = deadline(Duration::from_millis(500));
        while Instant::now() < deadline && !self.registered.has_ended() {
            std::thread::sleep(Duration::from_micros(200));
        }
        self.reap()
    }

    /// Kills the rest of the process group, then reaps the process. Only then can another process
    /// have its id.
    fn reap(&mut self) -> End {
        self.kill();
        let (registered, process, memory) = (&mut self.registered, &mut self.process, self.memory);
        *self.ended.get_or_insert_with(|| {
            let status = registered.reap(process);
            status.map_or(End::Killed(0), |status| End::of(status, memory))
        })
    }

    /// Returns the last output of the process.
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
        let _ends = self.ended.is_none().then(|| timeline::span(self.track(), "ends"));
        self.reap();
        end_strays();
    }
}

#[cfg(test)]
mod simulated;

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
    fn a_silent_process_is_killed_even_within_a_frame() {
        for begun in [0, 4] {
            let (mut child, worker) = Child::simulated(RoleName::Worker);
            rustix::io::write(&worker, &[1; 16][..begun]).unwrap();
            let answer = child.receive(SHORT, &Interrupt::default());
            assert!(is_silent_and_ended(&mut child, answer), "{begun} bytes of a header");
        }
    }

    #[test]
    fn an_order_that_is_too_large_is_not_blamed_on_the_receiver() {
        let (mut child, worker) = Child::simulated(RoleName::Worker);
        let many = vec![std::os::fd::AsFd::as_fd(&worker); gpubench_protocol::wire::MAX_DESCRIPTORS + 1];
        let refused = child.send(1, &[], &many).unwrap_err();
        assert_eq!(
            gpubench_diagnostic::chain(&refused),
            "cannot send an order to the worker process: the message has too many descriptors"
        );
    }
}
