//! The messages between the head of a run and its agents.

use serde::{Deserialize, Serialize};

use super::frame::Frame;
use crate::archive::Digest;
use gpubench_contract::{BenchmarkComplete, Environment};
use gpubench_device::Facts;
use gpubench_report::Progress;

/// The command line of the head, with the environment and the configuration. An agent makes the
/// same options of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The words of the command line, the program first.
    pub line: Vec<String>,
    /// The environment variables that set options.
    pub environment: Vec<(String, String)>,
    /// The text of the configuration file, if there is one.
    pub configuration: Option<String>,
}

/// The archive of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ArchiveFacts {
    pub(super) sha256: Digest,
    /// Its size.
    pub(super) bytes: u64,
}

/// A submission on its way to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SubmissionOrder {
    pub(super) place: String,
    pub(super) packed: Result<PackedOrder, String>,
}

/// The files of a submission, without their contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PackedOrder {
    pub(super) shown: String,
    pub(super) prefix: String,
    pub(super) stem: String,
    /// The path and the size of each, in bytes.
    pub(super) files: Vec<(String, u64)>,
}

/// What an agent must know before it prepares anything.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) tool_version: String,
    pub(super) order: Order,
    pub(super) archive: ArchiveFacts,
    /// How many submissions follow the archive, each with the contents of its files.
    pub(super) submissions: usize,
    pub(super) run_id: String,
    /// The master seed. The host of an agent is trusted as the head's own.
    pub(super) seed: [u8; 32],
    /// How often the agent must say that it lives, in milliseconds.
    pub(super) heartbeat_ms: u64,
}

/// A piece of work: results that an agent measures, and nobody else meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LeaseOrder {
    pub(super) lease: u64,
    /// What is prepared together and measured one after another, at least one.
    pub(super) pieces: Vec<PieceOrder>,
}

/// What is left of the results of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PieceOrder {
    /// Which attempt this is, from 1.
    pub(super) attempt: u32,
    /// Groups of results that are measured together.
    pub(super) groups: Vec<Vec<WantedResult>>,
}

/// A result that an agent measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WantedResult {
    /// Its position in the run.
    pub(super) index: u64,
    /// The name of its case with the mode, so that a mistake is noticed.
    pub(super) label: String,
}

/// What the head tells an agent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToAgent {
    Begin(Box<Begin>),
    Submission(SubmissionOrder),
    Lease(LeaseOrder),
}

/// What an agent is ready with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ready {
    pub(super) facts: Facts,
    pub(super) environment: Environment,
}

/// What an agent tells the head.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromAgent {
    /// It has started.
    Hello {
        tool_version: String,
        host: String,
        process: u32,
    },
    /// Whether it needs the archive.
    Archive { is_wanted: bool },
    /// It can measure.
    Ready(Box<Ready>),
    /// It lives.
    Heartbeat,
    /// What it has of the group under way.
    Progress { lease: u64, so_far: Progress },
    /// The results of a group.
    Finished {
        lease: u64,
        results: Vec<BenchmarkComplete>,
    },
    /// It has measured all groups of the lease.
    Done { lease: u64 },
    /// Its machine has a fault. It ends.
    Fault { why: String },
    /// It cannot take part.
    Refused { why: String, hint: Option<String> },
}

/// A frame has no message of the protocol.
#[derive(Debug, thiserror::Error)]
pub(super) enum MessageError {
    /// It is no such JSON.
    #[error("a message cannot be read")]
    Unread(#[source] serde_json::Error),
    /// It is a piece of a file.
    #[error("it sent a piece of a file, which nobody asked for")]
    Piece,
}

/// Returns the frame of a message.
pub(super) fn frame_of(message: &impl Serialize) -> std::io::Result<Frame> {
    Ok(Frame::Message(serde_json::to_vec(message)?))
}

/// Returns the message of a frame.
///
/// # Errors
/// It has none.
pub(super) fn message_of<'f, M: Deserialize<'f>>(frame: &'f Frame) -> Result<M, MessageError> {
    match frame {
        Frame::Message(bytes) => serde_json::from_slice(bytes).map_err(MessageError::Unread),
        Frame::Piece(_) => Err(MessageError::Piece),
    }
}
