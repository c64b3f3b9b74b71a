//! The options of an observation.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

use camino::Utf8PathBuf;

use gpubench_contract::ProbeTarget;
use gpubench_observe::{Descendants, Filter, OwnerLabel};
use gpubench_report::OutputTarget;

/// The options of an observation.
#[derive(Clone, Debug)]
pub(super) struct ProbeOptions {
    /// What is observed.
    pub target: ObservedTarget,
    /// Whether its children are observed with it.
    pub descendants: Descendants,
    /// Which of these processes the output has.
    pub filter: Filter,
    /// Allocations of a process that are listed one by one.
    pub listed: usize,
    /// Time between two samples.
    pub interval: Duration,
    /// The longest time to observe.
    pub duration: Option<Duration>,
    /// The address that serves metrics.
    pub metrics_address: Option<SocketAddr>,
    /// The file that gets metrics.
    pub metrics_file: Option<Utf8PathBuf>,
    /// What metrics tell programs apart by.
    pub metrics_labels: Vec<OwnerLabel>,
    /// What standard output gets.
    pub format: MessageFormat,
    /// A file that also gets the records.
    pub export: Option<OutputTarget>,
    /// The page.
    pub page: Option<OutputTarget>,
    /// What is shown meanwhile.
    pub liveliness: Liveliness,
}

/// The format of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum MessageFormat {
    /// Text for people
    Human,
    /// One JSON object a line
    Json,
}

/// What is observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ObservedTarget {
    /// A program with its arguments, at least one word.
    Command(Vec<OsString>),
    /// The processes with these pids, at least one.
    Processes(Vec<u32>),
    /// All processes.
    System,
}

impl ObservedTarget {
    /// Returns the word in records.
    pub(super) fn word(&self) -> ProbeTarget {
        match self {
            ObservedTarget::Command(_) => ProbeTarget::Command,
            ObservedTarget::Processes(_) => ProbeTarget::Process,
            ObservedTarget::System => ProbeTarget::System,
        }
    }
}

/// What is shown while the observation lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Liveliness {
    /// A screen on a terminal, else a line for each interval.
    Live,
    /// A line for each interval.
    Lines,
    /// Nothing but the summary.
    Quiet,
}
