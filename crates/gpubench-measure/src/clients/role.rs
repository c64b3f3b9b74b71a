//! The roles of processes, and how they end.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use gpubench_contract::units::size;
use gpubench_device::cgroup::MemoryWatch;
use gpubench_protocol::wire::{Limits, MAX_DESCRIPTORS, MOST_CONTENTS};

/// The signal of the kernel for processes that exceed their memory.
const KILL: i32 = signal_hook::consts::SIGKILL;

/// The role of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleName {
    /// Runs the user's host code.
    Author,
    /// Fills inputs, keeps the second clock and checks outputs.
    Referee,
    /// Runs the kernels under test.
    Worker,
}

impl RoleName {
    /// Returns the hidden verb of the command line for the role.
    pub fn verb(self) -> &'static str {
        match self {
            RoleName::Author => "__author",
            RoleName::Referee => "__referee",
            RoleName::Worker => "__worker",
        }
    }

    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        self.verb().trim_start_matches('_')
    }

    /// Returns the limits on the role's messages to the broker. A worker sends only small records.
    pub(super) fn limits(self) -> Limits {
        match self {
            RoleName::Author => Limits {
                payload: 256 << 20,
                descriptors: 0,
            },
            RoleName::Referee => Limits {
                payload: MOST_CONTENTS as u32,
                descriptors: MAX_DESCRIPTORS,
            },
            RoleName::Worker => Limits {
                payload: 4096,
                descriptors: 0,
            },
        }
    }
}

impl std::fmt::Display for RoleName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Where the output of user code goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// It is kept, and shown with a failure.
    #[default]
    Captured,
    /// It is kept, and printed to standard error line by line after the role's name.
    Shown,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// It exited with a code.
    Exited(i32),
    /// A signal killed it.
    Killed(i32),
    /// The kernel killed it, because the processes of its control group used more than this many
    /// bytes of memory.
    OutOfMemory(u64),
}

impl End {
    /// Returns how a process ended that `watch` has watched.
    pub(super) fn of(status: ExitStatus, watch: MemoryWatch) -> End {
        match End::from(status) {
            End::Killed(KILL) => watch.exceeded().map_or(End::Killed(KILL), End::OutOfMemory),
            end => end,
        }
    }
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> End {
        status
            .code()
            .map_or_else(|| End::Killed(status.signal().unwrap_or(0)), End::Exited)
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Exited(code) => write!(f, "exited with code {code}"),
            End::Killed(signal) => match signal_hook::low_level::signal_name(*signal) {
                Some(name) => write!(f, "was killed by {name}"),
                None => write!(f, "was killed by signal {signal}"),
            },
            End::OutOfMemory(limit) => write!(
                f,
                "was killed because its control group may use at most {} of memory",
                size(*limit)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_protocol::wire::{ChannelError, Patience, from_worker};

    #[test]
    fn a_worker_sends_only_small_records() {
        use crate::clients::Child;
        let (child, worker) = Child::simulated(RoleName::Worker);
        let receive = || child.channel().receive(Patience::Forever);
        worker.send(from_worker::CLAIM, &[&[0; 4096]], &[]).unwrap();
        assert_eq!(receive().unwrap().payload.len(), 4096);
        worker.send(from_worker::CLAIM, &[&[0; 4097]], &[]).unwrap();
        assert!(matches!(receive(), Err(ChannelError::Protocol(_))));
    }

    #[test]
    fn roles_with_user_code_send_no_descriptors_and_records_fit_the_limits() {
        let most = |role: RoleName| (role.limits().payload, role.limits().descriptors);
        assert_eq!(most(RoleName::Worker), (4096, 0));
        assert_eq!(most(RoleName::Author), (256 << 20, 0));
        assert_eq!(most(RoleName::Referee), (1 << 20, MAX_DESCRIPTORS));
        let records = [
            size_of::<gpubench_protocol::wire::Claim>(),
            size_of::<gpubench_protocol::wire::Problem>(),
            size_of::<gpubench_protocol::wire::SandboxReport>(),
        ];
        assert!(records.iter().all(|bytes| *bytes <= 4096), "{records:?}");
    }
}
