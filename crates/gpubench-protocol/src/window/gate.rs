//! What holds the call of a window back until *go*.

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};
use gpubench::catalog::Execution;
use serde::{Deserialize, Serialize};

/// What holds the call of a window back until *go*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, CheckedBitPattern, NoUninit, Zeroable, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum Gate {
    /// The worker's stream: the call is queued before *go*. The worker's device times it.
    #[default]
    Stream,
    /// The worker's host: nothing is queued before *go*, so the call may wait for the device,
    /// allocate and use any stream. The referee's host times it, from *go* to *returned*.
    Host,
}

impl Gate {
    /// Returns the gate of calls that no stream holds while they wait.
    pub fn new(execution: Execution) -> Gate {
        match execution.may_wait() {
            false => Gate::Stream,
            true => Gate::Host,
        }
    }
}
