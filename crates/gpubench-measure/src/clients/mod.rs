//! The other roles as the broker sees them: processes it spawns, talks to and ends.

mod author;
mod child;
mod descriptors;
mod interrupt;
mod log;
mod null_worker;
mod referee;
mod strays;
mod worker;

pub use author::{AuthorClient, AuthorProblem, BufferGrant, Recorded};
pub use child::{Child, End, Output, RoleName, deadline};
pub use descriptors::allow_many_descriptors;
pub use interrupt::Interrupt;
pub use null_worker::NullWorker;
pub use referee::{CaseOrder, OpenedCase, RefereeClient};
pub use strays::adopt_orphans;
pub use worker::{HostedLaunch, Start, WorkerClient, WorkerLaunch};

use std::time::Instant;

use gpubench_device::Absence;
use gpubench_protocol::wire::{Channel, ChannelError, poll_readable};

/// Why a role could not be used.
#[derive(Debug, thiserror::Error)]
pub enum RoleFailure {
    /// It could not be spawned.
    #[error("cannot start the {role} process")]
    Spawn {
        /// Which.
        role: RoleName,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It ended.
    #[error("the {role} process {end}")]
    Ended {
        /// Which.
        role: RoleName,
        /// How.
        end: End,
        /// The last of what it printed.
        log: String,
    },
    /// It did not answer, or take what was sent to it, in time.
    #[error("the {role} process did not answer within {}", humantime::format_duration(*.within))]
    Silent {
        /// Which.
        role: RoleName,
        /// How long it was given.
        within: std::time::Duration,
    },
    /// It could not carry out an order of the broker.
    #[error("the {role} process failed: {text}")]
    Failed {
        /// Which.
        role: RoleName,
        /// What it said.
        text: String,
    },
    /// The device has no memory for what it was to do.
    #[error("{text}")]
    OutOfMemory {
        /// Which.
        role: RoleName,
        /// What it said.
        text: String,
    },
    /// The device refuses the plan that a worker was to replay, or its kernels.
    #[error("{text}")]
    Plan {
        /// What it said.
        text: String,
    },
    /// The referee ran a generator kernel of the crate, which failed.
    #[error("{text}")]
    Generator {
        /// What it said.
        text: String,
    },
    /// The referee ran the crate's reference, which failed.
    #[error("{text}")]
    Reference {
        /// What it said.
        text: String,
    },
    /// It broke the protocol.
    #[error("the {role} process broke the protocol: {text}")]
    Protocol {
        /// Which.
        role: RoleName,
        /// How.
        text: String,
    },
    /// There is no such device that could be used.
    #[error("{0}")]
    NoDevice(Absence),
    /// The user pressed Ctrl-C, or asked the broker to end.
    #[error("interrupted")]
    Interrupted,
}

/// What the broker heard first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
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
pub fn listen(channels: &[&Channel], deadline: Instant, interrupt: &Interrupt) -> Result<Heard, ChannelError> {
    loop {
        if interrupt.is_set() {
            return Ok(Heard::Interrupted);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        // Sliced, because a signal may arrive just before the wait.
        if let Some(position) = poll_readable(channels, left.min(interrupt::LOOK_AROUND))? {
            return Ok(Heard::Channel(position));
        }
        if left.is_zero() {
            return Ok(Heard::Deadline);
        }
    }
}
