//! Failures of roles.

use super::role::{End, RoleName};
use gpubench_device::Absence;
use gpubench_diagnostic::{ExitCode, Expected};
use gpubench_protocol::wire::ChannelError;

/// Why a role could not be used.
#[derive(Debug, thiserror::Error)]
pub enum RoleFailure {
    /// Its process could not be started.
    #[error("cannot start the {role} process")]
    Spawn {
        /// The role.
        role: RoleName,
        /// The error.
        #[source]
        source: std::io::Error,
    },
    /// Its process ended.
    #[error("the {role} process {end}")]
    Ended {
        /// The role.
        role: RoleName,
        /// How it ended.
        end: End,
        /// Its last output.
        log: String,
    },
    /// The observer of a worker ended before the worker was ready.
    #[error("{observer} {end} before the worker was ready")]
    ObserverEnded {
        /// The observer's name.
        observer: String,
        /// How it ended.
        end: End,
        /// Its last output.
        log: String,
    },
    /// It did not answer, or did not take a message, in time.
    #[error("the {role} process did not answer within {}", humantime::format_duration(*.within))]
    Silent {
        /// The role.
        role: RoleName,
        /// The time limit.
        within: std::time::Duration,
    },
    /// An order is too large for a message. The role is not to blame.
    #[error("cannot send an order to the {role} process")]
    Unsendable {
        /// The role.
        role: RoleName,
        /// The error.
        #[source]
        source: ChannelError,
    },
    /// It could not carry out an order of the broker.
    #[error("the {role} process failed: {text}")]
    Failed {
        /// The role.
        role: RoleName,
        /// Its message.
        text: String,
    },
    /// The device lacks memory for an order.
    #[error("{text}")]
    OutOfMemory {
        /// The role.
        role: RoleName,
        /// Its message.
        text: String,
    },
    /// The device rejected a worker's plan or its kernels.
    #[error("{text}")]
    Plan {
        /// The worker's message.
        text: String,
    },
    /// A generator kernel of the crate failed in the referee.
    #[error("{text}")]
    Generator {
        /// The referee's message.
        text: String,
    },
    /// The crate's reference failed in the referee.
    #[error("{text}")]
    Reference {
        /// The referee's message.
        text: String,
    },
    /// It broke the protocol.
    #[error("the {role} process broke the protocol: {text}")]
    Protocol {
        /// The role.
        role: RoleName,
        /// The violation.
        text: String,
    },
    /// The device does not exist or cannot be used.
    #[error("{0}")]
    NoDevice(Absence),
    /// The user pressed Ctrl-C or sent a signal that ends the run.
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
    /// Returns a protocol violation of a role.
    pub(crate) fn protocol(role: RoleName, text: impl Into<String>) -> RoleFailure {
        let text = text.into();
        RoleFailure::Protocol { role, text }
    }
}
