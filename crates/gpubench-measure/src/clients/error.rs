//! Why a role could not be used.

use super::role::{End, RoleName};
use gpubench_device::Absence;
use gpubench_diagnostic::{ExitCode, Expected};
use gpubench_protocol::wire::ChannelError;

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
    /// What it was to be told is more than a message holds, for no fault of its own.
    #[error("cannot send an order to the {role} process")]
    Unsendable {
        /// Which.
        role: RoleName,
        /// Why.
        #[source]
        source: ChannelError,
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

impl Expected for RoleFailure {
    fn exit_code(&self) -> ExitCode {
        match self {
            RoleFailure::Interrupted => ExitCode::Interrupted,
            _ => ExitCode::Internal,
        }
    }
}

impl RoleFailure {
    /// A breach of the protocol.
    pub(crate) fn protocol(role: RoleName, text: impl Into<String>) -> RoleFailure {
        let text = text.into();
        RoleFailure::Protocol { role, text }
    }
}
