//! What is observed, and whether it still runs.

use std::io;
use std::os::fd::OwnedFd;
use std::process::ExitStatus;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::ObservedTarget;
use super::error::ProbeError;
use super::observation::Observation;
use gpubench_diagnostic::{Failure, InternalError};

/// Another process, which is not a child.
#[derive(Debug)]
pub(super) struct OtherProcess(OwnedFd);

impl OtherProcess {
    /// Returns the process with this pid.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn from_pid(pid: u32) -> Result<Self, Failure> {
        let opened = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let opened = opened.ok_or(rustix::io::Errno::SRCH);
        let opened = opened.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
        match opened {
            Ok(process) => Ok(Self(process)),
            Err(rustix::io::Errno::SRCH | rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => {
                Err(ProbeError::NoProcess { pid }.into())
            }
            Err(error) => Err(InternalError::because("cannot wait for the process")(io::Error::from(error)).into()),
        }
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&self) -> bool {
        let mut descriptors = [PollFd::new(&self.0, PollFlags::IN)];
        let nothing = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut descriptors, Some(&nothing)).is_ok_and(|ready| ready > 0)
    }
}

/// What ends an observation by itself.
#[derive(Debug)]
pub(super) enum Subject {
    /// The command that the observation started.
    Command,
    /// The last of other processes.
    Processes(Vec<OtherProcess>),
    /// Nothing.
    System,
}

/// How the observed command or process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It runs, or there is no single one.
    Runs,
    /// It has ended, with the status of a command.
    Ended(Option<ExitStatus>),
}

impl Subject {
    /// Returns what ends the observation of a target.
    ///
    /// # Errors
    /// There is no such process.
    pub(super) fn new(target: &ObservedTarget) -> Result<Self, Failure> {
        Ok(match target {
            ObservedTarget::Command(_) => Subject::Command,
            ObservedTarget::Processes(pids) => {
                let processes = pids.iter().map(|pid| OtherProcess::from_pid(*pid));
                Subject::Processes(processes.collect::<Result<_, _>>()?)
            }
            ObservedTarget::System => Subject::System,
        })
    }

    /// Returns whether the observed command or one of the processes still runs.
    ///
    /// # Errors
    /// The operating system cannot tell.
    pub(super) fn standing(&self, observation: &mut dyn Observation) -> Result<Standing, Failure> {
        match self {
            Subject::System => Ok(Standing::Runs),
            Subject::Processes(processes) => Ok(if processes.iter().all(OtherProcess::has_ended) {
                Standing::Ended(None)
            } else {
                Standing::Runs
            }),
            Subject::Command => {
                let Some(child) = observation.child() else {
                    return Ok(Standing::Ended(None));
                };
                let status = child
                    .try_wait()
                    .map_err(InternalError::because("cannot wait for the command"))?;
                Ok(status.map_or(Standing::Runs, |status| Standing::Ended(Some(status))))
            }
        }
    }
}
